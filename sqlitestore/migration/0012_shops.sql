-- Webhooks for shops that were made for SePay, limited to several prefixes of payment codes, or
-- to transactions with one, and with headers of their own.
UPDATE webhooks SET kind = 'standard' WHERE kind = 'http';
ALTER TABLE webhooks RENAME COLUMN code_prefix TO code_prefixes; -- each in a line; empty: all
ALTER TABLE webhooks ADD COLUMN code_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhooks ADD COLUMN auth TEXT NOT NULL DEFAULT ''; -- of the kind sepay
ALTER TABLE webhooks ADD COLUMN header_names TEXT NOT NULL DEFAULT ''; -- each in a line
ALTER TABLE webhooks ADD COLUMN headers BLOB; -- sealed; NULL: none

-- Under which SePay names it to shops; NULL: another provider brought it.
ALTER TABLE transactions ADD COLUMN sepay_id INTEGER;
CREATE UNIQUE INDEX transactions_sepay ON transactions (account_id, sepay_id) WHERE sepay_id IS NOT NULL;
