-- @include now
-- @include number
-- @include spell

-- A line of jobs: `line_waiting` has the time at which each was ready, which is negative from when
-- the job is called until it has what it waits for. `line_due` says when each is due in `delayed`;
-- and, as `>` and the job, until when a place is kept for one that was called: for a second. Once
-- it was called again, that is when it was called first, as a negative number. The member '' says
-- when the line last moved: when somebody got what it is for.

-- Of the jobs that were called, from a score on: for how many is a place kept, how many have not
-- come in time although the line has not moved since, which of all have not come and were called
-- only once, and which not even for a minute? At most 100 are looked at. How many are they?
local function called(from)
    local kept, late, again, gone, places = 0, 0, {}, {}, {}
    local jobs = redis.call('ZRANGEBYSCORE', line_waiting, from, '(0', 'LIMIT', 0, 100)
    for i = 1, #jobs do
        places[i] = '>' .. jobs[i]
    end
    places[#jobs + 1] = ''
    local times = #jobs > 0 and redis.call('ZMSCORE', line_due, unpack(places)) or {}
    local moved = tonumber(times[#jobs + 1] or 0)
    for i = 1, #jobs do
        local till = tonumber(times[i] or 0)
        if till > now then
            kept = kept + 1
        elseif till > 0 or -till > now - 60 then
            late = late + ((till > 0 and till - 1 or -till) > moved and 1 or 0)
            again[#again + 1] = till > 0 and jobs[i] or nil
        else
            gone[#gone + 1] = jobs[i]
        end
    end
    return kept, late, again, gone, #jobs
end

local function leave_line(job)
    if job ~= '' then
        redis.call('ZREM', line_waiting, job)
        redis.call('ZREM', line_due, job, '>' .. job)
        if redis.call('EXISTS', line_waiting) == 0 then
            redis.call('DEL', line_due)
        end
    end
end
