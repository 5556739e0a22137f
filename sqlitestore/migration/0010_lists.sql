-- Each list of transactions is read from one of these two indexes, in the order of ids or of
-- times. They hold all that a list is filtered by, but for texts and deliveries.
DROP TABLE transaction_blocks;
DROP TABLE transaction_amounts;
DROP INDEX transactions_time;
CREATE INDEX transactions_list ON transactions (account_id, id, bank_account_id, type, amount, occurred_at);
CREATE INDEX transactions_time ON transactions (account_id, occurred_at, id, bank_account_id, type, amount);

-- And so is the history of deliveries.
DROP TABLE attempt_blocks;
CREATE INDEX attempts_list ON attempts (account_id, id, webhook_id, type, ok, started_ms);
