#!/bin/sh
# The top of the pages: each trouble is provoked, seen there within 10 s with since and command, and gone within
# 10 s when it is mended; `later status --trouble` and what is posted say the same.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 chromium chromedriver
start_redis
export work redis_socket

mkfifo "$work/ask" "$work/told"
python3 "$top_srcdir/tests/web/web_troubles.py" <"$work/ask" >"$work/told" 2>"$work/page.err" &
page_pid=$!
own "$page_pid"
exec 7>"$work/ask" 8<"$work/told"
IFS= read -r port <&8
(umask 077; echo "http://127.0.0.1:$port/" >"$work/url")
start_web --listen 127.0.0.1:0 --notify-file "$work/url" 7>&- 8<&- # page_pid ends when nobody asks
subjects=

# on_page WORD: what web_troubles.py says to this.
on_page()
{
    echo "$1" >&7
    IFS= read -r told <&8
    echo "$told"
}
on_page "go $(sed -n 's/.*listening: //p' "$web_log") $web_where" >/dev/null
rules()
{
    on_page rules
}
shows()
{
    told=$(on_page "soon $1")
    echo "# after ${told%% *} s"
    case ${told#* } in
    [012]) ok "$2, by the second look, which is within 10 s" ;;
    *) not_ok "$2, by the second look: $told" "$work/page.err" ;;
    esac
}
in_order()
{
    on_page order
}
# on_top PATTERN: is the first line so? A look may have been under way when the trouble was provoked.
on_top()
{
    page=$(on_page first)
    echo "$page" | grep -Eq -e "$1"
}
looks()
{
    within 10 "$3: on top of the page" on_top "$2"
    on_page line >"$work/line"
    is "$(on_page subjects)" "$(subjects_of <"$work/lines")" "$3: later status --trouble says the same"
    subjects="$subjects $(subjects_of <"$work/lines")"
    case $(field since <"$work/line") in
    null) like "$page" " $1( |$)" "$3: its rule" ;;
    *) like "$page" " $1 · since .*, for [0-9.]+ (s|min|h|d)" "$3: its rule, and since when" ;;
    esac
    case $page in
    *"$(field command <"$work/line")"*) ok "$3: what to do" ;;
    *) not_ok "$3: what to do: $page" "$work/line" ;;
    esac
}
looks_well()
{
    like "$(on_page well)" '^✓ No trouble, looked at ' "$1: it says so"
}

. "$top_srcdir/tests/system/trouble_lib.sh"

is "$(on_page "told $subjects")" all "begin and end of each were posted"

stop_laterd
stop_redis
# away: does it say that it does not know?
away()
{
    on_page well | grep -q 'Whether there is trouble is not known'
}
within 10 "without Redis" away
exec 7>&-
wait "$page_pid"
finish
