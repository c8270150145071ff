-- @include take

-- The job that is handed out if there is only one to be taken: the first that is ready. This only
-- reads. `document`: it can be taken by few commands (take_one.lua); its length if documents are
-- `beside`. `there`: so many are ready. Anything unusual is left to take_many.lua. `told`: what
-- `fair` has of its place. Numbers of a call are text: to spell one costs as much as half a
-- command.
local there = redis.call('ZCARD', ready)
local id, score, text, document, group, rank, told
if not stopped and there > 0 and (most == 1 or few and there == 1) then
    local first = redis.call('ZRANGE', ready, '0', '0', 'WITHSCORES')
    id, score = first[1], first[2]
    document = #id <= LATER_ID_MAX and find(id, '^[!-~]+$')
        and redis.call(beside and 'HSTRLEN' or 'HGET', jobs, id)
    text = document and recorded and redis.call('HGET', records, id)
    group = text and find(text, 'q=', 1, true)
        and string.match('\n' .. text, '\nq=%S+ ?([^\n]*)')
    rank = group and string.match('\n' .. text, '\np=(%-?%d+)\n') or '0'
    told = group and redis.call('HMGET', string.sub(jobs, 1, -5) .. 'fair', rank,
        rank .. ' ' .. group)
    if document == 0 or told and told[1] and not told[2] then -- of too many groups, mostly
        document = false
    end
end
