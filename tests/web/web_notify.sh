#!/bin/sh
# later-web --notify-file: the begin and the end of a trouble are posted, once each, to a real server
# of HTTP, also with TLS; what is not taken is posted again; the URL, which may be a secret, is in no
# log.
. "${top_srcdir:=.}/tests/system/lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
. "$top_srcdir/tests/system/tls_lib.sh"
needs python3 openssl
start_redis 'appendonly no'
export work

url=$work/url
# refused WORDS NAME: with this URL it does not start.
refused()
{
    run "$web_bin" --listen "unix:$work/none.sock" --notify-file "$url"
    like "$status $(echo "$err" | tail -n 1)" "^78 .*$1" "$2"
    is "$(echo "$err" | grep -c 's3cret')" 0 "$2: the URL is not said"
}
(umask 077; echo 'ftp://ours.example/s3cret' >"$url")
refused 'url: its first line must be http://HOST' "another kind of URL is refused"
echo 'http://ours.example/s3cret ca=/nowhere' >"$url"
refused 'url: its first line must be http://HOST' "files for TLS are refused without it"
echo 'https://ours.example/s3cret ca=/nowhere' >"$url"
refused 'url: TLS: cannot read the authority.s certificate /nowhere' "an authority that is not there"
echo 'http://me:s3cret@ours.example/' >"$url"
refused 'url: its first line must be http://HOST' "a password in the URL is refused"
echo 'http://ours.example/s3cret' >"$url"
chmod 644 "$url"
refused 'url: others may read' "a file that others can read is refused"
rm "$url"
refused 'url: No such file' "a file that is not there"

authority ours
certificate here ours IP:127.0.0.1
certificate late ours IP:127.0.0.1 0
python_tests web/web_notify.py "$web_bin" "$redis_pids"
finish
