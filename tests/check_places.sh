#!/bin/sh
# Who has a row in a table is also where else its kind belongs (doc/architecture.md, Where things go). If a row was
# added and another place forgotten, the file is named here.
. "${top_srcdir:=.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
names=$(mktemp) words=$(mktemp) tested=$(mktemp)
trap 'rm -f "$names" "$words" "$tested"' EXIT

# outside sh|py: the tests of the programs, from outside.
outside()
{
    (cd tests && find system cli clients daemon handlers pairs web -maxdepth 1 -name "*.$1" -exec cat {} +)
}

# kind WORDS NAMES: what follows is about these.
kind()
{
    kind=$1
    echo "$2" | sort -u >"$names"
    runs "$kind: the table has names" grep -q . "$names"
}

# in_each WHAT FILE...: each of the names is a word of one of these files.
in_each()
{
    what=$1
    shift
    cat "$@" | tr -cs 'A-Za-z0-9_-' '\n' | sort -u >"$words"
    is "$(comm -23 "$names" "$words" | paste -s -d ' ' -)" "" "$kind: each is in $what"
}

# rows TABLE SECTION: its rows, of lib/*/TABLE.tab.
rows()
{
    awk -v section="$2" '/^# [a-z]+ +[|] / { inside = $2 == section } inside && /^[a-z]/' lib/*/"$1.tab"
}

# strings FILE TABLE: the first string of each line of a table in C.
strings()
{
    awk -v table="$2" 'index($0, table "[") && /=/ { inside = 1 } inside && /};/ { print; exit } inside' "$1" |
        sed -n 's/^ *\[[A-Z_]*\] = [{ ]*"\([^"]*\)".*/\1/p'
}

kind "a script" "$(basename -a -s .lua scripts/*.lua | grep -vx 'told\|probe')" # these do not work on a queue
in_each "tests/scripts/tour.c" tests/scripts/tour.c
in_each "doc/protocol.md or tests/system/protocol_more.txt" doc/protocol.md tests/system/protocol_more.txt

kind "an answer of push" "$(sed -n 's/^-- reply//p' scripts/push.lua scripts/flow_push.lua scripts/flow_park.lua |
    sed 's/;.*//' | grep -oE '[A-Z]{2,}' | grep -vx ABSENT)" # which no caller gets
for file in clients/python/laterd/told.py clients/node/src/pushed.js clients/php/src/Pushed.php \
    clients/ruby/lib/laterd/told.rb clients/go/client.go; do
    in_each "$file" "$file"
done
in_each "lib/queue/queue_push.c or flow.c" lib/queue/queue_push.c lib/queue/flow.c
in_each doc/protocol.md doc/protocol.md

kind "a command of later" "$(grep -oE '&command_[a-z]+' cli/commands.c | sed 's/&command_//')"
in_each doc/later.1 doc/later.1
for file in tests/pairs/pairs_verbs.py tests/pairs/pairs_running.py; do
    in_each "$file" "$file"
done
outside sh | grep -oE '\<later [a-z]+' >"$tested"
in_each "a test from outside" "$tested"

kind "a condition that chooses jobs" \
    "$(sed -n '/later_filter_names\[\]/,/;/p' lib/job/filter.c | grep -oE '"[a-z]+"' | tr -d '"')"
for file in tests/unit/lib/test_filter.c cli/choose/choose.h web/pages/query.js doc/later.1 doc/later-web.8; do
    in_each "$file" "$file"
done
in_each "tests/pairs/pairs_model.py or pairs_verbs.py" tests/pairs/pairs_model.py tests/pairs/pairs_verbs.py
grep -oE '^ \*     [a-z]+ ' lib/job/filter.h >"$tested"
in_each "the head of lib/job/filter.h" "$tested"
sed -n '/^#define CONDITIONS/,/[^\]$/p' web/tasks/route.c | grep -oE -e '--[a-z]+=' | tr -d '=-' >"$tested"
in_each "CONDITIONS of web/tasks/route.c" "$tested"
kind "a condition that the pages complete" "$(grep -vx not "$names")" # that is a minus there
sed -n '/^const HINTS/,/};/p' web/pages/complete.js | grep -oE '[a-z]+: t`' >"$tested"
in_each "HINTS of web/pages/complete.js" "$tested"
kind "a condition that may be turned round" \
    "$(sed -n '/^static bool filter_may_be_turned/,/;/p' lib/job/filter.c | grep -oE '"[a-z]+"' | tr -d '"')"
