-- stock_release: give a claim back
-- KEYS   claims
-- ARGV   who
-- reply  1 when there was a claim, else 0

return redis.call('HDEL', claims, who)
