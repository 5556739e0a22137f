-- Payment codes are what a shop's customers write into the content of a transfer.
CREATE TABLE code_patterns (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  prefix     TEXT NOT NULL,
  least      INTEGER NOT NULL, -- so many characters follow the prefix at least
  most       INTEGER NOT NULL, -- and at most
  alphabet   TEXT NOT NULL, -- of these characters: digits or letters_and_digits
  created_at INTEGER NOT NULL,
  UNIQUE (account_id, prefix)
) STRICT;

-- The code that was read from the content. NULL: the account had no patterns then;
-- empty: there is none in it.
ALTER TABLE transactions ADD COLUMN code TEXT;
CREATE INDEX transactions_code ON transactions (account_id, code) WHERE code <> '';

-- With what the code of a transaction must begin; empty: any transaction.
ALTER TABLE webhooks ADD COLUMN code_prefix TEXT NOT NULL DEFAULT '';
ALTER TABLE streams ADD COLUMN code_prefix TEXT NOT NULL DEFAULT '';

-- The bank accounts of a webhook that has several, beside the one of its row.
CREATE TABLE webhook_bank_accounts (
  webhook_id      INTEGER NOT NULL REFERENCES webhooks,
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  PRIMARY KEY (webhook_id, bank_account_id)
) STRICT, WITHOUT ROWID;
