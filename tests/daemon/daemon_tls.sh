#!/bin/sh
# TLS at one server: laterd, later and later-web by rediss://, what is refused and in which words, and
# what happens when certificates change.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/system/tls_lib.sh"
. "$top_srcdir/tests/web/web_lib.sh"
needs redis-server redis-cli openssl python3

authority ours
authority theirs
certificate server ours DNS:localhost,IP:127.0.0.1,DNS:redis.example.org
certificate old ours DNS:localhost 0 # it has ended when it is used
certificate foreign theirs DNS:localhost
certificate client ours DNS:laterd
certificate stranger theirs DNS:laterd
cp "$work/server.crt" "$work/used.crt"
cp "$work/server.key" "$work/used.key"

REDISCLI_AUTH=secret
export REDISCLI_AUTH
start_redis "$(tls_options used ours)" 'tls-auth-clients yes' 'requirepass secret' 'appendonly yes'
port=$(open_port tls-port)
plain=$(open_port port)

# ---- what is wrong is said, with the remedy

good="ca=$work/ours.crt&cert=$work/client.crt&key=$work/client.key"
# told AUTHORITY-AND-QUERY WORDS NAME: the URL is refused in these words.
told()
{
    run later --redis "rediss://$1" size
    is "$status" 69 "$3: exit 69"
    like "$err" "$2" "$3: in words"
}

# use NAME: Redis has this certificate for the next connections.
use()
{
    cp "$work/$1.crt" "$work/used.crt"
    cp "$work/$1.key" "$work/used.key"
    redis config set tls-cert-file "$work/used.crt" tls-key-file "$work/used.key" >/dev/null
}

run later --redis "rediss://default:secret@localhost:$port/0?$good" push note --id first
is "$status" 0 "a good certificate, ours shown, a password: a job is pushed"
run later --redis "rediss://:secret@127.0.0.1:$port?$good" size
is "$status" 0 "a certificate may name an address"
run later --redis "rediss://:secret@127.0.0.1:$port?$good&name=redis.example.org" size
is "$status" 0 "name= is the name to be found"
told ":secret@localhost:$port?$good&name=redis.example.net" \
    'wrong name: it is for localhost, 127\.0\.0\.1, redis\.example\.org, not for redis\.example\.net.* name=' \
    "a wrong name"
told ":secret@localhost:$port?$(echo "$good" | sed 's/ours/theirs/')" \
    'unknown authority: ours, which is not in .*/theirs\.crt: name its file by ca=' \
    "another authority"
told ":secret@localhost:$port" "unknown authority: ours, which is not in this system's list" \
    "without ca= those of the system count"
told ":secret@localhost:$port?ca=$work/ours.crt" 'none was shown: name it by cert= and key=' \
    "no certificate shown"
told ":secret@localhost:$port?ca=$work/ours.crt&cert=$work/stranger.crt&key=$work/stranger.key" \
    'does not know the authority of our certificate .*/stranger\.crt: .*tls-ca-cert-file' \
    "a certificate of an authority that Redis does not know"
told ":secret@localhost:$port?ca=$work/ours.crt&cert=$work/old.crt&key=$work/old.key" \
    'our certificate .*/old\.crt has expired: renew it' "a certificate of ours that has expired"
told ":secret@localhost:$port?ca=$work/ours.crt&cert=$work/client.crt&key=$work/server.key" \
    'the key .*/server\.key does not belong to the certificate .*/client\.crt' "another key"
told ":secret@localhost:$port?ca=$work/none.crt" 'cannot read .*/none\.crt: No such file' "no file"
told ":secret@localhost:$port?ca=$work/ours.key" '/ours\.key is not right: it must be in PEM' \
    "a file that is no certificate"
openssl ec -aes128 -passout pass:word -in "$work/client.key" -out "$work/locked.key" 2>/dev/null
told ":secret@localhost:$port?ca=$work/ours.crt&cert=$work/client.crt&key=$work/locked.key" \
    '/locked\.key is not right: .*without a passphrase' "a key with a passphrase"
told ":secret@localhost:$plain?$good" '(no handshake in time|does not speak it).*tls-port' "a port without TLS"
use old
told ":secret@localhost:$port?$good" \
    "the certificate of the server has expired on [0-9]{4}-[0-9]{2}-[0-9]{2}: renew it" "expired"
