-- flow_join: a flow of this queue has jobs in other queues, or in shards
-- KEYS   jobs records stats waiting flows flow unknown news away
-- ARGV   name adder close keep (id step after when due queue)...
-- reply  one answer a job: `PARK NUMBER`, or `EXISTS state`; CLOSED alone: nothing was changed
--
-- name … due  as flow_push has them
-- queue  the queue, or the shard, in which the job is to be
-- PARK   flow_park puts it there now, with this number, to which marks may be appended; until then
--        the flow waits for it. To repeat both is safe
-- state  waiting, open, dead; done, gone or skipped
--
-- This comes first, so that the flow knows of each job before anything can become of it. A job runs
-- when flow_park's news has been heard here, and ours there, once for each job, however often the two
-- are repeated.

-- @include now
-- @include guard
-- @include flow_add

local words = { w = 'waiting', o = 'open', x = 'dead', d = 'done', g = 'gone', l = 'gone',
    s = 'skipped' }
local answers, here, seen = {}, string.match(base, '{(.*)}:$'), {}

local function refusal(why)
    return redis.error_reply('ERR flow_join: ' .. why)
end

for i = 1, (#ARGV - 4) / 6 do
    local at = 6 * i - 2
    flow_list[i] = {}
    for n, member in ipairs({ 'id', 'step', 'after', 'when', 'due', 'queue' }) do
        flow_list[i][member] = ARGV[at + n]
    end
end
if flow_misnamed() then
    return refusal(flow_misnamed())
end
for i, job in ipairs(flow_list) do
    local wrong = flow_wrong(job)
        or not is_name((string.gsub(job.queue, '/%d%d?$', ''))) and 'a queue is 1 to 64 of '
        .. 'A-Z a-z 0-9 _ . -, or such a name with /SHARD'
    if wrong then
        return refusal('job ' .. i .. ': ' .. wrong)
    end
end
guard(#flow_list, { waiting, flows, news, away }, { jobs, stats, flow })
local closed, why = flow_open()
if why then
    return why == 'CLOSED' and why or refusal(why)
end
for i, job in ipairs(flow_list) do
    local member = flow_read(flow, job.id) or seen[job.id]
    if not member then
        member = { state = 'w', queue = job.queue, number = string.format('-%.0f', now * 1000000) }
        seen[job.id] = member
        flow_add(job, 'w', job.queue, member.number)
    end
    local is_awaited = member.state == 'w' and member.queue and tonumber(member.number) < 0
    local marks = (job.step ~= '' and 's' or '') .. (job.after ~= '' and 'v' or '')
    answers[i] = is_awaited and 'PARK ' .. string.sub(member.number, 2) .. marks
        or 'EXISTS ' .. words[member.state]
end
redis.call('HSET', flow, 'asked', spell(now)) -- first: a full Redis refuses it
if #flow_added > 0 then
    redis.call('ZADD', away, 'NX', spell(now + 60), name)
end
flow_enter(closed, close)
return answers
