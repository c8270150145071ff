-- return: give jobs back without an attempt
-- KEYS   reserved ready delayed jobs attempts crashes interrupts priorities wake paused stats due
-- ARGV   (member score wait how)...
-- reply  the positions (from 1) of members that are LOST
--
-- score  the score it had in ready, to go back to its place; '': the present
-- wait   seconds until it is due instead; 0: ready at once
-- how    held: it had not begun; suspect: it ran beside others when their worker crashed, and
--        will run alone; interrupted: laterd was stopped. The tenth in a row is an attempt.

-- @include now
-- @include guard
-- @include give_up
-- @include priority
-- @include count
-- @include place

-- A score as Redis writes it: `1700000000.25`, `1e+20`, `-inf`.
local function is_score(text)
    return string.find(text, '^%-?%d+%.?%d*$') or string.find(text, '^%-?%d%.?%d*e[+-]%d+$')
        or text == 'inf' or text == '-inf'
end

local members, waits = {}, {}
for i = 1, #ARGV / 4 do
    local score, how = ARGV[4 * i - 2], ARGV[4 * i]
    members[i] = ARGV[4 * i - 3]
    waits[i] = number(ARGV[4 * i - 1], 0, 1e11)
    if not waits[i] or (score ~= '' and not is_score(score)) then
        return redis.error_reply('ERR return: a wait is seconds, a score is a number')
    end
    if how ~= 'held' and how ~= 'suspect' and how ~= 'interrupted' then
        return redis.error_reply('ERR return: how is held, suspect or interrupted')
    end
end
guard(#members, { ready, delayed }, { jobs, attempts, crashes, interrupts, priorities, stats })

local ids, at, lost = give_up(members)
if #ids == 0 then
    return lost
end
local soon, later = {}, {}
for n = 1, #ids do
    local i, id = at[n], ids[n]
    local score, how = tonumber(ARGV[4 * i - 2]), ARGV[4 * i]
    if waits[i] > 0 then
        later[#later + 1] = now + waits[i]
        later[#later + 1] = id
    else
        soon[#soon + 1] = score or now + n / 1000000 - rank(id)
        soon[#soon + 1] = id
    end
    if how == 'suspect' then
        redis.call('HSETNX', crashes, id, 0)
    elseif how == 'interrupted' and count(interrupts, id, 1) >= 10 then
        redis.call('HDEL', interrupts, id)
        count(attempts, id, 1)
    end
end
place(soon, later)
count(stats, 'returned', #ids)
return lost
