-- The present by Redis's clock, in seconds; read once, since TIME goes on inside a script.
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
