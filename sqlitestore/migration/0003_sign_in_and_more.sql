-- The attempts of an hour were counted with tests; now they are counted without.
UPDATE webhook_hours SET succeeded = succeeded - t.ok, failed = failed - t.wrong
FROM (SELECT a.webhook_id AS webhook_id, a.started_ms / 3600000 AS hour, sum(a.ok) AS ok, sum(1 - a.ok) AS wrong
  FROM deliveries d JOIN attempts a ON a.delivery_id = d.id WHERE d.sample IS NOT NULL GROUP BY 1, 2) t
WHERE webhook_hours.webhook_id = t.webhook_id AND webhook_hours.hour = t.hour;

-- How a webhook is called, and what it answers when it took a delivery: http
-- (200), or sheet (the redirect of a Google Apps Script that ran).
ALTER TABLE webhooks ADD COLUMN kind TEXT NOT NULL DEFAULT 'http';
