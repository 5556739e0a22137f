-- The receiving number that a user or a counter link is limited to; empty: none. It is one of
-- the one bank account that they are limited to.
ALTER TABLE users ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
ALTER TABLE counter_links ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
ALTER TABLE removed_transactions ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';

CREATE INDEX transactions_receiving ON transactions (account_id, receiving_number, id) WHERE receiving_number <> '';
DROP INDEX transactions_unmatched;
-- unmatched is 2 where somebody said that the money belongs to no order.
CREATE INDEX transactions_unmatched ON transactions (account_id, unmatched, occurred_at, bank_account_id, receiving_number)
  WHERE unmatched > 0;

-- Kept as bank_account_days.
CREATE TABLE receiving_number_days (
  bank_account_id  INTEGER NOT NULL REFERENCES bank_accounts,
  receiving_number TEXT NOT NULL,
  day              INTEGER NOT NULL,
  type             TEXT NOT NULL,
  count            INTEGER NOT NULL,
  amount           INTEGER NOT NULL,
  PRIMARY KEY (bank_account_id, receiving_number, day, type)
) STRICT, WITHOUT ROWID;
INSERT INTO receiving_number_days SELECT t.bank_account_id, t.receiving_number,
    local_day(t.occurred_at, (SELECT value FROM settings WHERE name = 'timezone')), t.type, count(*), sum(t.amount)
  FROM transactions t WHERE t.receiving_number <> '' GROUP BY 1, 2, 3, 4;

-- Whether cashiers may match money without a code with their bills.
ALTER TABLE accounts ADD COLUMN cashiers_match INTEGER NOT NULL DEFAULT 0;

-- Which money a cashier asked an owner to match with which bill.
CREATE TABLE asked_matches (
  transaction_id INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
  request_id     INTEGER NOT NULL REFERENCES payment_requests,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  asked_at       INTEGER NOT NULL,
  asked_by       TEXT NOT NULL, -- name of the user
  PRIMARY KEY (transaction_id, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX asked_matches_account ON asked_matches (account_id, asked_at);

-- For screens, which tell of money that is matched after it was recorded.
CREATE INDEX payment_matches_hand ON payment_matches (matched_at) WHERE found_by = 'hand';

-- What a shift came to when it was closed, in JSON: see payment.Closing. NULL: it is open, or was closed before
-- this was kept.
ALTER TABLE shifts ADD COLUMN closing TEXT;

-- What owners skipped of the set-up: names of its steps with spaces between; overview: the list there.
ALTER TABLE accounts ADD COLUMN guide_skipped TEXT NOT NULL DEFAULT '';
UPDATE accounts SET guide_skipped = 'overview' WHERE 'guide_hidden_' || id IN (SELECT name FROM settings);
DELETE FROM settings WHERE name GLOB 'guide_hidden_*';

-- Phones that ring by Web Push, and the key by which push services know an account.
CREATE TABLE push_keys (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL UNIQUE REFERENCES accounts,
  key        BLOB NOT NULL -- sealed; empty: lost
) STRICT;

CREATE TABLE phones (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  user_id         INTEGER NOT NULL REFERENCES users,
  name            TEXT NOT NULL,
  lang            TEXT NOT NULL,
  endpoint_hash   BLOB NOT NULL UNIQUE, -- SHA-256
  address         BLOB NOT NULL,        -- sealed JSON; empty: lost
  created_at      INTEGER NOT NULL,
  payments        INTEGER NOT NULL,
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: all
  least           INTEGER NOT NULL, -- smallest amount
  amounts         INTEGER NOT NULL, -- 1: messages hold amounts
  attention       INTEGER NOT NULL,
  quiet_from      TEXT NOT NULL,    -- such as 22:00; empty: it always rings
  quiet_to        TEXT NOT NULL,
  conditions      TEXT NOT NULL     -- JSON: what needs attention, as far as the phone knows
) STRICT;
CREATE INDEX phones_user ON phones (user_id);

-- The books of the household business, and what of the money in is no revenue: see app/book.

-- What somebody said of a transaction.
CREATE TABLE transaction_marks (
  transaction_id INTEGER PRIMARY KEY REFERENCES transactions,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  kind           TEXT NOT NULL, -- revenue, or what it is instead
  note           TEXT NOT NULL
) STRICT;

-- The books are closed through a day. A transaction stands in the book of the first closing that
-- ended after its time and knew its id. number counts the closings of an account from 1.
CREATE TABLE book_closings (
  account_id INTEGER NOT NULL REFERENCES accounts,
  number     INTEGER NOT NULL,
  through    INTEGER NOT NULL, -- the day
  zone       TEXT NOT NULL,    -- of the days of the book
  ends_at    INTEGER NOT NULL, -- the first moment after the day
  last_id    INTEGER NOT NULL, -- the newest transaction of all accounts
  heading    TEXT NOT NULL,    -- of the book, in JSON
  closed_at  INTEGER NOT NULL,
  closed_by  TEXT NOT NULL,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;

-- Rules by which money in is no revenue. A rule holds in the books after the closing since, up to
-- that of the closing until.
CREATE TABLE book_rules (
  account_id      INTEGER NOT NULL REFERENCES accounts,
  id              INTEGER NOT NULL,
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: it is about a text
  search          TEXT NOT NULL, -- the text, folded; empty: it is about a bank account
  text            TEXT NOT NULL, -- in contents
  kind            TEXT NOT NULL,
  since           INTEGER NOT NULL, -- how many closings there were when it was made
  until           INTEGER,          -- and when it was removed; NULL: it is in force
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- Sales for cash, one sum a day.
CREATE TABLE book_cash (
  account_id INTEGER NOT NULL REFERENCES accounts,
  day        INTEGER NOT NULL,
  amount     INTEGER NOT NULL,
  note       TEXT NOT NULL,
  PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;

-- What was on a bank account at the beginning of a day.
CREATE TABLE book_openings (
  bank_account_id INTEGER PRIMARY KEY REFERENCES bank_accounts,
  day             INTEGER NOT NULL,
  amount          INTEGER NOT NULL
) STRICT;

ALTER TABLE accounts ADD COLUMN marks_revenue INTEGER NOT NULL DEFAULT 0; -- 1: there was a mark or a rule
ALTER TABLE accounts ADD COLUMN book_heading TEXT NOT NULL DEFAULT ''; -- in JSON

-- Money out that gives money in back, as somebody said.
CREATE TABLE refunds (
  transaction_id INTEGER PRIMARY KEY REFERENCES transactions ON DELETE CASCADE, -- the money out
  of_id          INTEGER NOT NULL REFERENCES transactions ON DELETE CASCADE,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  occurred_at    INTEGER NOT NULL -- of the money out
) STRICT;
CREATE INDEX refunds_of ON refunds (of_id);
CREATE INDEX refunds_account ON refunds (account_id, occurred_at);

-- The first day of the month of the last report of a month that a channel got; NULL: it gets none.
ALTER TABLE alert_channels ADD COLUMN reported_month INTEGER;

-- The index of search texts is merged in sixteens, in place of fours: a third less of
-- the time that a text costs.
INSERT INTO transactions_search (transactions_search, rank) VALUES ('automerge', 16);
