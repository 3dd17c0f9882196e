-- Times in which the kernel refused processes to a sandbox; its own count tells what is new.
CREATE TABLE refusals (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    last INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    PRIMARY KEY (place, sandbox, at)
) WITHOUT ROWID;
CREATE INDEX refusals_by_time ON refusals (place, last);
