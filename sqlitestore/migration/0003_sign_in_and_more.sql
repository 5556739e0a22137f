-- The attempts of an hour were counted with tests; now they are counted without.
UPDATE webhook_hours SET succeeded = succeeded - t.ok, failed = failed - t.wrong
FROM (SELECT a.webhook_id AS webhook_id, a.started_ms / 3600000 AS hour, sum(a.ok) AS ok, sum(1 - a.ok) AS wrong
  FROM deliveries d JOIN attempts a ON a.delivery_id = d.id WHERE d.sample IS NOT NULL GROUP BY 1, 2) t
WHERE webhook_hours.webhook_id = t.webhook_id AND webhook_hours.hour = t.hour;

-- How a webhook is called, and what it answers when it took a delivery: http
-- (200), or sheet (the redirect of a Google Apps Script that ran).
ALTER TABLE webhooks ADD COLUMN kind TEXT NOT NULL DEFAULT 'http';

-- The second factor of a user: an authenticator app (TOTP), passkeys, or both.
ALTER TABLE users ADD COLUMN totp BLOB;                           -- sealed; NULL: no app
ALTER TABLE users ADD COLUMN totp_step INTEGER NOT NULL DEFAULT 0; -- the last of which a code was used: unix seconds / 30
ALTER TABLE accounts ADD COLUMN needs_second_factor INTEGER NOT NULL DEFAULT 0; -- 1: every user must have one

-- What signs in where neither is at hand. A used code is removed.
CREATE TABLE recovery_codes (
  user_id INTEGER NOT NULL REFERENCES users,
  hash    BLOB NOT NULL, -- SHA-256
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkeys (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id         INTEGER NOT NULL REFERENCES users,
  name            TEXT NOT NULL,
  host            TEXT NOT NULL, -- of the dashboard when it was added: browsers use it only there
  credential_id   BLOB NOT NULL UNIQUE,
  public_key      BLOB NOT NULL, -- COSE
  transports      TEXT NOT NULL, -- with a comma between them
  backup_eligible INTEGER NOT NULL, -- 1: it may be copied to other devices of its owner
  sign_count      INTEGER NOT NULL, -- 0: it doesn't count
  created_at      INTEGER NOT NULL,
  last_used_at    INTEGER
) STRICT;
CREATE INDEX passkeys_user ON passkeys (user_id);

-- Sessions that people can tell apart, and end.
CREATE TABLE listed_sessions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  token      TEXT NOT NULL UNIQUE, -- hashed by who keeps it here
  user_id    INTEGER,              -- NULL: nobody is signed in
  generation INTEGER NOT NULL,     -- of the user; the session has ended where the user has another
  halfway    INTEGER NOT NULL,     -- 1: the second factor is still asked for
  data       BLOB NOT NULL,
  agent      TEXT NOT NULL,        -- User-Agent
  address    TEXT NOT NULL,        -- of the last request
  started_at INTEGER NOT NULL,
  seen_at    INTEGER NOT NULL,     -- about the last request
  end_at     INTEGER NOT NULL,
  ended      INTEGER NOT NULL      -- 1: somebody ended it
) STRICT;
INSERT INTO listed_sessions (token, user_id, generation, halfway, data, agent, address, started_at, seen_at, end_at, ended)
  SELECT token, user_id, coalesce((SELECT generation FROM users WHERE id = user_id), 0), 0, data, '', '', end_at - 14 * 86400, end_at - 14 * 86400, end_at, 0
  FROM sessions;
DROP TABLE sessions;
ALTER TABLE listed_sessions RENAME TO sessions;
CREATE INDEX sessions_end ON sessions (end_at);
CREATE INDEX sessions_user ON sessions (user_id);

-- The channels that tell of every payment. No row: the channel doesn't.
CREATE TABLE payment_feeds (
  channel_id      INTEGER PRIMARY KEY REFERENCES alert_channels ON DELETE CASCADE,
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: all
  type            TEXT NOT NULL,    -- IN or OUT; empty: both
  least           INTEGER NOT NULL, -- smallest amount
  content         INTEGER NOT NULL, -- 1: messages hold the content of payments
  told_to         INTEGER NOT NULL, -- transactions up to this id were told, or aren't told
  sent_ms         INTEGER,
  failures        INTEGER NOT NULL, -- in a row
  problem_en      TEXT NOT NULL,
  problem_vi      TEXT NOT NULL,
  retry_ms        INTEGER
) STRICT;

-- Who did what: written in the commit of what was done. actor is a name as it was
-- then; the user or the API key may be removed since.
CREATE TABLE audit (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  at_ms      INTEGER NOT NULL,
  way        TEXT NOT NULL,    -- dashboard, api, command_line or server
  actor      TEXT NOT NULL,
  actor_id   INTEGER NOT NULL, -- of the user or the API key; 0: neither
  address    TEXT NOT NULL,    -- empty: from this machine
  deed       TEXT NOT NULL,
  noun       TEXT NOT NULL,
  noun_id    INTEGER NOT NULL, -- 0: nothing that has an id
  detail     TEXT NOT NULL     -- JSON
) STRICT;
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_noun ON audit (account_id, noun, noun_id, id);
