-- name: written
-- How far the store has written by now, for comparison with what a replica has replayed.
SELECT CAST(pg_current_wal_lsn() AS text) AS lsn;

-- name: lag
-- On a replica: seconds that it is behind. None behind when it has replayed what the store had written, else since the
-- last transaction that it replayed; NULL when that is not known. A server that is no replica is never behind.
SELECT CASE
         WHEN NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn) THEN 0
         ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())
       END AS seconds;