grep '^export const TURNED' web/pages/query.js >"$tested"
in_each "TURNED of web/pages/query.js" "$tested"

kind "an option of laterd" "$(sed -n '/^const struct config_row config_table/,/^};/p' lib/config/config_table.c |
    grep -oE '(TOP|DRAFT|QUEUE|POOL|TYPE|LIMIT|GROUP|CRON), "[^"]+"' | sed 's/.*"\(.*\)"/\1/; s/.*\.//')"
in_each "tests/unit/lib/test_config*.c or bad_config.txt" tests/unit/lib/test_config*.c tests/unit/bad_config.txt

kind "an option of the log" "$(sed -n 's/.*TOP, "log\.[a-z]*", log\.\([a-z]*\),.*/\1/p' lib/config/config_table.c)"
for file in daemon/supervisor/process.c daemon/supervisor/supervisor_reload.c; do # of workers, of the supervisor
    grep -oE 'config->log\.[a-z]+' "$file" >"$tested"
    in_each "$file" "$tested"
done

kind "an option of a job" "$(rows options option | sed 's/ *|.*//')"
for file in tests/clients/conformance.json tests/clients/README.md tests/pairs/pairs.py; do
    in_each "$file" "$file"
done
grep -ohE '(\\"|\.|--)[a-z_]+' tests/unit/*/*.c >"$tested" # "owner" or .owner, not any word
in_each "tests/unit/*/*.c" "$tested"
of_clients="clients/python/tests/test_testing.py clients/node/test/testing.test.mjs clients/php/tests/testing.php
    clients/ruby/test/test_testing.rb clients/go/testing_test.go"
# in_each_spelled FILE...: each is in each of these, as a client spells it: max_attempts, maxAttempts, MaxAttempts.
in_each_spelled()
{
    for file in "$@"; do
        sed 's/\([a-z]\)\([A-Z]\)/\1_\2/g' "$file" | tr '[:upper:]' '[:lower:]' >"$tested"
        in_each "$file" "$tested"
    done
}
# shellcheck disable=SC2086 # words
in_each_spelled $of_clients
kind "an option of a job that its document has" \
    "$(rows options option | awk -F '|' '$5 ~ /document/ { print $1 }' | tr -d ' ')"
sed -n '/^## The document/,/^## /s/^| \(`[^|]*\) |.*/\1/p' doc/protocol.md >"$tested"
in_each "the table of doc/protocol.md, The document" "$tested"
kind "an option of a job on the pages" "$(rows options option | grep '|[a-z ]*form[a-z ]*|' | sed 's/ *|.*//')"
in_each "tests/web/web_*.py" tests/web/web_*.py

kind "an option of a schedule" "$(rows schedule option | sed 's/ *|.*//')"
for file in doc/laterd.conf.5 tests/unit/lib/test_schedule.c tests/clients/conformance.json; do
    in_each "$file" "$file"
done
sed -n '/^| tag of a definition/,/^$/p' doc/protocol.md >"$tested"
in_each "the table of doc/protocol.md, Schedules" "$tested"

kind "a member of a backoff" "$(rows options wait | grep '| member' | sed 's/ *|.*//')"
for file in tests/unit/lib/test_document.c tests/clients/conformance.json; do
    in_each "$file" "$file"
done

kind "an answer of a handler" "$(rows answers answer | sed 's/ *|.*//')"
for file in tests/unit/jobs/test_exec_lines.c $of_clients; do
    in_each "$file" "$file"
done
for file in clients/python/laterd/testing.py clients/node/src/testing.js clients/php/src/Testing/Fake.php \
    clients/ruby/lib/laterd/testing.rb clients/go/fake.go; do
    grep -ohE "[\"':][a-z]+" "$file" >"$tested" # "done", 'done' or :done, not any word
    in_each "$file" "$tested"
