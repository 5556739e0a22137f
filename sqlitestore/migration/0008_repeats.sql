-- One movement of money may be reported more than once: by a provider and by the
-- bank's text, by a text and later by a statement. See app/inbound/repeat.go.

-- What the first report said of the bank account after the movement; NULL: nothing.
ALTER TABLE transactions ADD COLUMN balance INTEGER;
ALTER TABLE transactions ADD COLUMN available INTEGER; -- the part of it that can be spent
ALTER TABLE transactions ADD COLUMN unclocked INTEGER NOT NULL DEFAULT 0; -- 1: occurred_at is when a text came, which may be long after
CREATE INDEX transactions_unclocked ON transactions (bank_account_id, amount, source_id, channel, occurred_at) WHERE unclocked = 1;
-- Channels write the number of one transfer with other separators, case and suffix: see app.NumberKey.
DROP INDEX transactions_number;
CREATE INDEX transactions_number ON transactions (bank_account_id, replace(replace(replace(replace(replace(upper(number), '\BNK', ''), '\I2B', ''), ' ', ''), '-', ''), '.', ''), amount, occurred_at) WHERE number <> '';
CREATE INDEX transactions_amount ON transactions (bank_account_id, amount, source_id, channel, occurred_at);

-- What later reports said of a transaction, where that differs from the first.
CREATE TABLE transaction_reports (
  transaction_id  INTEGER NOT NULL REFERENCES transactions,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  source_id       INTEGER NOT NULL,
  channel         TEXT NOT NULL,
  event_id        TEXT NOT NULL,
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  number          TEXT NOT NULL,
  content         TEXT NOT NULL,
  occurred_at     INTEGER NOT NULL,
  date_only       INTEGER NOT NULL,
  balance         INTEGER,
  available       INTEGER,
  PRIMARY KEY (transaction_id, account_id, source_id, channel, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX transaction_reports_number ON transaction_reports (bank_account_id, replace(replace(replace(replace(replace(upper(number), '\BNK', ''), '\I2B', ''), ' ', ''), '-', ''), '.', '')) WHERE number <> '';

-- Which channels report a bank account. source_id is 0 for files and for what is recorded by hand.
CREATE TABLE bank_account_channels (
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  source_id       INTEGER NOT NULL,
  channel         TEXT NOT NULL,
  PRIMARY KEY (bank_account_id, source_id, channel)
) STRICT, WITHOUT ROWID;
INSERT INTO bank_account_channels SELECT DISTINCT bank_account_id, source_id, channel FROM transactions;
INSERT INTO bank_account_channels SELECT DISTINCT t.bank_account_id, k.source_id, k.channel FROM event_ids k JOIN transactions t ON t.id = k.transaction_id
  WHERE k.merged = 1 ON CONFLICT DO NOTHING;
INSERT INTO bank_account_channels SELECT bank_account_id, source_id, 'call' FROM source_bank_accounts WHERE true ON CONFLICT DO NOTHING;
DROP TABLE source_bank_accounts;

-- An item that may be a repeat has its bank account, and the transaction that it may repeat.
ALTER TABLE inbound_items ADD COLUMN bank_account_id INTEGER REFERENCES bank_accounts;
ALTER TABLE inbound_items ADD COLUMN transaction_id INTEGER;
ALTER TABLE inbound_items ADD COLUMN is_not TEXT NOT NULL DEFAULT '[]'; -- transactions that a person said it doesn't repeat
ALTER TABLE inbound_items ADD COLUMN import_id INTEGER; -- of the file that it came with
ALTER TABLE inbound_items ADD COLUMN silent INTEGER NOT NULL DEFAULT 0; -- 1: no webhook gets it once it is recorded
ALTER TABLE inbound_items ADD COLUMN forwarded INTEGER NOT NULL DEFAULT 0; -- 1: a text that somebody's phone forwarded
ALTER TABLE inbound_items ADD COLUMN clocked INTEGER NOT NULL DEFAULT 0; -- 1: the text itself has the time of the movement
ALTER TABLE inbound_items ADD COLUMN balance INTEGER;
ALTER TABLE inbound_items ADD COLUMN available INTEGER;
DROP INDEX inbound_items_open;
CREATE INDEX inbound_items_open ON inbound_items (account_id, state, inbound_event_id) WHERE state IN ('unassigned', 'rejected', 'conflict', 'may_be_repeat');
CREATE INDEX inbound_items_repeat ON inbound_items (bank_account_id, amount) WHERE state = 'may_be_repeat';

-- Transactions that a file named which another file had brought.
CREATE TABLE import_repeats (
  import_id      INTEGER NOT NULL REFERENCES imports,
  transaction_id INTEGER NOT NULL REFERENCES transactions,
  PRIMARY KEY (import_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX import_repeats_transaction ON import_repeats (transaction_id);
