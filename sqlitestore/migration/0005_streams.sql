-- Streams carry transactions to brokers.
CREATE TABLE streams (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id      INTEGER NOT NULL REFERENCES accounts,
  name            TEXT NOT NULL,
  url             TEXT NOT NULL, -- of the brokers
  topic           TEXT NOT NULL, -- a subject of NATS, or a topic of Kafka
  username        TEXT NOT NULL, -- empty: none
  bank_account_id INTEGER REFERENCES bank_accounts, -- NULL: all
  type            TEXT NOT NULL, -- IN, OUT or ALL
  is_active       INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  deleted_at      INTEGER,
  mark            TEXT NOT NULL, -- random; begins the ids of its messages
  secret          BLOB NOT NULL, -- sealed; empty: lost
  password        BLOB NOT NULL, -- sealed
  position        INTEGER NOT NULL, -- transactions up to this id are sent, or don't belong to it
  first           INTEGER NOT NULL, -- the lowest position that it had
  reached         INTEGER NOT NULL, -- transactions up to this id may be in the broker; 0: none
  reached_type    TEXT NOT NULL, -- of which type those are: its type, or ALL once that was changed
  sent            INTEGER NOT NULL, -- messages, repeats included
  sent_ms         INTEGER,
  failing_ms      INTEGER, -- since when it fails; NULL: it doesn't
  problem_en      TEXT NOT NULL,
  problem_vi      TEXT NOT NULL
) STRICT;
CREATE INDEX streams_account ON streams (account_id);
