-- A host asks only once a minute whether it is to be quiet, so it is told. Who may not publish has
-- paused or resumed it all the same.
local function tell_host()
    if string.find(paused, ':{host:', 1, true) then
        redis.pcall('PUBLISH', string.sub(paused, 1, -7) .. 'overrides', 'host')
    end
end
