#!/bin/sh
# later status --lately: what a program sees that looks again and again, and what it costs Redis.
. "${top_srcdir:=.}/tests/system/lib.sh"
needs python3
start_redis 'appendonly no'
python_tests cli/cli_lately.py "$redis_kind"
finish
