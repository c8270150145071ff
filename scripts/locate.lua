-- locate: in which sets is an id, at one moment?
-- KEYS   ready delayed dead reserved jobs
-- ARGV   id member
-- reply  for each of ready, delayed, dead, reserved, jobs: 1 where it is there, else 0
--
-- member  TOKEN:id, looked for in reserved; '' looks there for nothing

local reply = {}
for i, set in ipairs({ ready, delayed, dead, reserved }) do
    reply[i] = redis.call('ZSCORE', set, set == reserved and member or id) and 1 or 0
end
reply[5] = redis.call('HEXISTS', jobs, id)
return reply
