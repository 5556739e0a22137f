-- Instants are integers: unix seconds, or milliseconds where the name ends in
-- _ms. day is the local calendar day of the installation's zone, counted from
-- 1970-01-01. Amounts are VND. Nothing here asks for the clock.
--
-- No id is given twice (AUTOINCREMENT), not even after its row was removed:
-- cookies, links, histories and idempotency keys outlive what they refer to.

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  name              TEXT NOT NULL,
  plan              TEXT NOT NULL,
  expires_at        INTEGER, -- NULL: never
  is_trial          INTEGER NOT NULL,
  max_bank_accounts INTEGER NOT NULL,
  created_at        INTEGER NOT NULL
) STRICT;

-- Kept totals: written in the commit of the rows that they count.
CREATE TABLE account_totals (
  account_id      INTEGER PRIMARY KEY REFERENCES accounts,
  in_count        INTEGER NOT NULL DEFAULT 0,
  in_amount       INTEGER NOT NULL DEFAULT 0,
  out_count       INTEGER NOT NULL DEFAULT 0,
  out_amount      INTEGER NOT NULL DEFAULT 0,
  attempts_made   INTEGER NOT NULL DEFAULT 0, -- ever, pruned ones included
  attempts_failed INTEGER NOT NULL DEFAULT 0,
  history_rows    INTEGER NOT NULL DEFAULT 0  -- in attempts now
) STRICT;

CREATE TABLE bank_account_totals (
  bank_account_id INTEGER PRIMARY KEY REFERENCES bank_accounts,
  count           INTEGER NOT NULL,
  amount          INTEGER NOT NULL
) STRICT;

