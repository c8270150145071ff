#!/bin/sh
# The examples of doc/flows.md and the flows of doc/coming-from.md run as printed, on a laterd whose
# handlers note what they run.
#
# A block comes after a comment: `<!-- file: NAME -->`, it is saved; `<!-- test: NAME -->`, it is run by sh,
# and checked here; `<!-- run: FILE LANGUAGE -->`, it is saved and run by that language.
. "${top_srcdir:=.}/tests/system/daemon.sh"
redis_python
needs redis-server redis-cli

source=$(cd "$top_srcdir" && pwd)
box=$work/box
mkdir -p "$box/bin"
ln -s "$source/clients" "$box/clients"
ln -s "$later_bin" "$box/bin/later"
start_redis 'appendonly no'
PATH=$box/bin:$PATH
export PATH

# The handler of all types: it buries where a file says so.
cat >"$work/handler" <<END
#!/bin/sh
cat >/dev/null
echo "\$LATER_TYPE \$LATER_ID" >>$work/ran
[ ! -e "$work/bad-\$LATER_TYPE" ] || exit 65
[ "\$LATER_TYPE" != video.split ] || PATH=$PATH LATER_REDIS_URL=$LATER_REDIS_URL exec sh $box/split.sh
END
chmod +x "$work/handler"
: >"$work/ran"
configure 'workers = 4;'
sed -i "s|config = {|config = { exec = { all = { argv = ( \"$work/handler\" ); types = ( \"*\" ); }; };|" \
    "$work/laterd.conf"
start_laterd

# ---- the blocks

for document in flows coming-from; do
    awk -v to="$box" -v list="$work/list" -v document="$document" '
        /^<!-- (file|test|run): / { kind = $2; name = $3; how = $4; next }
        /^```[a-z]/ {
            if (kind == "") print document ": " FNR ": not run"
            else { out = to "/" name; print kind, name, how >>list; printf "" >out }
            next
        }
        /^```/ { out = kind = ""; next }
        out != "" { print >out }' "$source/doc/$document.md"
done >"$work/unmarked"
is "$(cat "$work/unmarked")" "" "every block is saved or run"
sed -i "s|/var/lib/laterd/redis.sock|$redis_socket|" "$box"/*.py "$box"/*.rb "$box"/*.mjs "$box"/*.php
sed -i 's/seq 1000000/seq 2000/' "$box/import"
# They wait long enough for a busy machine, and for no day that ends.
sed -i 's/\(timeout[=: ]*\|seconds: \)\(30\|60\)/\1600/; s/--timeout \(30s\|1m\)/--timeout 10m/' "$box"/*.* "$box/order" "$box/approve"
printf '#!/bin/sh\n[ "$*" = +%%F ] && echo 2026-01-02\n' >"$box/bin/date"
chmod +x "$box/bin/date"

# example NAME [STATUS]: runs the block.
example()
{
    run timeout 300 env -C "$box" sh -eu "$1"
    [ "$status" -eq "${2:-0}" ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
    is "$status" "${2:-0}" "flows.md: $1"
}

# counts FLOW: done, dead, gone and skipped.
counts()
{
    later flow --json | sed -n "s/.*\"flow\":\"$1\".*\"dead\":\([0-9]*\),\"done\":\([0-9]*\),\"gone\":\([0-9]*\),\"skipped\":\([0-9]*\).*/\2 \1 \3 \4/p"
}

# in_order A B: did all jobs of type A run before the first of type B?
in_order()
{
    [ "$(grep -n "^$1 " "$work/ran" | tail -n 1 | cut -d : -f 1)" -lt \
        "$(grep -n "^$2 " "$work/ran" | head -n 1 | cut -d : -f 1)" ]
}

# ---- flows.md

example night
is "$(counts night-2026-01-02)" "5 0 0 1" "the night: five ran, the alert was not needed"
runs "joined when both are there" in_order etl.extract etl.join
runs "loaded then" in_order etl.join etl.load
runs "tidied up at the end" in_order etl.load etl.clean
touch "$work/bad-etl.join"
later push --flow night2 --file "$box/night.ndjson" >/dev/null
run later flow wait night2 --timeout 10m
is "$status $(counts night2)" "65 3 1 0 0" "a night that fails is blocked: two extracts and the alert ran"
rm "$work/bad-etl.join"
is "$(later flow kick night2)" 1 "it is kicked"
run later flow wait night2 --timeout 10m
is "$status $(counts night2)" "0 6 0 0 0" "and done"

example import
is "$(counts import-7) $(wc -l <"$box/ids" | tr -d ' ')" "2001 0 0 0 2001" "the import: all rows and the report"
runs "the report at the end" in_order import.row import.report

