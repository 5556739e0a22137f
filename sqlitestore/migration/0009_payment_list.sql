-- The list of payment requests is counted and summed up by the time of creation, without
-- a look at the rows.
CREATE INDEX payment_requests_created ON payment_requests (account_id, created_at, bank_account_id, amount, transfer_amount, received, late, expires_at, cancelled_at, paid_at);
