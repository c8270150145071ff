-- The time by Redis's clock, in seconds. It is read only once, since TIME may advance while a
-- script runs.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
