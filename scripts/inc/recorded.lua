-- Most queues have no records, so one HLEN saves the look-ups.
local recorded = redis.call('HLEN', records) > 0
