-- @include now
-- @include number
-- @include spell

-- A line of jobs: `line_waiting` has the time at which each was ready, which is negative from when
-- the job is called until it has what it waits for. `line_due` says when a job that waits is due in
-- `delayed`, and until when a place is kept for one that was called: for a second.

-- Of the jobs that were called, from a score on: for how many is a place kept, how many have not
-- come in time, and which have not come for a minute? At most 100 are looked at.
local function called(from)
    local kept, late, gone = 0, 0, {}
    local jobs = redis.call('ZRANGEBYSCORE', line_waiting, from, '(0', 'LIMIT', 0, 100)
    local times = #jobs > 0 and redis.call('ZMSCORE', line_due, unpack(jobs)) or {}
    for i = 1, #jobs do
        local till = tonumber(times[i] or 0)
        if till > now then
            kept = kept + 1
        elseif till > now - 60 then
            late = late + 1
        else
            gone[#gone + 1] = jobs[i]
        end
    end
    return kept, late, gone
end
