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
