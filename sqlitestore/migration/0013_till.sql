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
