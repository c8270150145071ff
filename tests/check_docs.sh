#!/bin/sh
# What doc/ and README.md say about the code is true: keys, scripts, messages, numbers. No link is broken.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
doc=$(mktemp)
code=$(mktemp)
trap 'rm -f "$doc" "$doc".* "$code" "$code".*' EXIT

# ---- doc/protocol.md: its table of keys against lib/redis/key.c

sed -n 's/^| `\(later:[^`]*\)` |.*/\1/p' doc/protocol.md | sort >"$doc"
{
    grep -o '\[LATER_KEY_[A-Z]*\] = "[a-z]*"' lib/redis/key.c |
        sed 's/.*"\([a-z]*\)"/later:{Q}:\1/'
    echo 'later:{Q}:overrides' # a channel, too
    grep -o '"call:"' lib/redis/key.c | sed 's/.*/later:{Q}:call:CALL/' # spelled in pieces
    grep -o '"%[^"]*"' lib/redis/key.c | grep -vx '"%s\(:{%s}:\)\{0,1\}"' | sed -e 's/"//g' \
        -e 's/^%\.\*saside:%\.128s$/later:{Q}:aside:T/' \
        -e 's/^%\.\*sresult:%\.200s$/later:{Q}:result:ID/' \
        -e 's/^%\.\*sflow:%\.64s%\.8s$/later:{Q}:flow:F\nlater:{Q}:flow:F:unknown\nlater:{Q}:flow:F:values\nlater:{Q}:flow:F:failed/' \
        -e '/^%\.\*s%\.16s:%$/d' \
        -e 's/^%s:%\.64s$/later:{Q}:reserved:TOKEN/' \
        -e 's/^%s:limit:{%\.200s}$/later:limit:{NAME}/' \
        -e 's/^%s:lookers:{%\.200s}$/later:lookers:{NAME}/' \
        -e 's/^%s:lock:{%\.200s}%s$/later:lock:{NAME}/' \
        -e 's/^%s:running:{%\.200s}$/later:running:{NAME}/' \
        -e 's/^%s:%s:{%\.200s}:%s$/later:lock:{NAME}:waiting\nlater:lock:{NAME}:due\nlater:running:{NAME}:waiting\nlater:limit:{NAME}:waiting/' \
        -e 's/^%s:stock:{%\.200s}%s$/later:stock:{ITEM}/' \
        -e 's/^%s:\([a-z]*\)$/later:\1/'
    sed -n 's/^ *\[LATER_LOCK_[A-Z]*\] = "\(:[a-z]*\)",$/later:lock:{NAME}\1/p' lib/redis/key.c
    sed -n 's/^ *\[LATER_BY_[A-Z]*\] = { "\([a-z]*\)".*/later:{Q}:\1:N/p' lib/history/history.c
    sed -n 's/.*claims ? "\(:[a-z]*\)".*/later:stock:{ITEM}\1/p' lib/redis/key.c
} | sort >"$code"
runs "protocol.md names the keys of lib/redis/key.c and no others" diff "$doc" "$code"
runs "protocol.md names keys at all" grep -q '^later:{Q}:ready$' "$doc"

# ---- doc/protocol.md: each script's KEYS, ARGV and reply against the heads of scripts/

# One line for each script: NAME KEYS ready stats …
heads='
    function flush() { if (name != "" && field != "") print name, field, text; field = "" }
    function begin(word, rest) {
        if (word == field) { text = text " " rest; return }
        flush(); field = word; text = rest
    }'
awk "$heads"'
    /^## / { flush(); within = /^## Scripts/ }
    /^### / { flush(); name = within ? $2 : "" }
    name == "" { next }
    /^    (KEYS|ARGV|reply) / { word = $1; sub(/^ *[A-Za-z]+ +/, ""); begin(word, $0); next }
    /^           / && field != "" { sub(/^ +/, ""); text = text " " $0; next }
    { flush() }
    END { flush() }' doc/protocol.md | sort >"$doc"
