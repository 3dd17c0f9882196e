-- A place is one engine with one scope; ids of sandboxes are unique in it. Times are milliseconds since 1970.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    place TEXT NOT NULL,
    host TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    name TEXT NOT NULL,
    argv TEXT NOT NULL,
    language TEXT,
    code TEXT,
    source TEXT NOT NULL,
    session TEXT,
    started INTEGER NOT NULL,
    detached INTEGER NOT NULL,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    owner_user TEXT,
    -- NULL while it runs.
    status TEXT,
    exit_code INTEGER,
    signal INTEGER,
    ended INTEGER,
    took_ms INTEGER,
    peak_bytes INTEGER,
    cpu_us INTEGER,
    cancel_asked INTEGER NOT NULL DEFAULT 0,
    out_bytes INTEGER NOT NULL DEFAULT 0,
    err_bytes INTEGER NOT NULL DEFAULT 0,
    out_cut INTEGER NOT NULL DEFAULT 0,
    err_cut INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (place, started);
CREATE INDEX runs_by_sandbox ON runs (place, sandbox, started);
CREATE INDEX runs_by_end ON runs (place, ended);
CREATE INDEX runs_under_way ON runs (place) WHERE status IS NULL;

-- Sandboxes that were used, with what tells wall clocks that jump from time that passed.
CREATE TABLE uses (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    name TEXT NOT NULL,
    last INTEGER NOT NULL,
    boot TEXT NOT NULL,
    since_boot INTEGER NOT NULL,
    PRIMARY KEY (place, sandbox)
) WITHOUT ROWID;

CREATE TABLE pins (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (place, sandbox)
) WITHOUT ROWID;

-- What sandtop is about to do to a sandbox, so that its end can be told from an end by other hands.
CREATE TABLE intents (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    by TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (place, sandbox)
) WITHOUT ROWID;

CREATE TABLE deaths (
    place TEXT NOT NULL,
    sandbox TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    death TEXT NOT NULL,
    PRIMARY KEY (place, sandbox)
) WITHOUT ROWID;
CREATE INDEX deaths_by_time ON deaths (place, at);

-- Owners that ended in order: what they made is nobody's loss.
CREATE TABLE released (
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (host, pid, start)
) WITHOUT ROWID;

CREATE TABLE notes (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
