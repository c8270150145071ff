-- @include recorded

-- `only`: the id, if a call ends one job. `simple`: to end it is all that is to be done, since its
-- record does not ask for more (tags d, f, n, u).
local record = only and recorded and redis.call('HGET', records, only)
local simple = only and not (record and string.find(record, '[dfnu]='))
