#!/bin/sh
# Handlers in Ruby: how a program of the client reads, ends a job that is asked to stop, and ends itself.
# What its handlers answer is in handlers_answers.sh. It is driven by hand here, without laterd.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/handlers/lines_lib.sh"
if ! command -v ruby >/dev/null; then
    echo '1..0 # SKIP ruby is not installed'
    exit 0
fi
cat >"$work/app.rb" <<'RB'
require "laterd"

app = Laterd::Handlers.new
app.on("name.*") { |job| "#{job.type} #{job.payload} #{Laterd.current_job.equal?(job)}" }
app.on("name.exact") { "exact" }
app.on("patient") do |job|
  File.write(job.payload, "begun")
  sleep 0.01 until job.cancelled?
  raise Laterd::Return.new("cancelled", in: -5)
end
app.on("deaf") do |job|
  File.write(job.payload, "begun")
  sleep
rescue StandardError
  "held"
end
app.run(max_jobs: ENV["MAX_JOBS"].to_i)
RB

# program PARALLEL [VARIABLE=VALUE]...: performs what it reads, and prints what it writes to descriptor 3.
program()
{
    parallel=$1
    shift
    env LATER_ANSWERS=3 LATER_PARALLEL="$parallel" "$@" ruby -I "$top_srcdir/clients/ruby/lib" "$work/app.rb" 3>&1 >/dev/null
}

told=$( (job 1 name.a '"é"' && job 2 name.exact && job 3 other) | program 0)
is "$told" '{"hello":1,"stopping":true,"types":[{"name":"deaf"},{"name":"name.*"},{"name":"name.exact"},{"name":"patient"}]}
{"id":"1","result":"done","value":"name.a é true"}
{"id":"2","result":"done","value":"exact"}
{"id":"3","result":"bury","error":"the program has no handler for type other"}' \
    "one after the other: the longest name, else the longest beginning"

told=$( (
    job 4 patient "\"$work/four\""
    begun four
    printf '{"id":"gone","cancel":true}\n{"id":"4","cancel":true}\n'
) | program 4)
# Whether it is the `last` depends on whether the end of the input is seen before its end.
like "$told" '"id":"4","result":"return","error":"cancelled","in":0[,}]' "with threads a job sees that it is cancelled"

told=$( (
    printf '%s\n%s\n%s\n%s' "$(job 5 name.five)" "$(job 6 name.six)" "$(job 7 name.seven)" '{"id":"8",'
    sleep 0.1 # the piece is read alone, or with the rest: it must be answered in both cases
    printf '"type":"name.eight","document":{}}\n'
    begun ended # it ends by itself, not with its input
) | (
    program 4 MAX_JOBS=2
    echo over >"$work/ended"
))
is "$(echo "$told" | grep -c '"result":"done"')" 4 "after the last job it answers what it has read, also in part, and ends"

$AWK 'BEGIN { for (n = 0; n < 20000; n++)
    printf "{\"id\":\"m-%d\",\"type\":\"name.many\",\"document\":{}}\n", n }' >"$work/many"
is "$(program 8 <"$work/many" | grep -c '"result":"done"')" 20000 "its threads have answered all when it ends"

mkfifo "$work/in"
LATER_ANSWERS=3 ruby -I "$top_srcdir/clients/ruby/lib" "$work/app.rb" <"$work/in" 3>"$work/told" >/dev/null &
pid=$!
exec 4>"$work/in"
job 10 deaf "\"$work/ten\"" >&4
begun ten
kill -TERM "$pid"
until grep -q '"id":"10"' "$work/told"; do
    sleep 0.05
done
contains "$(cat "$work/told")" '{"id":"10","result":"retry","error":"Laterd::TimeIsUp: laterd ends the program' \
    "SIGTERM ends the job that runs, past rescue"
job 11 name.after >&4
exec 4>&-
wait "$pid"
is "$? $(tail -n 1 "$work/told")" '0 {"id":"11","result":"done","value":"name.after  true"}' "the next is performed; it ends with its input"

told=$(ruby -I "$top_srcdir/clients/ruby/lib" -e '
require "laterd"; print defined?(Redis).inspect, $LOADED_FEATURES.grep(%r{/redis\.rb}).size')
is "$told" '"constant"0' "handlers do without the gem redis"
finish