done
kind "a result" "$(rows answers answer | awk '{ print $3 }')"
for file in lib/later/job.h doc/later-job.3; do
    in_each "$file" "$file"
done
kind "a result that is not as any other" "$(grep -vx LATER_RETRY "$names")"
in_each daemon/reservation/job.c daemon/reservation/job.c
kind "an answer that handlers throw in PHP" \
    "$(rows answers answer | grep '| raised' | sed 's/ *|.*//; s/.*/\u&Job/')"
in_each "clients/php/src/*Job.php" clients/php/src/*Job.php
# After these no hook `failed` is called. What `make tables` writes does not count.
kind "an answer that is no attempt" "$(rows answers answer | sed -n 's/ *|.*it is no attempt.*//p')"
for file in clients/python/laterd/handlers.py clients/node/src/handlers.js clients/php/src/Handlers.php \
    clients/ruby/lib/laterd/handlers.rb clients/go/hooks.go; do
    sed '/@answers/,/@end/d' "$file" | grep -E 'instanceof|isinstance|is_a\?|== "' | sed 's/\([A-Za-z]\)Job\>/\1/g' |
        tr '[:upper:]' '[:lower:]' >"$tested"
    in_each "$file" "$tested"
done
kind "a result that is no attempt" "$(sed 's/.*/LATER_\U&/' "$names")"
in_each daemon/worker/attempt.c daemon/worker/attempt.c
kind "a member of a program's lines" "$(rows answers member | sed 's/ *|.*//')"
in_each "tests/unit/jobs/test_exec_lines*.c" tests/unit/jobs/test_exec_lines*.c

# Calls about flows have names of two words, and a program is told of its jobs (heard) by other means.
kind "a call of the clients" "$(grep -oE '"call": *\{"[a-z_]+"' tests/clients/conformance.json |
    sed 's/.*"\([a-z_]*\)"$/\1/' | grep -vx 'heard\|.*_flow')"
in_each tests/clients/README.md tests/clients/README.md
in_each_spelled tests/clients/driver.py tests/clients/driver.mjs tests/clients/driver.php tests/clients/driver.rb \
    tests/clients/driver.go tests/clients/driver_later.py clients/*/README.md clients/node/index.d.ts \
    clients/php/src/Queues.php clients/go/fake.go
kind "a call of the clients that is not made of others" "$(grep -vx 'call\|map\|wait_many' "$names")"
in_each_spelled clients/python/laterd/aio.py clients/python/laterd/testing.py clients/node/src/testing.js \
    clients/php/src/Testing/Fake.php clients/ruby/lib/laterd/testing.rb

kind "a counter" "$(strings lib/queue/inspect.c counters)"
in_each doc/protocol.md doc/protocol.md
in_each "tests/scripts/*.c" tests/scripts/*.c

kind "a counter of how jobs come and go" \
    "$(sed -n '/^enum later_counter {/,/LATER_CONSERVED,/s/.*LATER_COUNT_\([A-Z_]*\),.*/\L\1/p' lib/queue/inspect.h)"
for file in doc/later.1 doc/protocol.md; do
    grep 'pushed + adopted = ' "$file" >"$tested"
    in_each "the sum in $file" "$tested"
done

kind "a number of a queue's size" "$(sed -n '/^struct later_sizes {/,/^};/p' lib/queue/inspect.h | grep '^ ' |
    sed 's://*.*::; s/uint64_t\|bool\|double//; s/\[.*//' | tr -cs 'a-z_' '\n' | grep . | grep -vx 'news_age\|paused')" # of each part
sed -n '/^void sizes_add/,/^}/p' cli/sizes.c >"$tested"
in_each "sizes_add() of cli/sizes.c" "$tested"
kind "a name that size tells" "$(sed -n "s/^reply\[#reply + 1\] = '\(.*\)'/\1/p" scripts/size.lua)"
sed -n '/^### size/,/^### /p' doc/protocol.md >"$tested"
in_each "doc/protocol.md, size" "$tested"
sed -n '/^static .*inspect_count(/,/^}/p; /"plan"/p' lib/queue/inspect.c >"$tested"
in_each lib/queue/inspect.c "$tested"
kind "a member of size --json" \
    "$(sed -n '/^static void size_print_json/,/^}/p' cli/queues/size.c |
        grep -oE '[a-z_]+:%|jsonl_[a-z]+\(&json, "[a-z_]+' | sed 's/.*"//' | tr -d ':%')"
