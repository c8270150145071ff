#!/bin/sh
# Whatever a program answers on descriptor 3, its job ends at once and runs once: values come back
# byte for byte, or the log says why they do not.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs python3
start_redis

# How the job ends, and the answer: @ is its id, ~ a byte that is no UTF-8, the words in capitals are
# long. A line without an answer to a job that can be told is not in it: see below.
cat >"$work/answers" <<'TABLE'
done [19.99,100.1]|{"id":"@","result":"done","value":[19.99,100.1]}
done [ 1.10,-0.0,1E2 ]|{"id":"@","result":"done","value": [ 1.10,-0.0,1E2 ] }
done 12345678901234567890|{"id":"@","result":"done","value":12345678901234567890}
done 0.1000000000000000055511151231257827|{"id":"@","value":0.1000000000000000055511151231257827,"result":"done"}
done "a\u0000b"|{"id":"@","result":"done","value":"a\u0000b"}
done "\u00e9\/"|{"id":"@","result":"done","value":"\u00e9\/"}
done {"b":1,"a":{"]":"}\""}}|{"result":"done","value":{"b":1,"a":{"]":"}\""}},"id":"@"}
done null|{"id":"@","result":"done","value":null}
done null|{"id":"@","result":"done"}
done null|{"id":"@","result":"done","value":1e400}
done null|{"id":"@","result":"done","value":NaN}
done null|{"id":"@","result":"done","value":[Infinity,-Infinity]}
done null|{"id":"@","result":"done","value":"\ud800"}
done null|{"id":"@","result":"done","value":"~"}
done null|{"id":"@","result":"done","value":{"a":1,"a":2}}
done null|{"id":"@","result":"done","value":'a'}
done null|{"id":"@","result":"done","value":undefined}
done null|{"id":"@","result":"done","value":[1,]}
done null|{"id":"@","result":"done","value":[1}
done null|{"id":"@","result":"done","value":"LONG"}
done null|{"id":"@","result":"done","value":"LONGER"}
done null|{"id":"@","result":"done","value":DEEP}
done null|{"id":"@","result":"done","value":[1,2
done null|{"id":"@","result":"done",}
done null|{"id":"@","result":"done"}}
done null|{"id":"@","result":"done","more":nope}
done null|{"id":"@","result":"done","value":1,"value":2}
dead a?b|{"id":"@","result":"bury","error":"a\u0000b"}
dead half \ud800|{"id":"@","result":"bury","error":"half \ud800"}
dead bad|{"id":"@","result":"bury","error":"bad","in":Infinity}
dead the program gave no reason|{"id":"@","result":"bury","error":NaN}
dead its program answered with a line longer than 131072 bytes: |{"id":"@","result":"bury","error":"LONGER"}
dead its program answered with a line that is not JSON: |{"id":"@"
dead its program answered with a line that is not JSON: |{"id":"@","result":done}
dead its program answered with a line that is not JSON: |{"id":"@","result":"do
dead its program answered with a line that is not JSON: |{"id":"@" "result":"done"}
dead its program answered with a line that is not JSON: |{"id":"@",'result':'done'}
dead its program answered with a line that has a member twice: |{"id":"@","result":"bury","result":"done"}
dead its program answered with a line longer than 131072 bytes: |{"id":"@","value":"LONGER","result":"done"}
dead its program answered with a line longer than 131072 bytes: |{"id":"@","value":[LONGER
TABLE
cat >"$work/alone" <<'TABLE'
dead its program answered with a line that is not JSON: |ok
dead its program answered with a line that is not JSON: |
dead its program answered with a line that is not a JSON object: |"done"
dead its program answered with a line without an id: |{"result":"done"}
dead its program answered with a line that has a member twice: |{"id":"@","id":"@","result":"done"}
dead its program answered with a line longer than 131072 bytes: |LONGER
TABLE
# The last words of programs that end then: no newline follows.
cat >"$work/last" <<'TABLE'
done 7|{"id":"@","result":"done","value":7}
dead gone|{"id":"@","result":"bury","error":"gone"}
TABLE
cat >"$work/raw.py" <<'PYTHON'
import json, os, sys

answers = os.fdopen(3, "wb")
for line in sys.stdin:
    job = json.loads(line)
    with open(os.environ["NOTES"] + "/runs", "a") as runs:
        print(job["id"], file=runs)
    answer = job["document"]["payload"].replace("@", job["id"]).replace("~", "\xff")
    answer = answer.replace("LONGER", "x" * 200000).replace("LONG", "x" * 70000)
    answer = answer.replace("DEEP", "[" * 200 + "]" * 200)
    ends = "last" in job["type"]
    answers.write(answer.encode("latin-1") + (b"" if ends else b"\n"))
    answers.flush()  # all of it: a write without a buffer may be a short one
    if ends:
        sys.exit()
PYTHON
mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = {
    serial = { argv = ( "$(command -v python3)", "$work/raw.py" ); env = { NOTES = "$work"; }; lines = true; };
    parallel = { argv = ( "$(command -v python3)", "$work/raw.py" ); env = { NOTES = "$work"; }; lines = true;
                 parallel = 100; };
    serial_last = { argv = ( "$(command -v python3)", "$work/raw.py" ); env = { NOTES = "$work"; }; lines = true; };
    parallel_last = { argv = ( "$(command -v python3)", "$work/raw.py" ); env = { NOTES = "$work"; }; lines = true;
                      parallel = 100; };
}; }; };
CONF
configure 'workers = 1;' 'timeout = 600.0;'
start_laterd

# push_answers PROGRAM TABLE: pushes a job for each answer.
push_answers()
{
    python3 - "$1" "$work/$2" <<'PYTHON' | later push --file - >/dev/null
import json, sys

for number, line in enumerate(open(sys.argv[2])):
    print(json.dumps({"type": "exec." + sys.argv[1], "id": "%s-%d" % (sys.argv[1], number), "result": 600,
                      "payload": line.rstrip("\n").split("|", 1)[1]}))
PYTHON
}

# check_answers PROGRAM TABLE: has each ended as it should?
check_answers()
{
    number=0 odd=
    while IFS='|' read -r wanted answer; do
        run later wait "$1-$number"
        case $wanted in
        done*) [ "$status:done $out" = "0:$wanted" ] || odd="$odd$answer: $status $out$err; " ;;
        dead*)
            case $status:$err in
            "65:later wait: $1-$number is dead: "*": ${wanted#dead }"*) ;;
            *) odd="$odd$answer: $status $out$err; " ;;
            esac
            ;;
        esac
        number=$((number + 1))
    done <"$work/$2"
    is "$odd" '' "$1: each of $number answers ends its job as it should"
    is "$(grep "^$1-" "$work/runs" | sort | uniq -d)" '' "$1: none ran twice"
}

for program in serial parallel; do
    push_answers "$program" answers
    within 60 "$program: all end at once, long before their time" settled
    check_answers "$program" answers
done
for program in serial_last parallel_last; do
    push_answers "$program" last
    within 60 "$program: all end" settled
    check_answers "$program" last
done
: >"$work/runs"
redis_all FLUSHALL >/dev/null
push_answers serial alone
within 60 "one at a time: a line without an id ends the job, too" settled
check_answers serial alone
for reason in 'longer than 65536 bytes' 'done without its value: its program answered with a line longer than'; do
    within 20 "the log says why a value is lost: $reason" logged "$reason"
done

# Of a program with many jobs nobody knows whose line it was: it is logged, and the others go on.
push_job nobody '"type":"exec.parallel","payload":"ok"'
push_job after '"type":"exec.parallel","payload":"{\"id\":\"@\",\"result\":\"done\"}"'
within 20 "many at once: the others go on" unknown after
within 20 "many at once: a line of nobody is logged" logged 'parallel: refused a line that is not JSON: ok'
later cancel nobody >/dev/null
end_well
finish
