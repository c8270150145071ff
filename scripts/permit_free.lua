-- permit_free: give permits back
-- KEYS   running
-- ARGV   (token)...
-- reply  how many there were

if #ARGV > 500 then
    return redis.error_reply('ERR permit_free: at most 500 tokens')
end
return #ARGV > 0 and redis.call('ZREM', running, unpack(ARGV)) or 0