sed -n '/^Described here are the scripts/,/^$/p' doc/protocol.md | grep -o '`[a-z_]*`' | tr -d '`' |
    grep -vx later | sort >"$doc.rest"
awk "$heads"'
    FNR == 1 { flush(); name = FILENAME; sub(/.*\//, "", name); sub(/\.lua$/, "", name); over = 0 }
    over { next }
    /^-- (KEYS|ARGV|reply) / { word = $2; sub(/^-- [A-Za-z]+ +/, ""); begin(word, $0); next }
    /^--        / && field != "" { sub(/^-- +/, ""); text = text " " $0; next }
    FNR > 1 { flush(); over = field == "" && FNR > 3 }
    END { flush() }' scripts/*.lua | sort >"$code"
cut -d ' ' -f 1 "$doc" | sort -u >"$doc.names"
awk 'NR == FNR { described[$1]; next } $1 in described' "$doc.names" "$code" >"$code.described"
runs "protocol.md has the heads of the scripts that it describes, as they are" diff "$doc" "$code.described"
runs "protocol.md names each other script as laterd's own" diff - "$doc.rest" <<NAMES
$(cut -d ' ' -f 1 "$code" | sort -u | grep -vxFf "$doc.names")
NAMES
runs "protocol.md describes what the clients carry" test -z "$(find clients -name '*.lua' ! -path '*/build/*' |
    sed 's|.*/||; s|\.lua$||' | sort -u | grep -vxFf "$doc.names")"

# ---- doc/operations.md: every message in its table is in the sources

# Literals that are split over lines are joined.
find daemon lib cli web jobs -name '*.c' -exec cat {} + | tr '\n' ' ' | sed 's/" *\(PRI[a-z0-9]* *\)\{0,1\}"//g' >"$code"
# `words … words`: what differs is … here, and %s or the like in the sources, so only the pieces
# between are compared.
sed -n '/^## What the lines ask for/,/^## /s/^| `\([^|]*\)` |.*/\1/p' doc/operations.md >"$doc"
missing=$(awk '
    NR == FNR { code = code $0; next }
    {
        n = split($0, pieces, /…/)
        for (i = 1; i <= n; i++) {
            gsub(/^[ :]+|[ :]+$/, "", pieces[i])
            gsub(/"/, "\\\"", pieces[i])
            if (pieces[i] != "" && !index(code, pieces[i])) print
        }
    }' "$code" "$doc")
is "$missing" '' "operations.md lists only messages that the sources have"
runs "there are some" test "$(wc -l <"$doc")" -gt 40

# ---- doc/architecture.md: files that it names by path

missing=$(grep -oE '`(lib|daemon|cli|web|scripts|tests)/[a-z_/]+\.(c|h|lua|sh|am|awk)`' doc/architecture.md |
    tr -d '`' | sort -u | while read -r file; do [ -e "$file" ] || echo "$file"; done)
is "$missing" '' "architecture.md names files that there are"

# ---- doc/architecture.md: the rooms

# A line ROOM/PATTERN for each name in the first column of the list.
awk '/^## Rooms/ { within = 1 } /^## Who/ { within = 0 }
    within && /^[a-z\/]+\/ / { room = $1 }
    within && room && /^  [a-z]/ {
        sub(/^  /, "")
        n = split(substr($0, 1, index($0, "  ")), names, " ")
        for (i = 1; i <= n; i++) print room names[i]
    }' doc/architecture.md >"$doc"
find lib daemon cli web jobs -name '*.[ch]' ! -name 'script_*' ! -name 'asset_table.c' ! -path 'lib/later/*' | sed 's/\.[ch]$//' | sort -u \
    >"$code"
sed 's/\./\\./g; s/\*/.*/g' "$doc" >"$doc.patterns"
missing=$(grep -vxE -f "$doc.patterns" "$code")
is "$missing" '' "architecture.md has every module"
missing=$(while IFS= read -r pattern; do
    # shellcheck disable=SC2086 # it is a pattern
    ls $pattern.[ch] >/dev/null 2>&1 || echo "there is no $pattern"
done <"$doc")
is "$missing" '' "and no others"

# ---- doc/protocol.md: what laterd asks a reserve for

for what in RESERVE BESIDE; do
    bytes=$(sed -n "s/^#define LATER_${what}_BYTES \([0-9]*\).*/\1/p" lib/queue/queue.h)
    runs "protocol.md says $bytes" grep -qw "$bytes" doc/protocol.md
done

# ---- how many hosts, and how often

# constant FILE NAME
constant() { sed -n "s/^#define $2 *\([0-9]*\).*/\1/p" "$1"; }
least=$(constant daemon/queues/announce.c EVERY_LEAST) most=$(constant daemon/queues/announce.c EVERY_MOST)
together=$(constant daemon/queues/announce.c EVERY_TOGETHER)
# says FILE WORDS: they may go over two lines
says() { tr -s '\n' ' ' <"$1" | grep -qF "$2"; }
runs "protocol.md: every $least seconds" says doc/protocol.md "its field of \`later:hosts\` every $least seconds"
runs "protocol.md: of more than $((least * together)) hosts" says doc/protocol.md "Where more than $((least * together)) hosts"
runs "protocol.md: at most every $most" says doc/protocol.md "every *hosts / $together* seconds, at most $most:"
sleep=$(constant daemon/supervisor/sleepers.h SLEEPERS_HOSTS)
all=$((sleep + $(constant lib/queue/looker.h LATER_LOOKERS)))
runs "architecture.md: workers sleep where $sleep hosts do not look" says doc/architecture.md "Where more than $sleep hosts that"
runs "operations.md: where $all hosts serve the same" says doc/operations.md "Where more than $all hosts serve the same"
runs "performance.md: the same" says doc/performance.md "of more than $all hosts that serve the same"

# ---- numbers that documents and clients have, too: a constant, what it is divided by, the page, and its words with # for the number

cat >"$doc" <<'NUMBERS'
daemon/supervisor/sleepers.h SLEEPERS_FEW 1 doc/architecture.md and # or fewer are left
lib/queue/looker.h LATER_LOOKERS 1 doc/architecture.md # hosts look for all
lib/queue/queue.h LATER_RESERVE_BYTES 1024 doc/architecture.md # KiB of documents in a reserve
lib/queue/queue.h LATER_BESIDE_BYTES 1048576 doc/architecture.md # MiB if they come beside its script
lib/redis/script.h LATER_BATCH_MAX 1 doc/architecture.md | a call | # jobs;
daemon/reservation/slots.h SLOTS_CALLS 1 doc/architecture.md # reserves under way
daemon/reservation/slots.h SLOTS_LOCK_LEASES 1 doc/architecture.md # locks and permits
daemon/reservation/slots.h SLOT_TEXT 1 doc/architecture.md # bytes of an error
daemon/worker/backlog.h BACKLOG_ROWS 1 doc/architecture.md # locks, permits and limits remembered
lib/config/config.h CONFIG_QUEUES_MAX 1 doc/architecture.md | a pool | # queues
lib/config/config.h CONFIG_WAITED 1 doc/architecture.md for a pool of more than # queues
daemon/queues/wake_listener.h WAKE_GROUP 1 doc/architecture.md with # queues per connection
lib/config/config_lists.c POOLS_MAX 1 doc/architecture.md # pools
daemon/log.c LINE_MAX_BYTES 1 doc/architecture.md # bytes of a log line
lib/job/document.h LATER_VALUE_MAX 1024 doc/architecture.md # KiB of a value
lib/queue/queue.h LATER_LOG_MAX 1 doc/architecture.md # lines,
lib/queue/queue.h LATER_LOG_BYTES 1024 doc/architecture.md # KiB, of what is kept of a job's log
daemon/link/link.h LINK_TIMEOUT 1 doc/architecture.md After a deadline of # seconds
lib/redis/nodes.h LATER_NODES_MAX 1 doc/architecture.md | a Cluster | # nodes
lib/redis/address.h LATER_HOSTS_MAX 1 doc/architecture.md # in the URL
daemon/supervisor/checker.c PATIENCE 1 doc/architecture.md # seconds for the checker
daemon/supervisor/supervisor_stop.c SETTLE_SECONDS 1 doc/architecture.md at the end # for settlements
daemon/supervisor/supervisor_stop.c SERVER_SECONDS 1 doc/architecture.md and # for the embedded Redis
daemon/supervisor/workers.c TRIAL_SECONDS 1 doc/architecture.md not ready within # seconds
lib/job/document.h LATER_VALUE_MAX 1024 doc/faq.md is at most # KiB.
lib/job/document.h LATER_DOCUMENT_MAX 1048576 doc/faq.md # MiB with all its options
lib/queue/flow.h LATER_FLOW_JOBS 1 doc/flows.md # jobs a flow
lib/job/document.h LATER_AFTER_MAX 1 doc/flows.md at most # steps
lib/job/flow_plan.h LATER_WAITERS_MAX 1 doc/flows.md and # jobs for one step
lib/job/document.h LATER_VALUE_MAX 1 doc/later-job.3 bytes, at most #;
lib/job/document.h LATER_VALUE_MAX 1 doc/later-job.3 at most #: what the job's next attempt
daemon/plugin/plugin_check.h PLUGIN_TYPES_MAX 1 doc/later-job.3 at most #, that ends with
daemon/worker/said.c SAID_JSON 1 doc/later-job.3 an object of at most # bytes
jobs/exec_config.c OUTPUT_DEFAULT 1 doc/later-job.3 output_max = #;
jobs/exec_config.c START_DEFAULT 1 doc/later-job.3 seconds (default #)
jobs/exec_throttle.c START_WAIT 1 doc/later-job.3 the next start waits # seconds
jobs/http.h HTTP_HEAD_MAX 1024 doc/later-job.3 whose head is larger than # KiB
jobs/http.h HTTP_BODY_MAX 1024 doc/later-job.3 At most # KiB of an answer
jobs/http.h HTTP_TEXT_MAX 1 doc/later-job.3 the first # bytes of the answer
jobs/http_request.c CONNECT_MS 1000 doc/later-job.3 no connection within # seconds
jobs/http_loop.c FDS_KEPT 1 doc/later-job.3 its limit of descriptors less #
daemon/queues/announce_load.h ANNOUNCE_MINUTES 1 doc/later-web.8 each of the last # minutes
web/http/guard.h GUARD_HOSTS_MAX 1 doc/later-web.8 may be given up to # times. .Cm localhost
web/http/mask.h MASK_MAX 1 doc/later-web.8 may be given up to # times. Case does not matter
web/tasks/acts.h ACTS_KEPT 1 doc/later-web.8 Keep the latest # tasks
web/tasks/acts.h ACTS_KEPT 1 doc/later-web.8 The latest # are kept until
web/live/troubles.h TROUBLES_SOON 1 doc/later-web.8 It is looked at every # seconds
web/live/troubles.h TROUBLES_LATER 1 doc/later-web.8 not done within the last # seconds
web/live/live.h LIVE_MAX 1 doc/later-web.8 At most # clients can read it
web/http/http.c HEAD_MAX 1024 doc/later-web.8 A request's head may have # KiB
web/http/http.c BODY_MAX 1024 doc/later-web.8 and its body # KiB
web/tasks/serve.c ANSWER_MAX 1048576 doc/later-web.8 an answer may have # MiB
web/http/http.h HTTP_UNSENT_MAX 1048576 doc/later-web.8 may have # MiB together
web/tasks/serve.c MEMORY_MAX 1048576 doc/later-web.8 may have # MiB of memory
web/tasks/serve.c CPU_MAX 1 doc/later-web.8 and # seconds of processor time
web/http/http.c CONNECTIONS 1 doc/later-web.8 There may be # connections
web/http/http.c PATIENCE 1 doc/later-web.8 a whole request after # seconds
web/notify/post.c PATIENCE 1 doc/later-web.8 no answer within # seconds
web/notify/notices.h NOTICES_TRIES 1 doc/later-web.8 after # times, some
cli/lock/lock.c TTL 1 doc/later.1 after the command was killed; the default is # seconds
cli/lock/lock_run.c GRACE 1 doc/later.1 and KILL # seconds later
cli/work/take.c LEASE 1 doc/later.1 How long the reservation holds; the default is # seconds.
cli/lock/lock.c TTL_MIN 1 doc/later.1 30 seconds, the minimum #.
cli/work/work.c WORKERS_MAX 1 doc/later.1 the default is 1, the most #.
daemon/supervisor/checker.c PATIENCE 1 doc/laterd.8 plugins are not loaded within # seconds
daemon/supervisor/workers.c TRIAL_SECONDS 1 doc/laterd.8 new workers are not ready within # seconds
daemon/supervisor/workers.c TRIAL_TIMES 1 doc/laterd.8 worker fails to start # times
daemon/supervisor/supervisor_reload.c LONG_SECONDS 1 doc/laterd.8 a step takes longer than # seconds
daemon/supervisor/restart.c LONGEST 1 doc/laterd.8 then 2, up to #.
lib/queue/queue.h LATER_LOG_BYTES 1 doc/laterd.conf.5 at most # bytes of JSON
lib/redis/key.h LATER_SHARDED_MAX 1 doc/laterd.conf.5 it has at most # characters
lib/config/config.h CONFIG_QUEUES_MAX 1 doc/operations.md 32 shards; # queues and shards in a pool
lib/config/config.h CONFIG_QUEUES_MAX 1 doc/operations.md **Limits**: # queues and shards in a pool, and
lib/queue/shards.h LATER_SHARDS_MAX 1 doc/operations.md 1 to # shards
lib/redis/key.h LATER_SHARDED_MAX 1 doc/operations.md a name of at most # characters
daemon/queues/patterns.h PATTERNS_SEEN 1 doc/operations.md # names in
daemon/queues/migrator.c LOOK_SECONDS 1 doc/operations.md and a command each # seconds
daemon/link/link.h LINK_TIMEOUT 1 doc/operations.md gives up a command after # seconds
daemon/queues/announce_load.h ANNOUNCE_MINUTES 1 doc/operations.md each of the last # minutes
web/tasks/acts.h ACTS_KEPT 1 doc/operations.md # of them with progress
lib/client/outage.h LATER_OUTAGE_PATIENCE 1 doc/operations.md has been away for # seconds without
lib/client/outage.h LATER_OUTAGE_PATIENCE 1 doc/later.1 goes away meanwhile for more than # seconds
lib/redis/script.h LATER_BATCH_MAX 1 doc/protocol.md At most # jobs a call.
lib/job/document.h LATER_VALUE_MAX 1 doc/protocol.md any JSON, at most # bytes
lib/job/document.h LATER_DOCUMENT_MAX 1048576 doc/protocol.md | a document | # MiB
lib/job/json.h LATER_JSON_DEPTH 1 doc/protocol.md is nested deeper than # levels
lib/queue/queue.h LATER_LOG_MAX 1 doc/protocol.md over all attempts: at most #,
lib/queue/queue.h LATER_LOG_BYTES 1 doc/protocol.md and at most # bytes of JSON
lib/queue/flow.h LATER_FLOW_BATCH 1 doc/protocol.md At most # jobs a call, of which none
lib/queue/flow.h LATER_FLOW_VALUES 1048576 doc/protocol.md together at most # MiB
lib/queue/shards.h LATER_SHARDS_MAX 1 doc/protocol.md | shards of a queue | #;
lib/redis/key.h LATER_SHARDED_MAX 1 doc/protocol.md its name has at most # characters
lib/queue/override.h LATER_OVERRIDES_MAX 1 doc/protocol.md A queue has at most #.
lib/queue/override.h LATER_OVERRIDE_WORDS 1 doc/protocol.md one line of at most # bytes.
lib/queue/lost.h LATER_FORGOTTEN_MAX 1 doc/protocol.md the last # queues and shards that
lib/queue/lost.h LATER_FORGOTTEN_SECONDS 86400 doc/protocol.md with an expiry of # days |
lib/queue/lock.h LATER_LOCK_OWNER_MAX 1 doc/protocol.md for people to read, at most # bytes
daemon/queues/migrator.c LOOK_SECONDS 1 doc/protocol.md at least every # seconds
lib/redis/script.h LATER_BATCH_MAX 1 doc/push.md up to # jobs in a call
web/http/guard.h GUARD_HOSTS_MAX 1 web/options.c addresses; may be given up to # times
web/http/mask.h MASK_MAX 1 web/options.c   may be given up to # times
web/http/token.h TOKEN_MIN 1 web/options.c at least # characters
lib/client/outage.h LATER_OUTAGE_PATIENCE 1 clients/php/src/Client.php been away for # seconds
NUMBERS
is "$(awk '
    # What a constant is: 65536, 5.0, (256 * 1024), (40UL << 20)
    function figure(file, name,    line, n, of) {
        while (!n && (getline line < file) > 0)
            if (line ~ "^#define " name " ") {
                sub(/^#define [A-Z_]+ +/, "", line); sub("/[*].*", "", line); gsub(/[()UL]/, "", line)
                split(line, of, / *(\*|<<) */)
                n = of[1] * (line ~ /<</ ? 2 ^ of[2] : line ~ /[*]/ ? of[2] : 1)
            }
        close(file)
        return n
    }
    function grouped(n, by) { return n < 1000 ? n : grouped(int(n / 1000), by) by sprintf("%03d", n % 1000) }
    # Does the text have these words, and no further digit behind them?
    function has(text, before, n, after) {
        return index(text, before n after) && substr(text, index(text, before n after) + length(before n after), 1) !~ /[0-9]/
    }
    function text_of(page,    line, text) {
        while ((getline line < page) > 0) text = text " " line
        close(page)
        return text
    }
    BEGIN { split("one two three four five six seven eight nine ten eleven twelve", words) }
    {
        page = $4
        if (!(page in texts)) texts[page] = text_of(page)
        n = figure($1, $2) / $3
        said = $0
        sub(/^[^ ]+ [^ ]+ [^ ]+ [^ ]+ /, "", said)
        place = index(said, "#")
        before = place == 1 ? " " : substr(said, 1, place - 1)
        after = substr(said, place + 1)
        word = n in words ? words[n] : n
        text = texts[page]
        if (!has(text, before, n, after) && !has(text, before, grouped(n, ","), after) && !has(text, before, word, after) &&
            !has(text, before, toupper(substr(word, 1, 1)) substr(word, 2), after) && !has(text, before, grouped(n, "_"), after))
            print page ": " $2 " of " $1 " is " n ", but not: " said
    }' "$doc")" "" "pages and clients have these constants as they are"

# ---- doc/performance.md: the scenarios of make bench that run unless others are named

sed -n '/ scenarios\[\] = {/,/^};/p' tests/bench/bench.c | grep -oE '"[a-z]+", bench_[a-z]+, false' | cut -d '"' -f 2 | sort >"$code"
sed -n '/^| scenario |/,/^$/s/^| `\([a-z]*\)` .*/\1/p' doc/performance.md | sort >"$doc"
runs "performance.md has the scenarios of tests/bench/bench.c" diff "$doc" "$code"

# ---- doc/later.1: what --json prints

# members FILE...: the names of all that is written by jsonl.h, one by one, or in printf's form.
members()
{
    grep -ohE 'jsonl_[a-z]+\(&?[a-z]+, "[a-z_]+"' "$@" | cut -d '"' -f 2
    cat "$@" | tr '\n' ' ' | grep -oE 'jsonl_(add|line)\([^;]*;' | grep -oE '"[^"]*"' | grep -oE '[a-z_0-9]+:[%a-z]' |
        cut -d ':' -f 1
}

find cli -name '*.c' | while read -r file; do members "$file"; done | sort -u >"$code"
{
    sed -n '/^\.Sh JSON/,/^\.Sh ENV/p' doc/later.1 | tr -cs 'a-z_' '\n'
    for page in trouble server; do # whose rows stand with the command
        members cli/status/$page.c
    done | while read -r member; do grep -qE "(\"$member\"|^\.Ql (.* )?$member\b)" doc/later.1 && echo "$member"; done
} | sort -u >"$doc"
is "$(comm -23 "$code" "$doc")" "" "later.1 has each member that --json prints"

# ---- doc/coming-from.md: the commands that it names are in later(1)

sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' doc/later.1 | sort -u >"$code"
grep -o '`later [a-z]*' doc/coming-from.md | sed 's/.* //' | sort -u | comm -23 - "$code" >"$doc"
runs "coming-from.md names commands that there are" test ! -s "$doc"
sed 's/^/# /' "$doc"

# ---- README.md and doc/*.md

# Samples of laterd.conf: what begins with NAME = { or NAME = ( closes each bracket.
for file in README.md doc/*.md doc/*.[1358] clients/*/*.md; do
    awk '
        function over() {
            if (sample && (depth || low)) print FILENAME ":" from ": a sample with " depth " brackets open"
            sample = depth = low = 0
        }
        /^```|^\.(Bd|Ed)/ || /^[^ .]/ && !fenced { over() }
        /^```/ { fenced = !fenced; next }
        /^\.Bd/ { fenced = 1; next }
        /^\.Ed/ { fenced = 0; next }
        { line = $0; gsub(/"(\\.|[^"\\])*"/, "", line); sub(/#.*/, "", line) }
        !sample && (fenced || /^    /) && line ~ /^ *[a-z]+ = [{(]/ { sample = 1; from = FNR }
        sample {
            depth += gsub(/[{(]/, "", line)
            depth -= gsub(/[})]/, "", line)
            if (depth < 0) low = 1
        }
        END { over() }' "$file"
done >"$doc"
is "$(cat "$doc")" '' "samples of laterd.conf close each bracket"

for page in doc/*.md; do
    grep -qF "]($page" README.md || echo "$page"
done >"$doc"
is "$(cat "$doc")" '' "README.md leads to each page of doc/"
runs "README.md has at most 250 lines" test "$(wc -l <README.md)" -le 250
for file in README.md doc/*.md; do
    grep -oE '\]\([^)]+\)' "$file" | sed 's/^](//; s/)$//' | grep -v '^https\{0,1\}:' |
        while read -r link; do
            target=${link%%#*} anchor=
            case $link in *'#'*) anchor=${link#*#} ;; esac
            [ -z "$target" ] || target=$(dirname "$file")/$target
            if [ ! -e "${target:-$file}" ]; then
                echo "$link: no such file"
            elif [ -n "$anchor" ]; then
                sed -n 's/^##* //p' "${target:-$file}" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
                    grep -qxF "$anchor" || echo "$link: no such heading"
            fi
        done >"$doc"
    runs "links of $file" test ! -s "$doc"
    sed 's/^/# /' "$doc"
done
finish