use server
run later --redis "rediss://:wrong@localhost:$port?$good" size
is "$status" 77 "a wrong password in the URL: exit 77"
is "$(echo "$err" | grep -c ':wrong')" 0 "which is not repeated"
run later --redis "rediss://:%73ecret@localhost:$port?$good" size
is "$status" 0 "%XX is what it means"
run later --redis "redis://localhost:$plain?$good" size
like "$status $err" '^64 .*needs TLS: rediss://' "files without TLS are refused"
run later --redis "redis://localhost:$port" size
like "$status $err" '^69 .*; if that port is for TLS, its URL begins with rediss://' "a port for TLS without it: what to write"

# ---- laterd, later, later-web

LATER_REDIS_URL="rediss://default:secret@localhost:$port/0?$good"
export LATER_REDIS_URL
configure
runs "laterd -t takes the URL" "$laterd_bin" -t -c "$work/laterd.conf"
sed 's|ca=/|ca=./|' "$work/laterd.conf" >"$work/relative.conf"
run "$laterd_bin" -t -c "$work/relative.conf"
like "$status $err" '^78 .*ca, cert and key must begin with /' "but no relative file"
start_laterd
within 20 "the job pushed first is performed" reached ended 1

# push_notes COUNT NAME: pushes jobs NAME-1, NAME-2 …
push_notes()
{
    awk -v count="$1" -v name="$2" 'BEGIN { for (i = 1; i <= count; i++)
        printf "{\"id\":\"%s-%d\",\"type\":\"note\"}\n", name, i }' | later push --file - >/dev/null
}

push_notes 500 job
within 20 "500 jobs are performed" reached ended 501
within 5 "all are done" settled
redis client list | grep 'name=laterd' >"$work/clients"
at_least "$(wc -l <"$work/clients")" 5 "laterd is connected"
is "$(grep -c "laddr=[^ ]*:$port " "$work/clients")" "$(wc -l <"$work/clients")" "only by TLS"

# A megabyte in one job, and answers longer than what is read in one go.
for n in 1 2 3 4; do
    head -c 750000 /dev/urandom | base64 -w 0 | sed 's/.*/"&"/' >"$work/large-$n"
    later push note - -q large --id "large-$n" <"$work/large-$n" >/dev/null
done
later show -q large large-1 large-2 large-3 large-4 --json >"$work/shown"
is "$(python3 - "$work" 2>&1 <<'PROGRAM'
import json, sys
for number, line in enumerate(open(sys.argv[1] + '/shown')):
    sent = json.load(open(f'{sys.argv[1]}/large-{number + 1}'))
    print(json.loads(json.loads(line)['document'])['payload'] == sent)
PROGRAM
)" "$(printf 'True\nTrue\nTrue\nTrue')" "four megabytes come back as they were"

token=0123456789abcdef-test
echo "$token" >"$work/token"
chmod 600 "$work/token"
start_web --listen 127.0.0.1:0 --token-file "$work/token"
is "$(python3 - "$web_where" "$token" 2>&1 <<'PROGRAM'
import sys, urllib.request
request = urllib.request.Request(f'http://{sys.argv[1]}/api/1/queues',
                                 headers={'Authorization': 'Bearer ' + sys.argv[2]})
print('"queue":"large"' in urllib.request.urlopen(request, timeout=60).read().decode())
PROGRAM
)" True "the pages show the queue"
stop_web

# ---- connections break, certificates change

redis client kill type normal skipme yes >/dev/null
push_notes 20 after
within 20 "after all connections were cut off, it performs" reached ended 521
is "$(how_often secret)" 0 "the password is not in the log"
: >"$log"
use foreign
redis client kill type normal skipme yes >/dev/null
within 20 "with a certificate of another authority laterd waits" logged 'redis is away: TLS: '
like "$(grep -F 'redis is away: TLS: ' "$log" | head -n 1)" 'unknown authority: theirs' "and says why"
is "$(how_often secret)" 0 "the password is not in these lines either"
use server
within 20 "with the right one it goes on" logged 'redis is back'
push_notes 20 again
within 20 "and performs" reached ended 541
end_well
finish
