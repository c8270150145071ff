-- permit_free: give permits back
-- KEYS   running
-- ARGV   (token)...
-- reply  how many there were

if #ARGV > LATER_BATCH_MAX then
    return redis.error_reply('ERR permit_free: at most LATER_BATCH_MAX tokens')
end
return #ARGV > 0 and redis.call('ZREM', running, unpack(ARGV)) or 0
