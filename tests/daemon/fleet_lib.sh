# fleet_lib.sh: a laterd among many that serve the same queues, of which only one is there. On top of daemon.sh.
# shellcheck shell=sh

# fleet N: so many other hosts seem to serve the same; waits until it has a post itself.
fleet()
{
    awaited 20 "it has a post" has_post
    seq "$1" | sed "s/.*/ZADD $posts -99999999999 other:&/" | redis >/dev/null
}

# has_post: finds the key of the posts, $posts.
has_post() { posts=$(redis_all --scan --pattern 'later:lookers:*') && [ -n "$posts" ]; }

# says_every N: does it tell of itself every N seconds?
says_every() { redis HVALS later:hosts | grep -q "\"every\":$1,"; }

# one_waits: does one worker wait for wakes, and no other? asleep N: have so many gone to sleep as well, perhaps more
# than once?
one_waits() { [ "$(redis_all CLIENT LIST | grep -c ' name=laterd-wake-')" = 1 ]; }
asleep() { [ "$(how_often ' asleep: ')" -ge "$1" ] && one_waits; }

# wait_long: prints the lines of those clients that have waited for wakes for longer than a second, which is for long.
wait_long() { redis_all CLIENT LIST | grep ' name=laterd-wake-.* idle=\([2-9]\|[1-9][0-9]\) .*cmd=blpop'; }