in_each "doc/later.1 or doc/operations.md" doc/later.1 doc/operations.md
kind "an age that size --json tells" "$(grep '^oldest_' "$names")" # which grows by itself
for file in web/live/snapshot.c tests/unit/web/test_snapshot.c web/pages/merge.js; do
    in_each "$file" "$file"
done

kind "a limit that pushes obey" "$(sed -n 's/.*"HSET %s \(max_[a-z]*\) .*/\1/p' lib/queue/inspect.c)"
for file in $(grep -lw max_jobs scripts/*.lua) lib/queue/queue_push.c doc/protocol.md; do # as the first of them
    in_each "$file" "$file"
done
in_each "tests/scripts/*.c" tests/scripts/*.c

kind "a field of a hash" "$(grep -ohE "'H(SET|SETNX|INCRBY)', [a-z_]+, '[a-z_]+'|\<count\([a-z_]+, '[a-z_]+'" scripts/*.lua \
    scripts/inc/*.lua | sed "s/.*, '//; s/'//")"
grep -o '`[^`]*`' doc/protocol.md >"$tested"
in_each "doc/protocol.md, between backticks" "$tested"

kind "a package" "$(sed -n 's/^Package: //p' debian/control)"
in_each doc/operations.md doc/operations.md

kind "a unit of durations" "$(sed -n '/ units\[\] = /,/;$/p' lib/base/duration.c | grep -oE '"[a-z]+"' | tr -d '"')"
for file in lib/base/duration.h doc/later.1 tests/unit/lib/test_cli_args.c; do
    grep -oE '["`. ][0-9]+[a-z]+' "$file" | tr -d '0-9' >"$tested"
    in_each "$file" "$tested"
done

kind "a name of a time" "$(sed -n '/ nicknames\[\]/,/^};/p' lib/cron/expression.c | grep -o '"@[a-z]*"' | tr -d '"@')"
sed -n '1,/\*\//p' lib/cron/expression.h >"$tested"
in_each "the head of lib/cron/expression.h" "$tested"
in_each "tests/unit/lib/*cron*.c or test_tick.c" tests/unit/lib/*cron*.c tests/unit/lib/test_tick.c
kind "a name of a time that people are told of" \
    "$(sed -n 's/^#define LATER_NICKNAMES //p' lib/cron/expression.h | grep -o '@[a-z]*' | tr -d @)"
grep -o '@[a-z]*' doc/later.1 >"$tested"
in_each doc/later.1 "$tested"

kind "a tag of a record" "$(grep -ohE "(with_value|value_of|count_of)\([^']*'[a-z]'" scripts/*.lua scripts/inc/*.lua |
    sed "s/.*'\(.\)'/\1/")"
sed -n '/^## Records/,/^## /s/^| `\([a-z]\)` .*/\1/p' doc/protocol.md >"$tested"
in_each "the table of doc/protocol.md, Records" "$tested"
sed -n '1,/\*\//p' lib/job/record.h | grep -ohE '\<[a-z]\>' >"$tested"
in_each "the head of lib/job/record.h" "$tested"

# dropped SCRIPT: the tags that it drops when a kick lets a job begin anew.
dropped() { sed -n "s/.*in ipairs(.*{ \('a', [^}]*\) }.*/\1/p" "$1" | grep -o '[a-z]'; }
kind "a tag that a kick drops" "$(dropped scripts/kick.lua && dropped scripts/act.lua)"
for file in scripts/kick.lua scripts/act.lua; do
    dropped "$file" >"$tested"
    in_each "$file" "$tested"
done

kind "a function for plugins" \
    "$(sed -n '/^struct later_host {/,/^};/p' lib/later/job.h | grep -oE '\(\*[a-z_]+\)' | tr -d '(*)')"
for file in daemon/worker/host.c tests/unit/fake_host.c; do
    in_each "$file" "$file"
done
kind "a call of plugins" "$(sed -n 's/^static inline .*\<\(later_[a-z_]*\)(.*/\1/p' lib/later/job.h)"
in_each doc/later-job.3 doc/later-job.3

kind "an ending" "$(sed -n '/^enum later_ending {/,/^};/p' lib/job/ending.h | grep -o 'LATER_ENDED_[A-Z_]*')"
in_each "lib/job/ending.c" lib/job/ending.c
in_each "what leads to it, daemon/*/*.c or lib/job/verdict.c" daemon/*/*.c lib/job/verdict.c
in_each "tests/unit/*/*.c" tests/unit/*/*.c
kind "a verb for reserved jobs" "$(sed -n '/^enum later_verb {/,/^};/p' lib/job/ending.h | grep -o 'LATER_VERB_[A-Z]*')"
for file in lib/queue/queue_settle.c lib/queue/event.c tests/unit/lib/test_event.c; do
    in_each "$file" "$file"
done
kind "a state that an end tells of" \
    "$(sed -n '/^static const char \*event_state/,/^}/p' lib/queue/event.c | grep -oE '"[a-z]+"' | tr -d '"')"
sed -n '/^## Events/,/^## Attempts/p' doc/protocol.md | grep '^| `state`' >"$tested"
in_each "doc/protocol.md, Events" "$tested"
for file in clients/python/laterd/events.py clients/node/index.d.ts clients/php/src/End.php clients/go/events.go \
    clients/ruby/lib/laterd/events.rb; do
    grep -iE '\<(state|expired)\>.*\<delayed\>' "$file" >"$tested"
    in_each "$file" "$tested"
done

kind "a service of queues" "$(sed -n 's/^ *{ \.make = \([a-z_]*\)_new,.*/\1/p' daemon/queues/services.c)"
sed -n '1,/\*\//p' daemon/queues/services.h >"$tested"
in_each "the head of daemon/queues/services.h" "$tested"
in_each daemon/queues/queues.h daemon/queues/queues.h
in_each doc/architecture.md doc/architecture.md
in_each "a test, tests/unit/*/*.c or tests/daemon/daemon_*.sh" tests/unit/*/*.c tests/daemon/daemon_*.sh

kind "a metric" "$(sed -n 's/.*exposition_family(.*"\(laterd_[a-z_]*\)", \([A-Z]*\).*/\1 \2/p' cli/see/*.c |
    sed 's/ COUNTER$/_total/; s/ INFO$/_info/; s/ [A-Z]*$//')"
