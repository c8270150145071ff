-- These fail on a wrong type, before anything is written.
redis.call('HLEN', stats)
redis.call('ZCARD', reserved)
