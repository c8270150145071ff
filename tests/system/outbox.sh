#!/bin/sh
# The outbox of doc/outbox.md, as printed, on SQLite: what is rolled back is never pushed, and what is committed runs
# once, also if the relay dies between its push and its DELETE.
. "${top_srcdir:=.}/tests/system/lib.sh"
redis_python
clients=$(cd "$top_srcdir" && pwd)/clients
start_redis 'appendonly no'
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$clients/python:$work
export PYTHONDONTWRITEBYTECODE PYTHONPATH

$AWK '/^<!-- file: outbox.py/ { on = 1; next } /^```/ { if (on && within) exit; within = on; next } on && within' \
    "$top_srcdir/doc/outbox.md" >"$work/outbox.py"

# Of a shop: what happens is the argument.
cat >"$work/shop.py" <<'PYTHON'
import sqlite3
import sys

import laterd
import outbox
import redis

class Dies(sqlite3.Connection):
    def executemany(self, *words):
        raise SystemExit("died before the DELETE")

what, file, socket = sys.argv[1:]
database = sqlite3.connect(file, factory=Dies if what == "die" else sqlite3.Connection)
queues = laterd.Client(redis.Redis(unix_socket_path=socket))
database.execute(outbox.TABLE)
if what in ("commit", "roll back"):
    database.execute("CREATE TABLE IF NOT EXISTS users (name TEXT)")
    database.execute("INSERT INTO users VALUES ('ann')")
    outbox.put(database, "welcome", {"to": "ann"}, queue="mail")
    outbox.put(database, "index", ["ann"])
    database.commit() if what == "commit" else database.rollback()
else:
    print(outbox.relay(database, queues))
PYTHON
shop()
{
    run timeout 600 "$python" "$work/shop.py" "$1" "$work/shop.db" "$redis_socket"
}
pushed()
{
    for queue in mail default; do redis HGET "later:{$queue}:stats" pushed; done | tr '\n' ' '
}

shop 'roll back'
is "$status" 0 "a transaction is rolled back"
shop relay
is "$out" 0 "and there is nothing to push"
shop commit
is "$status" 0 "one is committed"
shop die
contains "$err" 'died before the DELETE' "a relay dies after its push"
is "$(pushed)" '1 1 ' "it has pushed"
is "$(redis HVALS 'later:{mail}:jobs' | grep -c '"payload":{"to": "ann"}')" 1 "what the transaction has written"
run later work mail --until-empty -- sh -c "echo ran >>'$work/ran'"
is "$(cat "$work/ran")" ran "the job is performed"
shop relay
is "$out" 2 "the next relay finds the rows still"
is "$(pushed)" '1 1 ' "and nothing is pushed again"
run later work mail --until-empty -- sh -c "echo again >>'$work/ran'"
is "$(cat "$work/ran")" ran "nor performed"
shop relay
is "$out" 0 "then the outbox is empty"
finish
