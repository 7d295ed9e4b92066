-- The record, version 1. Times are milliseconds since 1970; the views show them as text.
-- A column `sum` holds a hash of the rest of its row, so that no row changes unseen.

CREATE TABLE plan (
  no         INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again, even after a plan is forgotten
  id         TEXT    NOT NULL UNIQUE,
  length     INTEGER NOT NULL,                   -- entries in the journal
  head       BLOB    NOT NULL,                   -- the hash after the last entry
  state      TEXT    NOT NULL,
  searchable TEXT    NOT NULL,                   -- id and title in lower case
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  pinned     INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  card       TEXT    NOT NULL,                   -- JSON
  sum        BLOB    NOT NULL
) STRICT;
CREATE INDEX plan_by_state ON plan (state, no);

-- One row is one turn. Its key orders turns by plan and then by entry in one tree: appending touches
-- one page, and loading a plan reads neighbours.
CREATE TABLE turn (
  id        INTEGER PRIMARY KEY,                 -- plan_no * 2^32 + last_seq
  plan_no   INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq  INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  inputs    TEXT    NOT NULL,                    -- JSON: what reached the plan
  entries   TEXT    NOT NULL,                    -- JSON array: what happened
  head      BLOB    NOT NULL                     -- the hash after the last of these entries
) STRICT;

CREATE TABLE snapshot (
  plan_no INTEGER PRIMARY KEY REFERENCES plan (no) ON DELETE CASCADE,
  length  INTEGER NOT NULL,
  head    BLOB    NOT NULL,                      -- the hash of the journal at this length
  packing TEXT    NOT NULL CHECK (packing IN ('plain', 'zstd')),
  bytes   INTEGER NOT NULL,
  body    BLOB    NOT NULL,
  sum     BLOB    NOT NULL
) STRICT;

CREATE TABLE blob (
  id      INTEGER PRIMARY KEY,
  hash    BLOB    NOT NULL UNIQUE,               -- BLAKE3 of the content before packing
  packing TEXT    NOT NULL CHECK (packing IN ('plain', 'zstd')),
  bytes   INTEGER NOT NULL,                      -- before packing
  at      INTEGER NOT NULL,                      -- when it was last handed in
  content BLOB    NOT NULL
) STRICT;

CREATE TABLE artifact (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_no INTEGER NOT NULL REFERENCES plan (no) ON DELETE CASCADE,
  task    TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  version INTEGER NOT NULL,
  hash    BLOB    NOT NULL REFERENCES blob (hash),
  bytes   INTEGER NOT NULL,
  media   TEXT    NOT NULL,
  attempt INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  made_by TEXT    NOT NULL,
  sum     BLOB    NOT NULL,
  UNIQUE (plan_no, task, name, version)
) STRICT;
CREATE INDEX artifact_by_hash ON artifact (hash);

CREATE TABLE effect (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_no      INTEGER NOT NULL REFERENCES plan (no) ON DELETE CASCADE,
  task         TEXT    NOT NULL,
  attempt      INTEGER NOT NULL,
  ordinal      INTEGER NOT NULL,
  kind         TEXT    NOT NULL,
  request_hash BLOB    NOT NULL,
  request      TEXT    NOT NULL,                 -- JSON
  answer       TEXT,                             -- JSON; none while it is under way
  usage        TEXT    NOT NULL,                 -- JSON
  started_at   INTEGER NOT NULL,
  ended_at     INTEGER,
  sum          BLOB    NOT NULL,
  UNIQUE (plan_no, task, attempt, ordinal)
) STRICT;
CREATE INDEX effect_by_plan ON effect (plan_no, id);

CREATE TABLE inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  plan_no INTEGER NOT NULL REFERENCES plan (no) ON DELETE CASCADE,
  at      INTEGER NOT NULL,
  input   TEXT    NOT NULL,                      -- JSON
  answer  TEXT,                                  -- JSON
  sum     BLOB    NOT NULL
) STRICT;
CREATE INDEX inbox_by_plan ON inbox (plan_no, id);
CREATE INDEX inbox_open ON inbox (plan_no, id) WHERE answer IS NULL;

