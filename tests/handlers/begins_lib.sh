# begins_lib.sh: when do jobs begin, as their program sees it? On top of daemon.sh.
# shellcheck shell=sh

# program_begins: prints begins.py, by which a program reads its lines, each with "SINCE UNTIL", times between
# which it has read the line's last byte. A busy machine may let it wait before it can look at the clock, so
# one time alone would be too late by that.
program_begins()
{
    cat <<'PYTHON'
import os, select, time


def lines():
    line = b""
    while True:
        since = time.monotonic()
        if not select.select([0], [], [], 0.01)[0]:
            continue
        byte = os.read(0, 1)
        until = time.monotonic()
        if not byte:
            return
        line += byte
        if byte == b"\n":
            yield line, "%f %f" % (since, until)
            line = b""
PYTHON
}

# most_begun: prints how many jobs of $work/times have begun at most within a second, for certain.
most_begun()
{
    sort -n "$work/times" | awk '{ since[NR] = $1; until[NR] = $2 } END {
        for (i = 1; i <= NR; i++) {
            n = 0
            for (j = i; j <= NR && since[j] < since[i] + 1; j++) n += until[j] < since[i] + 1
            if (n > most) most = n
        }
        print most }'
}
