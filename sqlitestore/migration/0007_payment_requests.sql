-- A shift is the time in which a cashier takes money.
CREATE TABLE shifts (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  user_id    INTEGER NOT NULL, -- of the cashier, who may be removed
  user_name  TEXT NOT NULL,
  opened_at  INTEGER NOT NULL,
  closed_at  INTEGER, -- NULL: it is open
  received   INTEGER NOT NULL DEFAULT 0 -- for its bills when it was closed
) STRICT;
CREATE UNIQUE INDEX shifts_open ON shifts (user_id) WHERE closed_at IS NULL;
CREATE INDEX shifts_account ON shifts (account_id, id);

-- A payment request asks somebody for money: an order, or a bill at the counter.
CREATE TABLE payment_requests (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  token           TEXT NOT NULL UNIQUE, -- opens its page
  code            TEXT NOT NULL,
  reference       TEXT NOT NULL, -- the shop's own; empty: none
  reference_key   TEXT NOT NULL, -- the reference as it is looked for in a content; empty: it can't be
  amount          INTEGER NOT NULL,
  transfer_amount INTEGER NOT NULL, -- what the payer is asked to transfer: amount, or a few dong more
  tolerance       INTEGER NOT NULL, -- so much less is enough
  return_url      TEXT NOT NULL, -- empty: none
  created_by      TEXT NOT NULL, -- name of the user or the API key
  shift_id        INTEGER REFERENCES shifts, -- of a bill at the counter; NULL: it is none
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER, -- NULL: never
  cancelled_at    INTEGER,
  received        INTEGER NOT NULL DEFAULT 0, -- sum of its transfers
  transfers       INTEGER NOT NULL DEFAULT 0, -- number of them
  paid_at         INTEGER, -- when the transfer that made the amount full was matched
  late            INTEGER NOT NULL DEFAULT 0, -- that transfer came after the end
  asked           INTEGER NOT NULL AS (iif(received = 0, transfer_amount, amount - received)), -- what the payer is asked to transfer now
  UNIQUE (account_id, code)
) STRICT;
CREATE INDEX payment_requests_reference ON payment_requests (account_id, reference) WHERE reference <> '';
CREATE INDEX payment_requests_reference_key ON payment_requests (account_id, reference_key) WHERE reference_key <> '';
CREATE INDEX payment_requests_amount ON payment_requests (bank_account_id, transfer_amount);
CREATE INDEX payment_requests_asked ON payment_requests (bank_account_id, asked) WHERE paid_at IS NULL AND cancelled_at IS NULL;
CREATE INDEX payment_requests_shift ON payment_requests (shift_id, id) WHERE shift_id IS NOT NULL;
CREATE INDEX payment_requests_unpaid ON payment_requests (account_id, id) WHERE paid_at IS NULL AND cancelled_at IS NULL;

-- Which request a transfer is for. A transfer counts once.
CREATE TABLE payment_matches (
  transaction_id INTEGER PRIMARY KEY REFERENCES transactions,
  request_id     INTEGER NOT NULL REFERENCES payment_requests,
  found_by       TEXT NOT NULL, -- code, reference, amount or hand
  late           INTEGER NOT NULL, -- it came after the end of the request
  matched_at     INTEGER NOT NULL,
  matched_by     TEXT NOT NULL -- name of who did it by hand
) STRICT;
CREATE INDEX payment_matches_request ON payment_matches (request_id, transaction_id);

-- What deliveries say of the request, in JSON, as it was after this transfer. NULL:
-- nothing.
ALTER TABLE transactions ADD COLUMN payment_request TEXT;

-- So much less than asked for is enough, in dong. Whether requests may ask for an
-- amount that no other one has. Money below small_amount is announced with a warning.
ALTER TABLE accounts ADD COLUMN payment_tolerance INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN distinct_amounts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN small_amount INTEGER NOT NULL DEFAULT 1000;