CREATE TABLE once (
  key       TEXT    PRIMARY KEY,
  body_hash TEXT    NOT NULL,
  plan_no   INTEGER NOT NULL REFERENCES plan (no) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX once_by_plan ON once (plan_no);

CREATE TABLE text (
  id      INTEGER PRIMARY KEY,
  plan_no INTEGER NOT NULL REFERENCES plan (no) ON DELETE CASCADE,
  task    TEXT    NOT NULL,                      -- empty for the plan itself
  kind    TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  text    TEXT    NOT NULL,
  UNIQUE (plan_no, task, kind, name)
) STRICT;
CREATE VIRTUAL TABLE text_index USING fts5 (
  text, content = 'text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER text_added AFTER INSERT ON text BEGIN
  INSERT INTO text_index (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER text_removed AFTER DELETE ON text BEGIN
  INSERT INTO text_index (text_index, rowid, text) VALUES ('delete', old.id, old.text);
END;
CREATE TRIGGER text_replaced AFTER UPDATE ON text BEGIN
  INSERT INTO text_index (text_index, rowid, text) VALUES ('delete', old.id, old.text);
  INSERT INTO text_index (rowid, text) VALUES (new.id, new.text);
END;

-- For people who look into the file.

CREATE VIEW journal AS
SELECT plan.id AS plan_id, entry.value ->> 'seq' AS seq, entry.value ->> 'at' AS at,
       entry.value ->> 'event' AS event, entry.value ->> 'task' AS task, entry.value AS entry
FROM turn JOIN plan ON plan.no = turn.plan_no, json_each(turn.entries) AS entry;

CREATE VIEW plans AS
SELECT no, id AS plan_id, card ->> 'title' AS title, state AS status, card ->> 'revision' AS revision,
       length AS entries, pinned, card -> 'labels' AS labels, card -> 'tasks' AS tasks, card -> 'waiting' AS waiting,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at
FROM plan;

CREATE VIEW plan_content AS
SELECT plan_id, task AS stage, 'application/json' AS content_type, entry -> 'outputs' AS content,
       length(entry ->> 'outputs') AS content_size_bytes, at AS created_at
FROM journal WHERE event = 'task_completed';

CREATE VIEW plan_files AS
SELECT plan.id AS plan_id, artifact.task AS stage, artifact.name AS filename, artifact.version,
       artifact.media AS file_type, artifact.bytes AS file_size_bytes, lower(hex(artifact.hash)) AS hash,
       artifact.attempt, artifact.made_by,
       strftime('%Y-%m-%dT%H:%M:%fZ', artifact.at / 1000.0, 'unixepoch') AS created_at
FROM artifact JOIN plan ON plan.no = artifact.plan_no;

CREATE VIEW llm_interactions AS
SELECT effect.id, plan.id AS plan_id, effect.task AS stage, effect.attempt, effect.ordinal,
       effect.request ->> 'model' AS llm_model, effect.request AS prompt, effect.answer AS response,
       lower(hex(effect.request_hash)) AS request_hash, coalesce(effect.usage ->> 'tokens', 0) AS total_tokens,
       coalesce(effect.usage ->> 'cost_usd', 0) AS cost_usd,
       (effect.ended_at - effect.started_at) / 1000.0 AS duration_seconds,
       CASE WHEN effect.answer IS NULL THEN 'running' ELSE 'completed' END AS status,
       strftime('%Y-%m-%dT%H:%M:%fZ', effect.started_at / 1000.0, 'unixepoch') AS started_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', effect.ended_at / 1000.0, 'unixepoch') AS completed_at
FROM effect JOIN plan ON plan.no = effect.plan_no WHERE effect.kind = 'model';

CREATE VIEW plan_metrics AS
SELECT plan.id AS plan_id,
       coalesce(plan.card ->> '$.used.cost_usd', 0) AS cost_usd,
       coalesce(plan.card ->> '$.used.tokens', 0) AS tokens,
       coalesce(plan.card ->> '$.used.model_calls', 0) AS model_calls,
       (SELECT coalesce(sum(value), 0) FROM json_each(plan.card, '$.tasks')) AS tasks,
       coalesce(plan.card ->> '$.tasks.completed', 0) AS tasks_completed,
       coalesce(plan.card ->> '$.tasks.failed', 0) AS tasks_failed,
       (plan.updated_at - plan.created_at) / 1000.0 AS duration_seconds
FROM plan;