touch "$work/bad-order.pay"
example order 65
is "$(counts order-4711)" "2 1 0 0" "a refused payment: reserved, undone"
is "$(grep -c '^order.mail' "$work/ran")" 0 "no mail"
contains "$(later show order-4711.mail --json)" '"text":"waits for pay (dead) in flow order-4711"' "show says why"
example order-cancel
is "$(counts order-4711)" "2 0 2 0" "it is cancelled"
rm "$work/bad-order.pay"
later push --flow order-4712 --file "$box/order.ndjson" >/dev/null
run later flow wait order-4712 --timeout 10m
is "$status $(counts order-4712)" "0 3 0 0 1" "a payment that goes through: mail, and nothing is undone"

example video
is "$(counts video-3)" "5 0 0 0" "the video: split, three parts, joined"
runs "joined after its parts" in_order video.encode video.join

# awaits ID: does this one await approval?
awaits() { [ "$(later search -A --state delayed --type report.approve | cut -f 1)" = "$1" ]; }
example report
awaited 60 "the report awaits approval" awaits report-9.approve
is "$(grep -c '^report.publish' "$work/ran")" 0 "and is not published"
example approve
is "$(counts report-9)" "3 0 0 1" "approved: published, not dropped"
later push --flow report-10 --file "$box/report.ndjson" >/dev/null
awaited 60 "another awaits approval" awaits report-10.approve
later cancel report-10.approve >/dev/null
run later flow wait report-10 --timeout 10m
is "$status $(counts report-10)" "65 2 1 1 0" "not approved: dropped, and publish is dead"
contains "$(later show report-10.publish --json)" "needs step approve of flow report-10, which was cancelled" "which says why"

# ---- the programs

# program FILE COMMAND...
program()
{
    file=$1
    shift
    run timeout 300 env -C "$box" PYTHONPATH="$source/clients/python" RUBYLIB="$source/clients/ruby/lib" "$@" "$file"
    [ "$status" -eq 0 ] || printf '%s\n' "$out" "$err" | sed 's/^/# /'
    is "$status" 0 "$file ends well"
}

{
    echo n,name
    seq 50 | sed 's/$/,x/'
} >"$box/rows.csv"
while read -r kind file language <&3; do
    [ "$kind" = run: ] || continue
    case $language in
    python) program "$file" "$python" ;;
    sh) program "$file" sh -eu ;;
    php)
        if php -r 'exit(extension_loaded("redis") ? 0 : 1);' 2>/dev/null; then
            program "$file" php
        else
            missing "$file" "php-cli or php-redis is not installed"
        fi
        ;;
    ruby)
        if ruby -e 'require "redis"' 2>/dev/null; then
            program "$file" ruby
        else
            missing "$file" "ruby-redis is not installed"
        fi
        ;;
    node)
        if node_modules; then
            mkdir -p "$box/node_modules"
            ln -s "$source/clients/node" "$node_modules"/node_modules/* "$box/node_modules/"
            mv "$box/node_modules/node" "$box/node_modules/laterd"
            program "$file" node
        else
            missing "$file" "node or npm is not installed, or npm cannot install ioredis"
        fi
        ;;
    esac
done 3<"$work/list"
is "$(later search -q slow | cut -f 1 | sort | tr '\n' ' ')" "import-7.0 import-7.1 " "recipes.py: at most two of a key"
later push count 5000 -q counting --id many --result 600 >/dev/null
run timeout 300 env -C "$box" PYTHONPATH="$source/clients/python" later work counting --until-empty --lines -- \
    "$python" -m laterd recipes:app
is "$status $(later wait many -q counting --timeout 0)" '0 "many"' "recipes.py: who waits gets the result of the job in its place"
seq 30 | sed 's/.*/{"type":"insert","payload":&}/' | later push -q rows --file - >/dev/null
run timeout 300 env -C "$box" PYTHONPATH="$source/clients/python" later work rows -p 30 --until-empty --lines -- \
    "$python" -m laterd recipes:app
is "$status $(tr ' ' '\n' <"$box/rows" | sort -n | tr '\n' ' ')" "0 $(seq 30 | tr '\n' ' ')" "recipes.py: rows of many jobs"
at_most "$(wc -l <"$box/rows")" 29 "and many in one go"
is "$(later flow --json | grep -v '"flow":"[a-z]*-[0-9]' | grep -vc '"state":"done"')" 0 "all of their flows are done"
is "$(counts import-8), $(counts celery-chord), $(counts celery-graph), $(counts rq), $(counts oban)" \
    "51 0 0 1, 11 0 0 0, 4 0 0 0, 4 0 0 0, 4 0 0 0" "and all of their jobs"
stop_laterd
runs "the sums hold" later check default
finish
