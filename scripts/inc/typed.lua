-- This fails on a wrong type, before anything is written.
redis.call('HLEN', stats)
