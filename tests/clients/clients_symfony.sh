#!/bin/sh
# Symfony Messenger on laterd: messages that laterd hands to messenger:consume, and those that it takes
# itself; retries, what is rejected, a failure transport, and what a killed program had.
. "${top_srcdir:=.}/tests/system/daemon.sh"
needs php
if ! php -r 'exit(extension_loaded("redis") && stream_resolve_include_path("Symfony/Component/Messenger/autoload.php") ? 0 : 1);'; then
    echo "1..0 # SKIP php-redis or php-symfony-messenger is not installed"
    exit 0
fi
start_redis
CLIENT=$(cd "$top_srcdir" && pwd)/clients/php
NOTES=$work
export CLIENT NOTES
app=$(cd "$top_srcdir" && pwd)/tests/clients/symfony/console.php
: >"$work/notes"

send() { php "$app" send "$@"; }
# often LINE: how often has a handler noted it?
often() { grep -cx "$1" "$work/notes"; }
noted() { [ "$(often "$1")" = "$2" ]; }
# is_state ID STATE [QUEUE]
is_state() { [ "$(later show "$1" -q "${3-default}" --json | field state)" = "$2" ]; }
is_known() { later show "$1" >/dev/null 2>&1; }
# why ID: why it failed last
why() { later show "$1" --json; }
waits_none() { [ "$(ready)$(delayed)$(reserved)" = 000 ]; }

# ---- handed over by laterd

mkdir -p "$work/conf.d"
cat >"$work/conf.d/exec.conf" <<CONF
plugins = { config = { exec = { symfony = {
    argv = ( "$(command -v php)", "$app", "messenger:consume", "jobs", "--limit=7", "-q" );
    env = { CLIENT = "$CLIENT"; NOTES = "$work"; REDIS = "$LATER_REDIS_URL"; }; lines = true; hello = true;
}; }; }; };
CONF
configure 'workers = 2;' 'grace = 10.0;' 'retry = { max_attempts = 2; base = 0.1; max = 0.1; jitter = 0.0; };'
start_laterd
send calm:1 soon:2 throws:t never:n ends:e >/dev/null
within 20 "a message is handled" noted 'calm 1' 1
within 20 "one that throws is tried again, as its strategy says" noted 'throws t' 3
within 20 "then its last copy is dead" is_state t~2 dead
contains "$(why t~2)" 'RuntimeException: it throws ü' "with what was thrown"
none_is_left() { ! is_known t && ! is_known t~1; }
within 20 "those before it are done" none_is_left
within 20 "one that no other try can help" is_state n dead
is "$(often 'never n')" 1 "was tried once"
contains "$(why n)" 'no other try can help' "with its reason"
within 20 "one that ends its program" is_state e dead
is "$(often 'ends e')" 2 "was tried as often as laterd says"
contains "$(why e)" 'the handler has ended the program' "and it is said why"
within 20 "a delayed one" noted 'soon 2' 1

# A program has 0.6 s for it, then it is killed; then the same copy is tried again.
send hangs:h >/dev/null
within 60 "of one whose time is up, a copy is to be tried" is_known h~1
touch "$work/h"
within 20 "which is handled" waits_none

# Programs end after seven messages; none is lost or done twice.
words=$(for i in $(seq 40); do echo "many:$i"; done)
# shellcheck disable=SC2086 # words
send $words >/dev/null
all_noted() { [ "$(grep -c '^many ' "$work/notes")" -ge 40 ]; }
within 60 "programs that end after seven messages" all_noted
within 20 "leave nothing" waits_none
is "$(grep '^many ' "$work/notes" | sort -u | wc -l) $(grep -c '^many ' "$work/notes")" "40 40" "each was handled once"
later push exec.symfony '{"no":"body"}' --id odd >/dev/null
within 20 "a payload that is no message" is_state odd dead
contains "$(why odd)" 'the message cannot be decoded: the payload is no message of Messenger' "is buried with the reason"
end_well
sed -i "s|REDIS = \"$LATER_REDIS_URL\"|REDIS = \"unix:$work/none.sock\"|" "$work/conf.d/exec.conf"
start_laterd
send throws:lost >/dev/null
within 20 "where a copy cannot be pushed" is_state lost dead
contains "$(why lost)" "the handler has ended the program; before that: unix:$work/none.sock" "its job says why the program ended"
end_well

