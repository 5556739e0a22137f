-- Users who see some bank accounts only. What limits a user is limited: without a row
-- in user_bank_accounts such a user sees none.
ALTER TABLE users ADD COLUMN limited INTEGER NOT NULL DEFAULT 0 CHECK (limited = 0 OR role IN ('accountant', 'cashier'));

CREATE TABLE user_bank_accounts (
  user_id         INTEGER NOT NULL REFERENCES users,
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  PRIMARY KEY (user_id, bank_account_id)
) STRICT, WITHOUT ROWID;
