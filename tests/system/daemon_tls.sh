#!/bin/sh
# TLS through a tunnel: Debian's stunnel4, configured as in doc/operations.md, in front of a Redis
# that only takes TLS with a client's certificate.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs redis-server redis-cli stunnel4 openssl

# ---- rediss:// is refused with a hint

configure
sed -i 's|url = "unix:[^"]*"|url = "rediss://redis.example.org"|' "$work/laterd.conf"
run "$laterd_bin" -t -c "$work/laterd.conf"
is "$status" 78 "laterd -t refuses rediss://: exit 78"
like "$err" 'rediss.*stunnel.*doc/operations.md' "and names stunnel and where it is described"
run later --redis rediss://redis.example.org size
is "$status" 64 "later refuses it: exit 64"
like "$err" 'stunnel.*doc/operations.md' "and names the same"

# ---- certificates, Redis, the tunnel

# certificate NAME SUBJECT [CA]: makes a key and a certificate, signed by that CA or by itself.
certificate()
{
    openssl req -newkey rsa:2048 -nodes -keyout "$work/$1.key" -out "$work/$1.csr" \
        -subj "/CN=$2" 2>/dev/null
    if [ $# -gt 2 ]; then
        echo "subjectAltName=DNS:$2" >"$work/$1.ext"
        openssl x509 -req -in "$work/$1.csr" -out "$work/$1.crt" -days 2 -CA "$work/$3.crt" \
            -CAkey "$work/$3.key" -CAcreateserial -extfile "$work/$1.ext" 2>/dev/null
    else
        openssl x509 -req -in "$work/$1.csr" -out "$work/$1.crt" -days 2 \
            -signkey "$work/$1.key" 2>/dev/null
    fi
}
certificate ca ca
certificate other other
certificate server localhost ca
certificate client laterd ca

start_redis "tls-ca-cert-file $work/ca.crt" "tls-cert-file $work/server.crt" \
    "tls-key-file $work/server.key" 'tls-auth-clients yes' 'requirepass secret'
REDISCLI_AUTH=secret
export REDISCLI_AUTH
port=$(($$ % 20000 + 20000))
until [ "$(redis config set tls-port "$port")" = OK ]; do
    port=$((port + 1))
done

# The manual's configuration, with the paths of this test. tunnel ACCEPT CA
tunnel()
{
    awk '/^<!-- tls -->/ { found = 1 } found && /^    / { print } found && /^[A-Z]/ { exit }' \
        "$top_srcdir/doc/operations.md" | sed -e 's/^    //' -e '/^set[ug]id/d' \
        -e "s|^accept = .*|accept = 127.0.0.1:$1|" \
        -e "s|^connect = .*|connect = 127.0.0.1:$port|" -e "s|^CAfile = .*|CAfile = $work/$2.crt|" \
        -e "s|^checkHost = .*|checkHost = localhost|" -e "s|^cert = .*|cert = $work/client.crt|" \
        -e "s|^key = .*|key = $work/client.key|" >"$work/stunnel.conf"
    spawn stunnel4 "$work/stunnel.conf"
    tunnel_pid=$spawned
}

listens() { grep -qF 'Configuration successful' "$work/spawned.err"; }

local_port=$((port + 1))
tunnel "$local_port" ca
until wait_until 5 listens; do
    gone "$tunnel_pid" || kill -KILL "$tunnel_pid"
    local_port=$((local_port + 1))
    if [ "$local_port" -gt $((port + 20)) ]; then
        sed 's/^/# /' "$work/stunnel.conf" "$work/spawned.err"
        echo 'Bail out! stunnel4 does not start'
        exit 99
    fi
    tunnel "$local_port" ca
done
contains "$(cat "$work/stunnel.conf")" 'verifyChain = yes' "the manual's configuration verifies"

# ---- a laterd that uses it

# push_notes COUNT NAME: pushes jobs NAME-1, NAME-2 …, by later, through the tunnel.
push_notes()
{
    awk -v count="$1" -v name="$2" 'BEGIN { for (i = 1; i <= count; i++)
        printf "{\"id\":\"%s-%d\",\"type\":\"note\"}\n", name, i }' | later push --file - >/dev/null
}

echo secret >"$work/password"
chmod 600 "$work/password"
sed -i "s|url = \"[^\"]*\";|url = \"redis://127.0.0.1:$local_port\"; password_file = \"$work/password\";|" \
    "$work/laterd.conf"
LATER_REDIS_URL=redis://127.0.0.1:$local_port
LATER_REDIS_PASSWORD_FILE=$work/password
export LATER_REDIS_URL LATER_REDIS_PASSWORD_FILE
start_laterd
push_notes 200 job
within 20 "200 jobs, pushed and performed through the tunnel" reached ended 200
within 5 "all are done" settled
is "$(attempts_in ended job-1 | wc -l)" 1 "a job has run once over the broken tunnel"
redis client list | grep 'name=laterd' >"$work/clients"
is "$(grep -c 'addr=127.0.0.1:' "$work/clients")" "$(wc -l <"$work/clients")" \
    "none of laterd's connections goes past it"
at_least "$(wc -l <"$work/clients")" 5 "they are"

# ---- the tunnel ends, and comes back

kill -KILL "$tunnel_pid"
within 10 "without the tunnel laterd waits" logged 'redis is away'
tunnel "$local_port" other
wait_until 5 listens
sleep 1.5 # the longest wait between two tries
is "$(how_often 'redis is back')" 0 "with a CA that has not signed Redis's certificate it waits, too"
kill -KILL "$tunnel_pid"
wait_until 5 gone "$tunnel_pid"
tunnel "$local_port" ca
within 10 "with the right one again it goes on" logged 'redis is back'
push_notes 20 again
within 10 "and performs" reached ended 220
end_well
finish
