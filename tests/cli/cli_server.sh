#!/bin/sh
# later status --server: what each Redis says of itself, its slow log, its keys, and what is wrong with it.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs redis-server redis-cli
start_redis 'appendonly yes' 'maxmemory 100mb'

# fact WORDS: what this fact is, of all servers, each once.
fact() { later status --server 2>/dev/null | awk -F '\t' -v fact="$1" '$2 == fact { print $3 }' | sort -u; }

servers=$(redis_all ping | grep -c PONG)
later status --server >"$work/all"
is "$(awk -F '\t' '$2 == "version" { print $3 }' "$work/all" | wc -l)" "$servers" "each server"
is "$(fact version)" "$(redis info server | tr -d '\r' | sed -n 's/^redis_version://p')" "its version"
is "$(fact role)" master "its role"
is "$(fact 'memory limit (0: none)')" 104857600 "how much memory it may have"
is "$(fact 'when it is full')" noeviction "what it does when it is full"
is "$(fact 'append-only file (1: yes)')" 1 "it keeps an append-only file"
is "$(fact 'append-only file: last write')" ok "which it can write"
like "$(fact memory | head -n 1)" '^[1-9][0-9]{5,}$' "how much memory it has, in bytes in a pipe"
like "$(NO_COLOR=1 on_terminal "$later_bin status --server" | grep -m 1 '  memory  ')" ' [0-9.]+ MiB' "and in MiB for people"
like "$(later status --server --json | head -n 1)" \
    '^\{"server":"[^"]+","version":"[^"]+","mode":"[a-z]+","role":"master","uptime":[0-9]+,"memory":[0-9]+,.*"memory_limit":104857600,' \
    "--json: a line for a server"
is "$(later status --server --json | grep -c '"policy"')" "$servers" "as many as there are"

# ---- slow commands: their names and keys, never what they carry

redis_all config set slowlog-log-slower-than 0 >/dev/null
later push null '"a secret"' -q mail >/dev/null
redis_all config set slowlog-log-slower-than -1 >/dev/null
is "$(redis_all slowlog get 100 | grep -c 'a secret' | sed 's/^[1-9].*/some/')" some "Redis tells what a push carries"
later status --server >"$work/all"
like "$(awk -F '\t' '$2 == "slow" { print $3 }' "$work/all" | tr '\n' ' ')" ' ms: EVAL(SHA)? later:\{mail\}:' "slow commands, with a key"
is "$(grep -c secret "$work/all")" 0 "and nothing else of them"
like "$(later status --server --json | grep -m 1 '"slow"')" '^\{"server":"[^"]+","slow":"[^"]+","at":[0-9]+,"seconds":[0-9.]+\}$' "--json"

# ---- keys, only when they are asked for

is "$(awk -F '\t' '$2 == "keys"' "$work/all" | wc -l)" 0 "no key is counted unasked"
later status --server --keys | awk -F '\t' '$2 == "keys" { print $3 }' >"$work/keys"
is "$(grep -cx 'ready 1' "$work/keys") $(grep -cx 'jobs 1' "$work/keys")" "1 1" "keys by kind"
like "$(later status --server --keys --json | grep '"keys":"ready"')" '"keys":"ready","count":1,"more":false}$' "--json"

# ---- replicas

if [ "$redis_kind" = sentinel ]; then
    online() { fact replica | grep -qE '^[0-9.:]+ online, answered .* ago, [0-9]+ bytes behind$'; }
    wait_until 20 online
    runs "a replica, and how far behind it is" online
fi

# ---- what is wrong

is "$(later status --server | grep -cE '^(redis_full|writes_lost)')" 0 "nothing is wrong"
redis hset later:lost mail "pushed 1200 700 $(date +%s).5 web1" >/dev/null
redis_all config set maxmemory 1 >/dev/null
later status --server >"$work/all"
is "$(grep -c '^redis_full	Redis uses [0-9]* % of its memory	' "$work/all")" "$servers" "each one that is full"
is "$(later status --trouble | grep -c '^redis_full	Redis uses')" "$servers" "--trouble names each of them, too"
is "$(grep -c '^writes_lost	Redis has lost writes of 1 queue, of mail last	' "$work/all")" 1 "lost writes, once"
like "$(later status --server --json | grep -m 1 '"rule"')" '^\{"rule":"redis_full","severity":"critical",.*"host":"[^"]+"' "--json: as --trouble has them"
run later --redis unix:/none status --server
is "$status" 69 "no Redis: status 69"
finish