CREATE TABLE account_days (
  account_id INTEGER NOT NULL REFERENCES accounts,
  day        INTEGER NOT NULL,
  type       TEXT NOT NULL,
  count      INTEGER NOT NULL,
  amount     INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE bank_account_days (
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  day             INTEGER NOT NULL,
  type            TEXT NOT NULL,
  count           INTEGER NOT NULL,
  amount          INTEGER NOT NULL,
  PRIMARY KEY (bank_account_id, day, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id   INTEGER NOT NULL REFERENCES accounts,
  name         TEXT NOT NULL,
  scope        TEXT NOT NULL,
  hint         TEXT NOT NULL,
  hash         BLOB NOT NULL UNIQUE, -- SHA-256
  expires_at   INTEGER,
  revoked_at   INTEGER,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE TABLE users (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  name            TEXT NOT NULL UNIQUE,
  role            TEXT NOT NULL,
  password        TEXT NOT NULL, -- Argon2id, in the PHC string format
  generation      INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  last_sign_in_at INTEGER
) STRICT;
CREATE INDEX users_account ON users (account_id);

-- Of browsers. token is hashed by who keeps it here.
CREATE TABLE sessions (
  token   TEXT PRIMARY KEY,
  user_id INTEGER, -- NULL: nobody is signed in
  data    BLOB NOT NULL,
  end_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_end ON sessions (end_at);

CREATE TABLE bank_accounts (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  bank           TEXT NOT NULL,
  account_number TEXT NOT NULL,
  account_name   TEXT NOT NULL,
  status         TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  unlinked_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX bank_accounts_number ON bank_accounts (account_id, account_number, bank);

-- Of counter screens that are open without anybody signed in.
CREATE TABLE counter_links (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  name            TEXT NOT NULL,
  hash            BLOB NOT NULL UNIQUE, -- SHA-256
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: all
  shows_total     INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  revoked_at      INTEGER
) STRICT;
CREATE INDEX counter_links_account ON counter_links (account_id);

CREATE TABLE sources (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id          INTEGER NOT NULL REFERENCES accounts,
  name                TEXT NOT NULL,
  provider            TEXT NOT NULL,
  auth                TEXT NOT NULL,
  token               TEXT NOT NULL UNIQUE,
  secret              BLOB NOT NULL, -- sealed
  bearer_hash         BLOB,          -- SHA-256 of a Bearer secret
  bank_account_id     INTEGER REFERENCES bank_accounts,
  options             BLOB NOT NULL, -- sealed JSON
  api_key             BLOB,          -- sealed; NULL: no catching up
  api_url             TEXT NOT NULL, -- empty: the provider's own
  created_at          INTEGER NOT NULL,
  removed_at          INTEGER,
  last_call_at        INTEGER,
  last_transaction_at INTEGER,
  list_from           INTEGER,                  -- when it first got an API key
  progress            TEXT NOT NULL DEFAULT '', -- how far the provider's list is read
  polled_at           INTEGER,                  -- when it was last read to its end
  poll_error          TEXT NOT NULL DEFAULT ''  -- why not since
) STRICT;
CREATE UNIQUE INDEX sources_bearer ON sources (bearer_hash) WHERE removed_at IS NULL;

-- On which bank accounts a source has recorded.
CREATE TABLE source_bank_accounts (
  source_id       INTEGER NOT NULL REFERENCES sources,
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  PRIMARY KEY (source_id, bank_account_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE inbound_events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id  INTEGER NOT NULL REFERENCES accounts,
  source_id   INTEGER REFERENCES sources, -- NULL: by hand
  channel     TEXT NOT NULL,
  received_ms INTEGER NOT NULL,
  recorded    INTEGER NOT NULL,
  duplicates  INTEGER NOT NULL,
  unassigned  INTEGER NOT NULL,
  conflicts   INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,
  open        INTEGER NOT NULL, -- items that need attention
  body        BLOB NOT NULL     -- last: what stands behind it is read through its pages
) STRICT;
-- Has all that the log is filtered by, so that rows with their bodies are read
-- for the page that is shown alone.
CREATE INDEX inbound_events_account ON inbound_events (account_id, id, received_ms, source_id);
CREATE INDEX inbound_events_open ON inbound_events (account_id) WHERE open > 0;

-- Elements that somebody must look at: they are kept until linked, retried
-- or discarded.
CREATE TABLE inbound_items (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  inbound_event_id INTEGER NOT NULL REFERENCES inbound_events,
  account_id       INTEGER NOT NULL REFERENCES accounts,
  source_id        INTEGER NOT NULL,
  channel          TEXT NOT NULL,
  position         INTEGER NOT NULL, -- in the event, from 0
  state            TEXT NOT NULL,    -- unassigned, conflict, rejected; recorded, duplicate or discarded once closed
  reason_field     TEXT NOT NULL,
  reason_en        TEXT NOT NULL,
  reason_vi        TEXT NOT NULL,
  event_id         TEXT NOT NULL,
  gateway          TEXT NOT NULL,
  account_number   TEXT NOT NULL,
  number           TEXT NOT NULL,
  type             TEXT NOT NULL,
  amount           INTEGER NOT NULL,
  content          TEXT NOT NULL,
  occurred_at      INTEGER NOT NULL,
  date_only        INTEGER NOT NULL, -- 1: occurred_at is the first moment of its day, the time isn't known
  date_flaw        TEXT NOT NULL,    -- missing, impossible or ahead: occurred_at is that of receipt; else empty
  masked           INTEGER NOT NULL, -- 1: account_number shows some digits only
  received_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX inbound_items_event ON inbound_items (inbound_event_id);
CREATE INDEX inbound_items_open ON inbound_items (account_id, state, inbound_event_id) WHERE state IN ('unassigned', 'rejected', 'conflict');
-- What may be about a bank account: items with its number, and under '' those
-- that name none or only some of its digits.
CREATE INDEX inbound_items_unassigned ON inbound_items (account_id, iif(masked, '', account_number)) WHERE state = 'unassigned';
CREATE INDEX inbound_items_rejected ON inbound_items (account_id, source_id, event_id) WHERE state IN ('rejected', 'discarded');
CREATE INDEX inbound_items_conflict ON inbound_items (account_id, source_id, event_id) WHERE state = 'conflict';

-- Links of bank accounts whose waiting items aren't all recorded yet.
CREATE TABLE unfinished_links (
  bank_account_id  INTEGER NOT NULL REFERENCES bank_accounts,
  inbound_event_id INTEGER NOT NULL, -- whose items are meant; 0: of all events
  notify           INTEGER NOT NULL, -- 0 what was received lately, 1 all, 2 nothing
  linked_at        INTEGER NOT NULL,
  item_id          INTEGER NOT NULL, -- items up to it were looked at
  PRIMARY KEY (bank_account_id, inbound_event_id)
) STRICT, WITHOUT ROWID;

-- Statement files that something was recorded of.
CREATE TABLE imports (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id  INTEGER NOT NULL REFERENCES accounts,
  file        TEXT NOT NULL,
  in_count    INTEGER NOT NULL DEFAULT 0, -- of what was recorded, taken back or not
  in_amount   INTEGER NOT NULL DEFAULT 0,
  out_count   INTEGER NOT NULL DEFAULT 0,
  out_amount  INTEGER NOT NULL DEFAULT 0,
  imported_at INTEGER NOT NULL,
  undone_at   INTEGER -- taken back, but for what somebody was told of
) STRICT;
CREATE INDEX imports_account ON imports (account_id);

CREATE TABLE transactions (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id       INTEGER NOT NULL REFERENCES accounts,
  bank_account_id  INTEGER NOT NULL REFERENCES bank_accounts,
  source_id        INTEGER NOT NULL, -- that named it first; 0: by hand
  channel          TEXT NOT NULL,
  inbound_event_id INTEGER, -- may be pruned before the transaction, which stays
  import_id        INTEGER REFERENCES imports,
  number           TEXT NOT NULL,
  type             TEXT NOT NULL,
  amount           INTEGER NOT NULL,
  content          TEXT NOT NULL,
  search           TEXT NOT NULL, -- content and number, folded
  occurred_at      INTEGER NOT NULL,
  date_only        INTEGER NOT NULL, -- 1: occurred_at is the first moment of its day, the time isn't known
  date_flaw        TEXT NOT NULL,    -- missing, impossible or ahead: occurred_at is that of receipt; else empty
  zone_offset      INTEGER NOT NULL, -- seconds east of UTC when recorded
  created_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX transactions_time ON transactions (account_id, occurred_at);
CREATE INDEX transactions_import ON transactions (import_id) WHERE import_id IS NOT NULL;
-- Finds the same transfer however many share its number.
CREATE INDEX transactions_number ON transactions (bank_account_id, number, amount, occurred_at) WHERE number <> '';

-- Where q is found: the search texts up to the id in the setting searched_to,
-- by every three characters. What came later is read until it is indexed.
CREATE VIRTUAL TABLE transactions_search USING fts5 (search, content = '', columnsize = 0, tokenize = 'trigram case_sensitive 1');

-- Transactions by amount, up to searched_to too: by blocks of 4,096 ids, so that
-- what is newest is found first and what is added lies close together.
CREATE TABLE transaction_amounts (
  account_id      INTEGER NOT NULL,
  block           INTEGER NOT NULL, -- id / 4096
  amount          INTEGER NOT NULL,
  id              INTEGER NOT NULL,
  bank_account_id INTEGER NOT NULL,
  type            TEXT NOT NULL,
  occurred_at     INTEGER NOT NULL,
  PRIMARY KEY (account_id, block, amount, id)
) STRICT, WITHOUT ROWID;

-- Transactions that had no delivery, or cancelled ones only, when they were
-- indexed or their last delivery was cancelled. Those up to searched_to that
-- have none now are among them.
CREATE TABLE transactions_unsent (
  account_id     INTEGER NOT NULL,
  transaction_id INTEGER NOT NULL,
  PRIMARY KEY (account_id, transaction_id)
) STRICT, WITHOUT ROWID;

-- How many rows of each kind a block of 4,096 ids holds, and when the first and
-- the last of them happened: what listings leap over instead of reading it.
CREATE TABLE transaction_blocks (
  account_id      INTEGER NOT NULL REFERENCES accounts,
  block           INTEGER NOT NULL, -- transaction id / 4096
  bank_account_id INTEGER NOT NULL REFERENCES bank_accounts,
  type            TEXT NOT NULL,
  count           INTEGER NOT NULL,
  first_at        INTEGER NOT NULL, -- least occurred_at
  last_at         INTEGER NOT NULL,
  PRIMARY KEY (account_id, block, bank_account_id, type)
) STRICT, WITHOUT ROWID;

-- What each source called a transaction, or an unassigned item: the memory
-- that makes every event once. source_id is 0 for what was recorded by hand.
CREATE TABLE event_ids (
  account_id     INTEGER NOT NULL REFERENCES accounts,
  source_id      INTEGER NOT NULL,
  channel        TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  transaction_id INTEGER, -- NULL while unassigned
  item_id        INTEGER, -- of an unassigned one
  merged         INTEGER NOT NULL DEFAULT 0, -- 1: another source or channel named it first
  PRIMARY KEY (account_id, source_id, channel, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_ids_merged ON event_ids (transaction_id) WHERE merged = 1;
-- With channel alone in the condition, SQLite would look at what is bound for it
-- and prepare every query of a channel anew each time.
CREATE INDEX event_ids_file ON event_ids (transaction_id) WHERE channel || '' = 'file';

CREATE TABLE refused_calls (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  source_id   INTEGER REFERENCES sources,
  received_ms INTEGER NOT NULL,
  remote      TEXT NOT NULL,
  code        TEXT NOT NULL,
  reason_en   TEXT NOT NULL,
  reason_vi   TEXT NOT NULL
) STRICT;
CREATE INDEX refused_calls_source ON refused_calls (source_id);

CREATE TABLE webhooks (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  name            TEXT NOT NULL,
  url             TEXT NOT NULL,
  type            TEXT NOT NULL,
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: all
  is_active       INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  deleted_at      INTEGER,
  secret          BLOB NOT NULL, -- sealed
  next_secret     BLOB,          -- sealed; NULL: no rotation
  overlap_to_ms   INTEGER,
  secrets_changed_ms INTEGER     -- by somebody, last; NULL: never
) STRICT;
CREATE INDEX webhooks_account ON webhooks (account_id) WHERE deleted_at IS NULL;

-- state: 0 pending, 1 delivered, 2 failed, 3 cancelled.
CREATE TABLE deliveries (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id     INTEGER NOT NULL REFERENCES accounts,
  webhook_id     INTEGER NOT NULL REFERENCES webhooks,
  transaction_id INTEGER REFERENCES transactions, -- NULL: a sample
  sample         TEXT,                            -- its payload
  state          INTEGER NOT NULL,
  attempts       INTEGER NOT NULL,
  retry          INTEGER NOT NULL, -- 1 once it was attempted
  due_ms         INTEGER,          -- of the next attempt; NULL when not pending
  created_ms     INTEGER NOT NULL,
  resend_of      INTEGER,          -- history id
  single         INTEGER NOT NULL  -- one attempt only
) STRICT;
-- The queue.
CREATE INDEX deliveries_due ON deliveries (webhook_id, retry, due_ms) WHERE state = 0;
CREATE INDEX deliveries_transaction ON deliveries (transaction_id);
CREATE INDEX deliveries_samples ON deliveries (account_id) WHERE sample IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (webhook_id, created_ms, transaction_id) WHERE state = 2;
CREATE INDEX deliveries_failed_transactions ON deliveries (account_id, transaction_id, webhook_id) WHERE state = 2;

CREATE TABLE attempts (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id    INTEGER NOT NULL REFERENCES accounts,
  delivery_id   INTEGER NOT NULL REFERENCES deliveries,
  webhook_id    INTEGER NOT NULL REFERENCES webhooks,
  type          TEXT NOT NULL,    -- direction of the transaction
  number        INTEGER NOT NULL, -- 1 to 6
  url           TEXT NOT NULL,
  started_ms    INTEGER NOT NULL,
  duration_ms   INTEGER NOT NULL,
  dns_ms        INTEGER NOT NULL,
  connect_ms    INTEGER NOT NULL,
  tls_ms        INTEGER NOT NULL,
  wait_ms       INTEGER NOT NULL,
  status_code   INTEGER NOT NULL, -- 0: no HTTP answer
  ok            INTEGER NOT NULL,
  error         TEXT NOT NULL,
  detail        TEXT NOT NULL,
  response_body BLOB NOT NULL,
  next_ms       INTEGER -- of the next attempt; NULL: none
) STRICT;
CREATE INDEX attempts_delivery ON attempts (delivery_id);
CREATE INDEX attempts_failed ON attempts (account_id) WHERE ok = 0; -- and by id

-- As transaction_blocks, by attempt id; with the least and the greatest id of
-- the transactions that the attempts are of, without samples: where there are
-- samples only, the greatest integer and 0.
CREATE TABLE attempt_blocks (
  account_id INTEGER NOT NULL REFERENCES accounts,
  block      INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL REFERENCES webhooks,
  type       TEXT NOT NULL,
  ok         INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  first_at   INTEGER NOT NULL, -- least started_ms
  last_at    INTEGER NOT NULL,
  first_transaction INTEGER NOT NULL,
  last_transaction  INTEGER NOT NULL,
  PRIMARY KEY (account_id, block, webhook_id, type, ok)
) STRICT, WITHOUT ROWID;

-- How the attempts of a webhook went by the hour of their start, for two days
-- or so.
CREATE TABLE webhook_hours (
  webhook_id INTEGER NOT NULL REFERENCES webhooks,
  hour       INTEGER NOT NULL, -- started_ms / 3600000
  succeeded  INTEGER NOT NULL,
  failed     INTEGER NOT NULL,
  PRIMARY KEY (webhook_id, hour)
) STRICT, WITHOUT ROWID;

-- Where a webhook's attempts have got to. One that was never attempted has no
-- row.
CREATE TABLE webhook_totals (
  webhook_id      INTEGER PRIMARY KEY REFERENCES webhooks,
  last_attempt_id INTEGER NOT NULL, -- may be pruned
  failed_in_row   INTEGER NOT NULL  -- since the last that succeeded
) STRICT;

CREATE TABLE idempotency_keys (
  account_id INTEGER NOT NULL REFERENCES accounts,
  key        TEXT NOT NULL,
  operation  TEXT NOT NULL,
  hash       BLOB NOT NULL,
  result     INTEGER NOT NULL, -- id of what was made, or how many
  outcome    TEXT NOT NULL,    -- of a recording
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (account_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_ms);

-- What the alerts of an account are about. No row: the defaults.
CREATE TABLE alert_preferences (
  account_id INTEGER PRIMARY KEY REFERENCES accounts,
  lang       TEXT NOT NULL,
  muted      TEXT NOT NULL -- kinds, by spaces
) STRICT;

CREATE TABLE alert_channels (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  medium     TEXT NOT NULL,
  settings   BLOB NOT NULL,    -- sealed JSON
  version    INTEGER NOT NULL, -- grows with every change of the settings
  set_at     INTEGER NOT NULL,
  sent_ms    INTEGER,
  failures   INTEGER NOT NULL, -- in a row
  problem_en TEXT NOT NULL,
  problem_vi TEXT NOT NULL,
  retry_ms   INTEGER
) STRICT;
CREATE UNIQUE INDEX alert_channels_medium ON alert_channels (account_id, medium);

-- What a channel was told, or is still to be told.
CREATE TABLE alert_conditions (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  channel_id INTEGER NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
  key        TEXT NOT NULL,
  kind       TEXT NOT NULL,
  name_en    TEXT NOT NULL,
  name_vi    TEXT NOT NULL,
  began_ms   INTEGER NOT NULL,
  told_ms    INTEGER, -- NULL: not yet
  gone_ms    INTEGER  -- NULL: it lasts
) STRICT;
CREATE INDEX alert_conditions_channel ON alert_conditions (channel_id);

-- The last messages of an account.
CREATE TABLE alert_messages (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  medium     TEXT NOT NULL,
  at_ms      INTEGER NOT NULL, -- of the last attempt
  test       INTEGER NOT NULL,
  subject    TEXT NOT NULL,
  text       TEXT NOT NULL,
  sent       INTEGER NOT NULL,
  tries      INTEGER NOT NULL,
  problem_en TEXT NOT NULL,
  problem_vi TEXT NOT NULL
) STRICT;
CREATE INDEX alert_messages_account ON alert_messages (account_id);

-- The last ids that were given. A statement that inserts reads these rows from
-- the first one on until it finds its table: the busiest tables come first.
INSERT INTO sqlite_sequence (name, seq) VALUES ('deliveries', 0), ('attempts', 0), ('transactions', 0), ('inbound_events', 0);