in_each "doc/later.1" doc/later.1
{ outside sh; outside py; cat tests/system/metrics_rules.yml; } |
    sed 's/\(laterd_[a-z_]*_seconds\)_\(count\|bucket\|sum\)/\1/g' >"$tested"
in_each "a test, tests/system/metrics.sh" "$tested"

kind "what metrics know of a host" \
    "$(sed -n '/^struct host {/,/^};/p' cli/status/hosts.h | sed 's:/[*].*::; s/\[[^]]*\]//g' | grep '^ ' |
        sed 's/^ *[a-z0-9_]* //' | tr -cs 'a-z_' '\n' | grep .)"
sed -n '/^size_t hosts_list(/,/^}/p' cli/status/hosts.c >"$tested"
in_each "hosts_list() of cli/status/hosts.c" "$tested"

kind "what a host tells of itself" \
    "$(cat daemon/queues/announce*.c | grep -oE '\\"[a-z_]+\\":|write_reason\("[a-z_]+' | sed 's/.*("//' | tr -d '\\":')"
sed -n '/^Each laterd writes its field of/,/^## /p' doc/protocol.md >"$tested"
in_each "doc/protocol.md, where it says what a laterd writes into later:hosts" "$tested"
kind "what a host tells in numbers and names" "$(grep -vx 'fault\|reload_refused' "$names")" # those are sentences
{ outside sh; outside py; cat tests/unit/*/*.c; } | grep -oE "[\"'][a-z_]+\\\\?[\"']:" >"$tested"
in_each "a test, tests/daemon/daemon_hosts.sh" "$tested"

kind "a signal to laterd" "$(grep -ohE 'signal_table|\{ SIG[A-Z0-9]+,|sigaddset\(&both, SIG[A-Z0-9]+' daemon/supervisor/supervisor.c |
    grep -o 'SIG[A-Z0-9]*' | grep -vx SIGCHLD)"
grep -E '^\.(It )?Dv' doc/laterd.8 >"$tested"
in_each doc/laterd.8 "$tested"
grep -ohE 'kill -"?[A-Z0-9]+|for signal in .*;' tests/daemon/daemon*.sh | tr -cs 'A-Z0-9' '\n' | sed 's/^/SIG/' >"$tested"
in_each "tests/daemon/daemon*.sh" "$tested"
kind "a signal that workers ignore, since it may go to all processes" "$(grep -vxE 'SIG(TERM|QUIT|CONT)' "$names")"
in_each daemon/supervisor/process.c daemon/supervisor/process.c

kind "a trouble" "$(strings lib/trouble/trouble.c later_rules)"
for file in doc/later.1 tests/system/trouble_lib.sh; do
    in_each "$file" "$file"
done

kind "a reason to wait" "$(strings lib/trouble/why.c later_reasons)"
in_each doc/later.1 doc/later.1
{
    outside sh
    grep -oE 'LATER_WHY_[A-Z_]+' tests/unit/lib/test_why.c | sed 's/LATER_WHY_//' | tr '[:upper:]' '[:lower:]'
} >"$tested"
in_each "a test from outside, or tests/unit/lib/test_why.c" "$tested"

kind "a kind of Redis URL" "$(sed -n '/} kinds\[\] = {/,/};/p' lib/redis/address.c | grep -oE '"[a-z]+://' | tr -d '":/')"
for file in lib/redis/address.h lib/config/config_check.c doc/later.1 doc/laterd.conf.5 tests/unit/lib/test_address.c; do
    grep -oE '[a-z]+://' "$file" | tr -d ':/' >"$tested"
    in_each "$file" "$tested"
done
kind "a parameter of a Redis URL" "$(sed -n 's/.*{ "\([a-z]*\)=", address->.*/\1/p' lib/redis/address_tls.c)"
for file in lib/redis/address.h lib/config/config_check.c doc/later.1 doc/laterd.conf.5 tests/unit/lib/test_address.c; do
    grep -oE '[?&][a-z]+=' "$file" >"$tested"
    in_each "$file" "$tested"
done

# of_program FILE PAGE WHERE: the long options that FILE takes by getopt_long(3) are items of the page, and in WHERE...
of_program()
{
    kind "an option of the program ${2%.*}" "$(grep -oE '\{ "[a-z-]+", [a-z]+_argument,' "$1" | cut -d \" -f 2)"
    grep -E '^\.It Fl' "doc/$2" | grep -oE ' -[a-z-]+' | tr -d ' ' | sed 's/^-//' >"$tested"
    in_each "doc/$2" "$tested"
}
of_program daemon/main.c laterd.8
of_program web/options.c later-web.8
sed -n '/usage\[\] =/,/;$/p' web/options.c | grep -oE -e '--[a-z-]+' | sed 's/^--//' >"$tested"
in_each "the usage in web/options.c" "$tested"
grep -vx 'help\|version\|config\|redis\|prefix' "$names" >"$words" && mv "$words" "$names" # which are of later
grep -E '^\.Op Fl' doc/later-web.8 | grep -oE ' -[a-z-]+' | sed 's/^ -//' >"$tested"
in_each "doc/later-web.8, SYNOPSIS" "$tested"
grep -ohE -e '--[a-z-]+' tests/web/web*.sh tests/web/web*.py tests/system/systemd/*.sh | sed 's/^--//' >"$tested"
in_each "tests/web/web*" "$tested"

kind "what later-web says of who looks" \
    "$(sed -n '/^static void answer_me(/,/^}/p' web/server.c | grep -oE '[a-z_]+:%' | tr -d ':%')"
sed -n '/^\.It Pa me$/,/^\.[IE][tl]/p' doc/later-web.8 >"$tested"
in_each "doc/later-web.8, me" "$tested"

# of_plugin NAME: the options that a plugin compares with, besides its lists and groups.
of_plugin()
{
    file=jobs/$1_config.c
    kind "an option of $1" "$(grep -oE 'cmp\(dot, "\.[a-z_]+' "$file" | sed 's/.*\.//')"
    sed -n '/_config_help\[\] =/,/;$/p' "$file" >"$tested"
    in_each "the help in $file" "$tested"
    sed -n '/"unknown; there /,/;$/p' "$file" >"$tested"
    in_each "the message of an unknown one in $file" "$tested"
    awk -v plugin="$1" '/^\.S[sh]/ { on = $2 ~ "^" plugin } on' doc/later-job.3 >"$tested"
    in_each "doc/later-job.3, $1" "$tested"
    { cat tests/unit/jobs/test_exec*.c; outside sh; } | grep -oE '"it\.[a-z_]+|\<[a-z_]+ = ' | sed 's/.*\.//' >"$tested"
    in_each "a test" "$tested"
}
of_plugin exec
of_plugin http

kind "a page" "$(sed -n '/^const pages = /,/^};/p' web/pages/app.js | sed -n 's/^ *\([a-z]*\): .*/\1/p')"
in_each tests/web/web_pages.py tests/web/web_pages.py
in_each tests/web/web_stock.py tests/web/web_stock.py

kind "a file of systemd" "$(basename -a -s .in systemd/*.in | tr . _)"
sed -n '/^systemd_units = /,/tmpfiles$/p' Makefile.am | tr . _ >"$tested"
in_each "systemd_units or systemd_files of Makefile.am" "$tested"
sed -n 's/^\tcp //p' debian/rules | tr . _ >"$tested"
in_each debian/rules "$tested"
sed 's/^debian.later-web\.//; s/^debian.//' debian/clean | tr . _ >"$tested"
in_each debian/clean "$tested"
kind "a kind of file that debian/rules makes" "$(sed 's/.*\.//' debian/clean)"
in_each debian/.gitignore debian/.gitignore
kind "a unit" "$(basename -a systemd/*.in | grep -v 'sysusers\|tmpfiles' | sed 's/\.[^.]*\.in$//')"
in_each "tests/system/systemd" tests/system/systemd/*.sh
in_each "doc/laterd.8, doc/later-web.8 or doc/operations.md" doc/laterd.8 doc/later-web.8 doc/operations.md
kind "what systemd is told" "$(grep -oE '[A-Z_]+=' daemon/notify.c | tr -d =)"
in_each doc/laterd.8 doc/laterd.8

kind "a client" "$(basename -a clients/*/)"
for file in clients/carry.sh tests/clients/drivers.sh tests/clients/clients_packages.sh; do
    in_each "$file" "$file"
done
tr '[:upper:]' '[:lower:]' <doc/later-job.3 >"$tested"
in_each doc/later-job.3 "$tested"
kind "a parameter of an address of later-web" \
    "$(sed -n '/^} routes\[\]\|routes\[\] = {/,/^};/p' web/tasks/route.c | grep -oE '[?][a-z_]+' | tr -d '?')"
in_each doc/later-web.8 doc/later-web.8

kind "a program of doc/examples" "$(find doc/examples -type f ! -name '*.conf' ! -name '*.yaml' | sed 's|.*/||; s/\./-/')"
sed 's/\.\([a-z]*"\)/-\1/' doc/examples/laterd.conf >"$tested"
in_each doc/examples/laterd.conf "$tested"
kind "a handler of doc/examples/laterd.conf" "$(sed -n 's/^    \([a-z_]*\) = {$/\1/p' doc/examples/laterd.conf)"
in_each tests/system/examples.sh tests/system/examples.sh

kind "what a handler's job has in Ruby" "$(sed -n '/class Job/,/private/p' clients/ruby/lib/laterd/job.rb |
    sed -n '/attr_/,/[^,]$/p; s/^ *def \([a-z_]*\).*/:\1/p' | grep -oE ':[a-z_]+' | tr -d : | grep -vx 'initialize\|self')"
in_each clients/ruby/README.md clients/ruby/README.md
finish
