-- There were owners and viewers; now there are four roles, and what viewers
-- could do is for cashiers.
UPDATE users SET role = 'cashier' WHERE role = 'viewer';

-- What somebody wrote about a transaction. The row of the transaction itself is
-- never written again.
CREATE TABLE transaction_notes (
  transaction_id INTEGER PRIMARY KEY REFERENCES transactions,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  text           TEXT NOT NULL,
  search         TEXT NOT NULL, -- text, folded
  changed_at     INTEGER NOT NULL,
  changed_by     TEXT NOT NULL  -- name of the user, who may be removed since; empty: by the command line
) STRICT;
CREATE INDEX transaction_notes_account ON transaction_notes (account_id);

-- How the shop calls a bank account, and the colour in which the dashboard
-- shows it. Empty: none was chosen.
ALTER TABLE bank_accounts ADD COLUMN nickname TEXT NOT NULL DEFAULT '';
ALTER TABLE bank_accounts ADD COLUMN colour TEXT NOT NULL DEFAULT '';

-- The last balance of a day, as a provider told it with a transaction. A day
-- without one has no row.
CREATE TABLE bank_account_balances (
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  day             INTEGER NOT NULL,
  amount          INTEGER NOT NULL, -- negative: overdrawn
  at              INTEGER NOT NULL, -- time of the transaction after which it was so
  source_id       INTEGER NOT NULL REFERENCES sources,
  PRIMARY KEY (bank_account_id, day)
) STRICT, WITHOUT ROWID;

-- The report of the day, which a channel gets at closing time. It isn't about a
-- condition, so it has nothing in alert_conditions.
ALTER TABLE alert_channels ADD COLUMN report_time TEXT NOT NULL DEFAULT '';     -- such as 21:30; empty: no report
ALTER TABLE alert_channels ADD COLUMN reported_day INTEGER NOT NULL DEFAULT 0; -- the last day whose report was sent, or for which it was too late
