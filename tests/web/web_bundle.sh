#!/bin/sh
# What a browser gets of the pages' scripts and of their style sheet says what they say.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs python3 node
export work
python_tests web/web_bundle.py "$(cd "$top_srcdir" && pwd)/web"
finish
