-- The receiving number that a user or a counter link is limited to; empty: none. It is one of
-- the one bank account that they are limited to.
ALTER TABLE users ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
ALTER TABLE counter_links ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
ALTER TABLE removed_transactions ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';

CREATE INDEX transactions_receiving ON transactions (account_id, receiving_number, id) WHERE receiving_number <> '';
DROP INDEX transactions_unmatched;
CREATE INDEX transactions_unmatched ON transactions (account_id, occurred_at, bank_account_id, receiving_number) WHERE unmatched = 1;

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
