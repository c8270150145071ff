#!/bin/sh
# The top of the pages: each trouble is provoked, seen there with since and command, and gone when it is
# mended. later-web looks every five seconds.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/system/web_lib.sh"
needs python3 chromium chromedriver
start_redis
export work

start_web --listen 127.0.0.1:0
mkfifo "$work/ask" "$work/told"
python3 "$top_srcdir/tests/system/web_troubles.py" "$(sed -n 's/.*listening: //p' "$web_log")" "$web_where" <"$work/ask" >"$work/told" 2>"$work/page.err" &
page_pid=$!
own "$page_pid"
exec 7>"$work/ask" 8<"$work/told"

# on_page WORD: what web_troubles.py says to this.
on_page()
{
    echo "$1" >&7
    IFS= read -r told <&8
    echo "$told"
}
rules()
{
    on_page rules
}
in_order()
{
    on_page order
}
looks()
{
    on_page line >"$work/line"
    page=$(on_page first)
    like "$page" "$2" "$3: on top of the page"
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
