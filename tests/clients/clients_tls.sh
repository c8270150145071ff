#!/bin/sh
# Each client by TLS, with its own language's library: a job is pushed and its result waited for, which
# is another connection; a server with a certificate of an unknown authority is refused. Redis takes
# nothing but TLS with a certificate of ours, and a password.
. "${top_srcdir:=.}/tests/system/daemon.sh"
. "$top_srcdir/tests/system/tls_lib.sh"
needs redis-server redis-cli openssl
redis_python

authority ours
authority theirs
certificate server ours DNS:localhost
certificate client ours DNS:laterd
REDISCLI_AUTH=secret
export REDISCLI_AUTH
start_redis "$(tls_options server ours)" 'tls-auth-clients yes' 'requirepass secret'
port=$(open_port tls-port)
files="cert=$work/client.crt&key=$work/client.key"
LATER_REDIS_URL="rediss://:secret@localhost:$port?ca=$work/ours.crt&$files"
export LATER_REDIS_URL
configure
start_laterd
clients=$(cd "$top_srcdir" && pwd)/clients
export port work clients

# tries NAME COMMAND...: the command is called with a file of authorities. It pushes a job of the type do
# with a value, and prints the result.
tries()
{
    name=$1
    shift
    is "$("$@" "$work/ours.crt" 2>&1)" 5 "$name: a job and its result"
    if "$@" "$work/theirs.crt" >"$work/refused" 2>&1; then
        not_ok "$name: an unknown authority is refused" "$work/refused"
    else
        like "$(cat "$work/refused")" 'certificate|CERT|tls|TLS|SSL' "$name: an unknown authority is refused"
    fi
}

cat >"$work/try.py" <<'PROGRAM'
import os, sys
sys.path.insert(0, os.environ['clients'] + '/python')
import laterd, redis
work = os.environ['work']
queues = laterd.Client(redis.Redis(host='localhost', port=int(os.environ['port']), password='secret', ssl=True,
                                   ssl_ca_certs=sys.argv[1], ssl_check_hostname=True,
                                   ssl_certfile=work + '/client.crt', ssl_keyfile=work + '/client.key'))
print(queues.wait(queues.push('do', {'do': 'value', 'value': 5}, result=60).id, timeout=500))
PROGRAM
tries python "$python" "$work/try.py"

cat >"$work/try.php" <<'PROGRAM'
<?php
require getenv('clients') . '/php/autoload.php';
@include_once 'Predis/autoload.php';
[, $library, $ca] = $argv;
$work = getenv('work');
$url = 'rediss://:secret@localhost:' . getenv('port') . "/0?ca=$ca&cert=$work/client.crt&key=$work/client.key";
$later = Laterd\Client::connect($url, library: $library);
$id = $later->push('do', ['do' => 'value', 'value' => 5], result: 60)->id;
echo $later->wait($id, seconds: 500)->value, "\n";
PROGRAM
php_tries()
{
    tries "$1" php "$work/try.php" "$1"
}
with_php php_tries

cat >"$work/try.mjs" <<'PROGRAM'
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const [, , library, modules, file] = process.argv;
const { port, work, clients } = process.env;
const { Laterd } = await import(`${clients}/node/index.js`);
const require = createRequire(`${modules}/`);
const [ca, cert, key] = [file, `${work}/client.crt`, `${work}/client.key`].map((one) => readFileSync(one));
const fail = (error) => { console.log(String(error)); process.exit(1); };
let redis;
if (library === "ioredis") {
    redis = new (require("ioredis").Redis)(`rediss://:secret@localhost:${port}`, { tls: { ca, cert, key } });
    redis.on("error", fail);
} else {
    redis = require("redis").createClient({ url: `rediss://:secret@localhost:${port}`, socket: { tls: true, ca, cert, key } });
    redis.on("error", fail);
    await redis.connect();
}
const queues = new Laterd(redis);
const { id } = await queues.push("do", { do: "value", value: 5 }, { result: 60 });
console.log(await queues.wait(id, { timeout: 500 }));
process.exit(0);
PROGRAM
node_tries()
{
    tries "$1" node "$work/try.mjs" "$1" "$node_modules"
}
with_node node_tries

cat >"$work/try.rb" <<'PROGRAM'
$LOAD_PATH.unshift("#{ENV["clients"]}/ruby/lib")
require "laterd"
require "openssl"
work = ENV["work"]
redis = Redis.new(url: "rediss://:secret@localhost:#{ENV["port"]}",
                  ssl_params: { ca_file: ARGV[0], cert: OpenSSL::X509::Certificate.new(File.read("#{work}/client.crt")),
                                key: OpenSSL::PKey.read(File.read("#{work}/client.key")) })
later = Laterd::Client.new(redis)
puts later.wait(later.push("do", { do: "value", value: 5 }, result: 60).id, timeout: 500)
PROGRAM
with_ruby tries ruby ruby "$work/try.rb"

mkdir -p "$work/go/src/try"
ln -s "$clients/go" "$work/go/src/laterd"
cat >"$work/go/src/try/try.go" <<'PROGRAM'
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"
	"laterd"
)

func main() {
	work := os.Getenv("work")
	pem, err := os.ReadFile(os.Args[1])
	must(err)
	pair, err := tls.LoadX509KeyPair(work+"/client.crt", work+"/client.key")
	must(err)
	config := &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{pair}}
	config.RootCAs.AppendCertsFromPEM(pem)
	later := laterd.New((&redis.Pool{MaxIdle: 1, Dial: func() (redis.Conn, error) {
		return redis.DialURL("rediss://:secret@localhost:"+os.Getenv("port"), redis.DialTLSConfig(config))
	}}).Get)
	pushed, err := later.Push("default", laterd.NewJob{Type: "do", Payload: map[string]any{"do": "value", "value": 5}, Result: time.Minute})
	must(err)
	value, err := later.Wait(context.Background(), "default", pushed.ID)
	must(err)
	fmt.Println(string(value))
}

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
PROGRAM
if ! command -v go >/dev/null || ! [ -d /usr/share/gocode/src/github.com/gomodule/redigo ]; then
    missing go "golang-go or golang-github-gomodule-redigo-dev is not installed"
elif GOPATH=$work/go:/usr/share/gocode GO111MODULE=off GOFLAGS=-p=2 \
    GOCACHE="$(cd "$top_builddir" && pwd)/build/go" \
    go build -o "$work/try-go" "$work/go/src/try/try.go" >"$work/go.log" 2>&1; then
    tries go "$work/try-go"
else
    not_ok "go: the program is built" "$work/go.log"
fi
end_well
finish
