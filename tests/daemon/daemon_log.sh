#!/bin/sh
# The log: in JSON each line is one object. No data of a job makes a line of its own, or a colour on
# a terminal. A log that nobody reads holds nobody up.
. "${top_srcdir:=.}/tests/system/daemon.sh"
start_redis

# Data of jobs that may get into the log: JSON strings with bytes of lines, terminals, other
# encodings.
texts='"one\ntwo" "\r\n{\"level\":\"error\",\"text\":\"forged\"}\n" "\u001b[31mred\u001b[0m\u0007"
    "\u009b31m\u0085\u2028\u2029" "quote \" and \\ and \\\" =" "\u007f\u0001\u001f" "größe 雪 🎉" "\ud83d\ude00"
    "2026-01-01T00:00:00.000Z error laterd: forged" "\t \b \f" "%s%n%p" ""'
long=$(awk 'BEGIN { for (i = 0; i < 900; i++) printf "ä雪"; }')

push_all()
{
    number=0
    {
        printf '%s\n' "$texts" | grep -o '"\([^"\\]\|\\.\)*"'
        printf '"%s"\n' "$long" "x$long" "xx$long" # it is cut somewhere, possibly within a character
    } >"$work/texts"
    while IFS= read -r text; do
        number=$((number + 1))
        push_do "job-$1-$number\"\\}{" "\"do\":\"log\",\"text\":$text" \
            '"max_attempts":1,"trace":"größe \"\\ = 雪"'
        # Bad documents: a duplicate member, which the error names; a trace, which may have no
        # control bytes.
        push_script "bad-$1-$number" "{\"type\":\"note\",$text:1,$text:2}" >/dev/null
        push_script "trace-$1-$number" "{\"type\":\"note\",\"trace\":$text,\"trace\":1}" >/dev/null
    done <"$work/texts"
    total=$number
}

# ---- JSON

configure 'workers = 2;' 'log = { level = "debug"; format = "json"; };'
start_laterd() # the text that daemon.sh waits for is in a member here
{
    : >"$log"
    launch
    wait_until 20 logged '"ready: '
}
start_laterd
push_all json
within 20 "jobs with all kinds of bytes are dead" counts buried $((3 * total))
push_many 50 note null fine-
within 20 "others are done" counts 'done' 50
stop_laterd
runs "every line is one JSON object" "$tools/json_lines" <"$log"
is "$("$tools/json_lines" level text <"$log" | grep -c '^"error".*forged')" 0 "no line is forged"
at_least "$("$tools/json_lines" level text <"$log" | grep -c '^"warn".*forged')" 4 "but is in texts"
LC_ALL=C tr -d '\n' <"$log" | LC_ALL=C tr -d '\040-\176\200-\377' >"$work/control"
is "$(wc -c <"$work/control")" 0 "no control byte is in it"
"$tools/json_lines" time level process text <"$log" >"$work/all"
is "$(wc -l <"$work/all")" "$(wc -l <"$log")" "each line has time, level, process and text"
is "$(grep -vcE '^"20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z"	"(error|warn|info|debug)"	"(laterd|worker [0-9]+)"	"' \
    "$work/all")" 0 "of the right form"
"$tools/json_lines" job queue type attempt ms <"$log" >"$work/jobs.log"
is "$(grep -c '"fine-[0-9]*"	"default"	"note"	1	[0-9]' "$work/jobs.log")" 50 \
    "a job's end tells job, queue, type, attempt and ms"
is "$("$tools/json_lines" trace text <"$log" | grep -cF '"größe \"\\ = 雪"')" "$((2 * total))" \
    "the trace comes whole: with what the handler said, and at the end"
is "$("$tools/json_lines" text <"$log" | grep -cF '"one\ntwo"')" 1 "a text comes whole, too"

# ---- text

configure 'workers = 2;'
: >"$log"
launch
wait_until 20 logged ' ready: '
push_all text
within 20 "the same jobs again" counts buried $((6 * total))
stop_laterd
is "$(LC_ALL=C grep -avcE '^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z (error|warn|info|debug) (laterd|worker [0-9]+): ' \
    "$log")" 0 "text: each line begins with time, level and process"
is "$(grep -acE '^[^ ]* error laterd: forged' "$log")" 0 "text: no line is forged"
LC_ALL=C tr -d '\n' <"$log" | LC_ALL=C tr -d '\040-\176\200-\377' >"$work/control"
is "$(wc -c <"$work/control")" 0 "text: no control byte is in it"

# ---- a level, and a log that nobody reads

configure 'workers = 2;' 'log = { level = "warn"; };'
: >"$log"
launch
push_many 10 note null silent-
within 10 "level warn" counts 'done' 60
stop_laterd
is "$(grep -cE ' (info|debug) ' "$log")" 0 "info and debug are left out"

# ---- no standard error: what is opened next has not its number, and gets no line

configure 'workers = 2;' 'log = { level = "debug"; rate = 0; };'
"$laterd_bin" -c "$work/laterd.conf" </dev/null 2>&- &
laterd_pid=$!
own "$laterd_pid"
# Its workers may be quicker than itself.
awaited 20 "it is healthy" later -c "$work/laterd.conf" status --local
push_many 100 note null closed-
within 10 "with standard error closed" counts 'done' 160
run later -c "$work/laterd.conf" status --local
is "$status $err" "0 " "it is healthy still, and no line of the log is in its page"
stop_laterd

configure 'workers = 2;' 'log = { level = "debug"; rate = 0; };'
mkfifo "$work/full"
exec 4<>"$work/full"
"$laterd_bin" -c "$work/laterd.conf" 2>"$work/full" 4>&- &
laterd_pid=$!
own "$laterd_pid"
push_many 5000 note null unread-
within 20 "jobs are performed though nobody reads the log" counts 'done' 5160
dd bs=4096 count=4 <&4 >/dev/null 2>&1 # room for a few lines again
push_many 2 note null again-
wait_until 10 counts 'done' 5162
cat <&4 >"$work/rest" &
reader=$!
own "$reader"
told()
{
    grep -q 'log lines were dropped' "$work/rest"
}
push_many 2 note null seen-
within 10 "the log tells how many lines were dropped" told
end_well
finish
