#!/bin/sh
# later serve: command lines over one connection.
. "${top_srcdir:=.}/tests/system/lib.sh"
start_redis 'appendonly no'

# serve LINE...: prints its output, with `end` for the mark that ends an answer.
serve()
{
    printf '%s\n' "$@" | later serve 2>&1 | sed 's/^\x1e/end /'
}

later push t --id a -q q >/dev/null
is "$(serve '["size","--names","--json"]' '["kick","x","-q","q"]' '["size","--names"]')" \
    '{"queue":"q"}
end {"status":0,"words":""}
end {"status":66,"words":"later kick: no dead, delayed or waiting job x in queue q"}
q
end {"status":0,"words":""}' "an answer to each line, with status and words"
before=$(redis_all INFO stats | tr -d '\r' | sed -n 's/^total_connections_received://p' | head -n 1)
# shellcheck disable=SC2046 # lines
serve $(yes '["size","--names"]' | head -n 40) >/dev/null
after=$(redis_all INFO stats | tr -d '\r' | sed -n 's/^total_connections_received://p' | head -n 1)
# With a set, others may connect meanwhile.
is "$((after - before < 20))" 1 "over one connection (and that of redis-cli), not one for each of forty"
is "$(serve '["push","t","-","-q","q"]' '["size","--names"]' | tail -n 2)" 'q
end {"status":0,"words":""}' "a payload from standard input does not take what is asked for next"
for line in '[' '{}' '[]' '[1]' '["none"]' '["work","q","--","true"]' '["serve"]' '["lock","l"]' \
    '["size","--none"]' '["show"]' '["edit","a"]' "[$(yes '"size"' | head -n 70 | paste -sd ,)]"; do
    like "$(serve "$line")" '^end \{"status":64,"words":"later [a-z]+: .*"\}$' "refused: $(echo "$line" | cut -c 1-30)"
done
# Of the options of all commands a line has only --json: the connection is open.
options=$(sed -n '/^const struct args_option global_options/,/^};/s/^    { "\([a-z-]*\)", .*, \(NULL\|"[A-Z]*"\),.*/\1=\2/p' \
    "$top_srcdir/cli/commands.c")
is "$(echo "$options" | sed 's/=.*//')" "$(later help size |
    sed -n '1,/^Options of every/d; s/^  \(-., \|    \)--\([a-z-]*\).*/\2/p')" \
    "the options of all commands are known"
for option in $options; do
    case $option in json=*) continue ;; *=NULL) words="\"--${option%%=*}\"" ;; *) words="\"--${option%%=*}\",\"x\"" ;; esac
    like "$(serve "[\"size\",\"--names\",$words]")" \
        '^end \{"status":64,"words":"later serve: --'"${option%%=*}"' is an option of `later serve` itself' \
        "refused in a line: --${option%%=*}"
done
like "$(serve '["cancel","-q","q","--state","ready"]')" '"status":64,"words":".*add --yes"' \
    "serve asks nobody: purge needs --yes"
finish
