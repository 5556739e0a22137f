-- Numbers to which customers pay a bank account beside its own, each in a line, and what
-- contents of transfers must begin with: see app.BankAccountReceiving.
ALTER TABLE bank_accounts ADD COLUMN receiving_numbers TEXT NOT NULL DEFAULT '';
ALTER TABLE bank_accounts ADD COLUMN content_prefix TEXT NOT NULL DEFAULT '';

-- The receiving number that was named; empty: none.
ALTER TABLE transactions ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
ALTER TABLE inbound_items ADD COLUMN sub_account TEXT NOT NULL DEFAULT ''; -- as the provider named it

-- To which a payment request asks to pay; empty: the default.
ALTER TABLE payment_requests ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';

-- To which the transactions of a webhook came; empty: all.
ALTER TABLE webhooks ADD COLUMN receiving_number TEXT NOT NULL DEFAULT '';
