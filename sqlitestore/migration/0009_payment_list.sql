-- The list of payment requests is counted and summed up by the time of creation, without
-- a look at the rows.
CREATE INDEX payment_requests_created ON payment_requests (account_id, created_at, bank_account_id, amount, transfer_amount, received, late, expires_at, cancelled_at, paid_at);

-- Money in for which no payment request was found, since the account has some.
ALTER TABLE transactions ADD COLUMN unmatched INTEGER NOT NULL DEFAULT 0;
UPDATE transactions SET unmatched = 1 WHERE type = 'IN' AND id NOT IN (SELECT transaction_id FROM payment_matches)
  AND occurred_at >= (SELECT min(created_at) FROM payment_requests r WHERE r.account_id = transactions.account_id);
CREATE INDEX transactions_unmatched ON transactions (account_id, occurred_at, bank_account_id) WHERE unmatched = 1;

-- Transactions that the undoing of an import removed, for those who follow an account. number
-- counts the commits that removed some.
CREATE TABLE removed_transactions (
  account_id      INTEGER NOT NULL REFERENCES accounts,
  number          INTEGER NOT NULL,
  transaction_id  INTEGER NOT NULL,
  bank_account_id INTEGER NOT NULL,
  type            TEXT NOT NULL,
  code            TEXT NOT NULL,
  PRIMARY KEY (account_id, number, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_transactions_number ON removed_transactions (number);
