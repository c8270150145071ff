#!/bin/sh
# The handlers of doc/examples, with their own configuration: each does what it should, buries bad
# payloads, and tries again if that may help.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3 node php
start_redis

examples=$(cd "$top_srcdir/doc/examples" && pwd)
mkdir -p "$work/conf.d" "$work/out"
# As it is shipped, except for the paths of files and interpreters on this machine.
sed -e "s|/usr/local/share/doc/laterd/examples|$examples|" -e "s|/var/tmp|$work/out|" \
    -e "s|/usr/bin/python3|$(command -v python3)|" -e "s|/usr/bin/node|$(command -v node)|" \
    -e "s|/usr/bin/php|$(command -v php)|" "$examples/laterd.conf" >"$work/conf.d/examples.conf"
configure
start_laterd

order()
{
    printf '"type":"exec.%s","payload":%s' "$1" \
        '{"order":"'"$2"'","items":[{"name":"tea","price":450,"count":2},{"price":5,"count":20}]}'
}

for program in receipt_once receipt_python receipt_node receipt_php; do
    number=$(echo "$program" | tr -d _)
    push_job "$program" "$(order "$program" "$number")"
    within 20 "$program: a job is done" unknown "$program"
    is "$(cat "$work/out/$number.receipt")" "$number 1000" "$program: the receipt is right"

    push_job "$program-bad" "\"type\":\"exec.$program\",\"payload\":{\"order\":\"../x\",\"items\":[]}"
    push_job "$program-none" "\"type\":\"exec.$program\""
    within 20 "$program: bad payloads are buried" eval "is_dead $program-bad && is_dead $program-none"
    contains "$(error_of "$program-none")" 'bad payload' "$program: with the reason"
    is "$(counted released)" 0 "$program: and not tried again"
done

mv "$work/out" "$work/away"
for program in receipt_python receipt_node receipt_php; do
    push_job "$program-later" "$(order "$program" later)"
    within 20 "$program: what cannot be written is tried again" is_delayed "$program-later"
    due=$(redis ZSCORE "$(key delayed)" "$program-later")
    at_least "$(sum "$due - $(present)")" 40 "$program: s until then"
done
push_job receipt_once-later "$(order receipt_once later)"
within 20 "receipt_once: so it is here" counts released 4
mv "$work/away" "$work/out"
for program in receipt_once receipt_python receipt_node receipt_php; do
    later kick "$program-later" >/dev/null 2>&1
    within 20 "$program: later it is done" unknown "$program-later"
done
is "$(cat "$work/out/later.receipt")" 'later 1000' "once it can be"

push_job archive-1 '"type":"exec.archive", "payload":[1,  2]'
within 20 "archive: a job is done" unknown archive-1
is "$(cat "$work/out/archive-1.json")" '{"type":"exec.archive", "payload":[1,  2]}' \
    "archive: the document, byte for byte"
push_job ../../etc/x '"type":"exec.archive"'
within 20 "archive: an id that is no file name is buried" is_dead ../../etc/x

for i in 1 2 3 4 5; do
    push_job "journal-$i" '"type":"exec.journal","payload":"a\"b"'
done
within 20 "journal: five jobs are done" eval '! is_known journal-5 && ! is_known journal-1 &&
    ! is_known journal-2 && ! is_known journal-3 && ! is_known journal-4'
is "$(grep -c '"id":"journal-[1-5]".*"document":{"type":"exec.journal","payload":"a\\"b"}}$' \
    "$work/out/journal")" 5 "journal: a line for each"
end_well
is "$(grep -c ' warn .*\(refused\|died\)' "$log")" 0 "none of them said a wrong line or died"
finish
