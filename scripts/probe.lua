-- probe: may this user run what the scripts run?
-- KEYS   ready jobs wake paused due events
-- ARGV   none
-- reply  the commands that are denied or unknown, each with Redis's words; empty = all are allowed
--
-- Call it with keys of a queue that nobody uses; it removes what it writes there. If an ACL lacked
-- a single command, or the server had another name for it (rename-command), that would stop a script
-- between two writes, and scripts do not roll back. So laterd asks before it does any work. Other
-- errors, as of a full or read-only Redis, are no denials.

local denied = {}
local function try(name, ...)
    local answer = redis.pcall(name, ...)
    local words = type(answer) == 'table' and answer.err or ''
    if string.find(words, 'NOPERM', 1, true)
        or string.find(words, 'nknown Redis command', 1, true)
        or string.find(words, 'nknown command', 1, true)
        or string.find(words, 'executing the script', 1, true)
        or string.find(words, 'ACL failure in script', 1, true) then -- from Redis 7.2 on
        denied[#denied + 1] = name .. ': ' .. words
    end
end

try('TIME')
try('DEL', ready)
for _, ask in ipairs({ 'ZCARD', 'HLEN', 'EXISTS' }) do
    try(ask, ask == 'HLEN' and jobs or ready)
end
try('ZADD', ready, 1, 'probe')
try('ZSCORE', ready, 'probe')
try('ZMSCORE', ready, 'probe')
try('ZCOUNT', ready, 0, 1)
try('ZRANGE', ready, 0, 0)
try('ZRANGEBYSCORE', ready, 0, 1)
try('ZRANGESTORE', wake, ready, 0, 0)
try('ZSCAN', ready, 0)
try('ZREMRANGEBYRANK', ready, 0, 0)
try('ZREM', ready, 'probe')
try('HSET', jobs, 'probe', 1)
try('HSETNX', jobs, 'probe', 1)
try('HINCRBY', jobs, 'probe', 1)
try('HGET', jobs, 'probe')
try('HSTRLEN', jobs, 'probe')
try('HMGET', jobs, 'probe')
try('HGETALL', jobs)
try('HEXISTS', jobs, 'probe')
try('HSCAN', jobs, 0)
try('HDEL', jobs, 'probe')
try('SADD', wake, 1)
try('SISMEMBER', wake, 1)
try('SREM', wake, 1)
try('LPUSH', wake, 1)
try('LINDEX', wake, 0)
try('LINSERT', wake, 'AFTER', '', '')
try('LREM', wake, 0, '')
try('LTRIM', wake, 0, 0)
try('PEXPIRE', wake, 1000)
try('SET', paused, 1, 'EX', 1)
try('GET', paused)
try('PTTL', paused)
try('PUBLISH', due, '0')
try('XADD', events, '*', 'probe', 1)
try('XREVRANGE', events, '+', '-')
try('UNLINK', ready)
try('DEL', ready, jobs, wake, paused, events)
return denied