# ---- taken by messenger:consume itself

: >"$work/notes"
redis_all flushall >/dev/null
is "$(send unique:1 unique:2)" "unique-1
unique-1" "the same id is the same message"
is "$(php "$app" count)" 1 "how many wait"
is "$(later show unique-1 --json | field priority)" 5 "with what LaterdStamp says"
contains "$(later show unique-1)" '"description":"Said"' "and described by its class"
consume() { FAILURE_TRANSPORT=1 timeout 120 php "$app" messenger:consume jobs -q --sleep=0.05 "$@"; }
consume --limit=1
is "$(often 'unique 1') $(php "$app" count)" "1 0" "it is handled, and gone"

send once:o >/dev/null
consume --limit=3
is "$(often 'once o')" 3 "one that fails is tried three times"
is "$(later size failed --json | field ready)" 1 "and is in the failure transport"
contains "$(why o~2)" 'not yet' "and among laterd's dead"
contains "$(php "$app" messenger:failed:show 2>&1)" 'not yet' "messenger:failed:show"
touch "$work/mended"
timeout 120 php "$app" messenger:failed:retry --force -q "$(later peek failed | cut -f 1)"
is "$(often 'once o') $(later size failed --json | field ready)" "4 0" "messenger:failed:retry handles it, once"
send never:m >/dev/null
consume --limit=1
failed=$(later peek failed | cut -f 1)
timeout 120 php "$app" messenger:failed:remove --force -q "$failed"
is "$(later size failed --json | field ready)" 0 "messenger:failed:remove"

# A killed program: nobody renews what it had.
send hangs:k >/dev/null
spawn env TIMEOUT=20 php "$app" messenger:consume jobs -q --sleep=0.05
wait_until 20 noted 'hangs k' 1
kill -KILL "$spawned"
wait_until 20 gone "$spawned"
is "$(later show k --json | field state)" reserved "what a killed program had is reserved"
for _ in 1 2 3 4 5; do advance_redis 5; done
spawn env TIMEOUT=20 php "$app" messenger:consume jobs -q --sleep=0.05
within 20 "until redeliver_timeout is over" noted 'hangs k' 2
kill -KILL "$spawned"

# ---- what cannot be meant

refused() { php -r 'foreach (["Messenger"] as $c) { require "Symfony/Component/$c/autoload.php"; } require $argv[1];
    $made = new Laterd\Symfony\LaterdTransportFactory();
    try {
        $made->createTransport($argv[2], json_decode($argv[3], true),
            new Symfony\Component\Messenger\Transport\Serialization\PhpSerializer());
        echo "taken";
    } catch (Symfony\Component\Messenger\Exception\InvalidArgumentException $e) {
        echo $e->getMessage();
    }' "$CLIENT/autoload.php" "$@"; }
is "$(refused 'laterd://a/b' '{}')" 'The DSN "laterd://a/b" is not laterd://QUEUE?OPTION=VALUE.' "a queue that cannot be"
is "$(refused 'laterd://a?typ=x' '{}')" \
    'A transport of laterd has no option "typ", only url, password, prefix, type, redeliver_timeout.' "an unknown option"
is "$(refused 'laterd://a' '{"redeliver_timeout":0}')" 'redeliver_timeout is a number of seconds, at least 1.' "a time-out of 0"
refuses() { php -r 'require "Symfony/Component/Messenger/autoload.php"; require $argv[1];
    use Symfony\Component\Messenger\{Envelope, Exception\TransportException, Transport\Serialization\SerializerInterface};
    $serializer = new class implements SerializerInterface {
        public function encode(Envelope $envelope): array { return ["body" => "\xB1"]; }
        public function decode(array $encoded): Envelope { return new Envelope(new stdClass()); }
    };
    try {
        (new Laterd\Symfony\LaterdTransportFactory())->createTransport("laterd://a", ["url" => $argv[2]], $serializer)
            ->send(new Envelope(new stdClass()));
        echo "sent";
    } catch (TransportException $e) {
        echo $e->getMessage();
    }' "$CLIENT/autoload.php" "$LATER_REDIS_URL"; }
contains "$(refuses 2>&1)" 'payload: Malformed UTF-8' "what is no JSON is an exception of Messenger's"
finish
