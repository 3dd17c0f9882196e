-- A sandbox that is started again dies more than once: every end is kept, and one at most is that of its present life.
CREATE TABLE ends (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    death TEXT NOT NULL,
    is_last INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (place, sandbox, at)
) WITHOUT ROWID;
INSERT INTO ends SELECT place, sandbox, name, at, death, 1 FROM deaths;
DROP TABLE deaths;
ALTER TABLE ends RENAME TO deaths;
CREATE INDEX deaths_by_time ON deaths (place, at);
CREATE UNIQUE INDEX last_deaths ON deaths (place, sandbox) WHERE is_last;
