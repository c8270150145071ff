-- @include now
-- @include record

-- Groups (doc/protocol.md, "Groups"): each group with a backlog gets its share of a queue. A
-- job's place in `ready` is then not a time but a tag, which is later by 1 ms / weight than the
-- tag of the group's last job, or than that of the job that was handed out last. Tag `q` of its
-- record says since when it is ready, and its group. The hash `fair` has for each priority P
--
--   P          the tag of the job that was handed out last; `TAG TILL` if there were jobs without
--              tags, the last of them at TILL
--   P GROUP    the last tag of the group, and how many of its jobs are ready
--
-- and `full`, if it has 100000 fields. A queue without groups has no `fair`, and none of its
-- records has a `q`. Field `groups` of `stats`: there has been a `fair`. Who reads `stats` anyway
-- looks for it only then.

local fair_made
-- Returns the functions below; nil if the place of no job with one of these records can go by
-- groups: none of them says so, and, unless `left`, there is no `fair`. texts: nil = they are
-- needed.
local function fair(texts, left)
    if texts and not (recorded and (string.find(table.concat(texts, '\n'), 'q=', 1, true)
        or not left and redis.call('HLEN', string.sub(jobs, 1, -5) .. 'fair') > 0)) then
        return nil
    elseif fair_made then
        return fair_made
    end
    local base = string.sub(jobs, 1, -5)
    local line, key, weights = base .. 'ready', base .. 'fair', base .. 'groups'
    local find, sub, gsub = string.find, string.sub, string.gsub
    local format, max = string.format, math.max
    local STEP, MOST = 0.001, 100000
    local AHEAD = 900000 -- seconds; a priority is 1000000
    redis.call('HLEN', key) -- before the first write: see guard.lua

    -- Since when a job was ready, and its group, '' for none; between which bytes its record says
    -- so. nil if its place does not go by groups.
    local function share_of(text)
        local first = find(text, 'q=', 1, true)
        while first and first > 1 and string.byte(text, first - 1) ~= 10 do
            first = find(text, 'q=', first + 1, true)
        end
        if not first then
            return nil
        end
        local last = find(text, '\n', first, true) or #text + 1
        local space = find(text, ' ', first, true) or last
        if space > last then
            space = last
        end
        return sub(text, first + 2, space - 1), sub(text, space + 1, last - 1), first, last
    end

    local function rank_of(text)
        return find(text, 'p=', 1, true) and rank(text) or 0
    end

    -- What its record says of a job's place: what its priority takes off the score; its group, and
    -- between which bytes that stands, as share_of().
    local function place_of(text)
        local group = string.match(text, '^q=%S+ ?([^\n]*)\n$') -- mostly that is all
        if group then
            return 0, group, 1, #text
        end
        local _, name, first, last = share_of(text)
        return rank_of(text), name, first, last
    end

    -- Where the tags of a priority begin: at the present; or if there are jobs without tags, at the
    -- first of them. `till` is the last of these.
    local begun
    local function begin(off)
        begun = true
        local high, low = format('%.6f', now - off), format('%.6f', now - off - 999999)
        local first = redis.call('ZRANGE', line, low, high, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
        if not first[1] then
            return { tag = now, off = off, changed = true }
        end
        local last = redis.call('ZRANGE', line, high, low, 'BYSCORE', 'REV', 'LIMIT', 0, 1,
            'WITHSCORES')
        return { tag = first[2] + off, till = last[2] + off, off = off, changed = true }
    end

    -- How far the next tag of a group is. Jobs without tags may be at any distance; so up to the
    -- last of them a group takes turns with them one by one.
    local function step_from(front, from, weight)
        local next = redis.call('ZRANGE', line, format('(%.6f', from - front.off), '+inf',
            'BYSCORE', 'LIMIT', max(math.floor(1 / weight) - 1, 0), 1, 'WITHSCORES')[2]
        if not next or next + front.off > front.till then
            return STEP / weight
        end
        return max((next + front.off - from) / max(weight, 1), 0.000001)
    end

    -- What was read of `fair`, and is written back. A batch may have hundreds of groups with one
    -- job each, so fields have numbers, and few strings and tables are made: `fields` are those
    -- that were asked for, `numbers` their places, `read_as` their values. `known` are groups in
    -- their parts, where they are needed; `idle` are fields that go. `fronts` are of priorities.
    local fields, numbers, read_as, known, idle, fronts = { 'full' }, {}, {}, {}, {}, {}
    local total, asked = 1, 0
    local same_as = {} -- of groups too many: the number of the field that they share
    local ranks = {} -- the priorities that will be read

    local function number_of(field)
        local i = numbers[field]
        if not i then
            i = total + 1
            total, numbers[field], fields[i] = i, i, field
        end
        return i
    end

    -- The same for a group; what `fair` has of its priority will be read, too.
    local function number_in(priority, group)
        if not numbers[priority] then
            number_of(priority)
            ranks[#ranks + 1] = priority
        end
        return number_of(priority .. ' ' .. group)
    end

    -- What is known of a group, nil if it has no field.
    local function group_at(i)
        local text = not known[i] and read_as[i]
        local space = text and find(text, ' ', 1, true)
        if space then
            known[i] = { text = sub(text, 1, space - 1),
                jobs = tonumber(sub(text, space + 1)) or 0 }
        end
        return known[i]
    end
    local function tag_of(mine)
        return mine.tag or tonumber(mine.text) or 0
    end
    local over -- is it of a time before all was done?
    local held_back -- is there something to write for jobs that are not in `ready` yet?

    -- Of the fields from this number on, those that are not there are of groups too many, which
    -- share tags with others.
    local function share_fields(from)
        for i = from, total do
            local priority, group = string.match(fields[i], '^(%S+) (.*)$')
            if group and not read_as[i] then
                local field = priority .. ' #' .. sub(redis.sha1hex(group), 1, 2)
                same_as[i] = number_of(field)
                if same_as[i] > asked then
                    asked = same_as[i]
                    read_as[asked] = redis.call('HGET', key, field)
                end
            end
        end
    end

    -- Reads the fields that were not read before. Returns false if there is no `fair`.
    local function read()
        local from = asked + 1
        if from > total then
            return next(fronts) ~= nil
        end
        local had = redis.call('HMGET', key, unpack(fields, from, total))
        if asked == 0 then
            read_as = had
        end
        for i = from, asked > 0 and total or 0 do
            read_as[i] = had[i - asked]
        end
        asked = total
        for _, priority in ipairs(ranks) do
            local text = read_as[numbers[priority]]
            if text then
                local space = find(text, ' ', 1, true)
                fronts[priority] = { tag = tonumber(space and sub(text, 1, space) or text) or now,
                    till = space and tonumber(sub(text, space + 1)), off = priority * 1000000 }
            end
        end
        ranks = {}
        if read_as[1] then
            share_fields(from)
        end
        return next(fronts) ~= nil
    end

    -- Writes what has changed. Groups of which no job is ready are dropped.
    local function write()
        local list, n = {}, 0
        if over then
            redis.call('DEL', key)
        end
        for field, front in pairs(fronts) do
            if front.changed then
                local more = front.till and front.tag < front.till
                    and format(' %.6f', front.till) or ''
                list[n + 1], list[n + 2] = field, format('%.6f', front.tag) .. more
                n = n + 2
            end
        end
        for i, mine in pairs(known) do
            if mine.jobs > 0 or mine.kept then
                list[n + 1] = fields[i]
                list[n + 2] = (mine.text or format('%.6f', mine.tag)) .. ' ' .. mine.jobs
                n = n + 2
            else
                idle[#idle + 1] = fields[i]
            end
        end
        for i = 1, n, 1000 do
            redis.call('HSET', key, unpack(list, i, math.min(i + 999, n)))
        end
        if #idle > 0 then
            redis.call('HDEL', key, unpack(idle))
            idle = {}
        end
        if begun then
            redis.call('HSET', base .. 'stats', 'groups', 1)
        end
    end

    local function front_of(priority)
        fronts[priority] = fronts[priority] or begin(priority * 1000000)
        return fronts[priority]
    end

    -- The weights of groups, 1 for most.
    local function weights_of(groups)
        local names, found = {}, {}
        for k = 1, #groups do
            if not found[groups[k]] then
                names[#names + 1], found[groups[k]] = groups[k], 1
            end
        end
        local told = redis.call('HMGET', weights, unpack(names))
        for i, name in ipairs(names) do
            found[name] = number(told[i] or '1', 0.001, 1000) or 1
        end
        return found
    end

    -- The tags of jobs that come into `ready`, in this order, as text.
    local function tags_of(priorities, groups)
        local at = {}
        for k = 1, #groups do
            at[k] = number_in(priorities[k], groups[k])
        end
        local had = read()
        local there = redis.call('EXISTS', line, weights, weights) -- of `weights`: 2
        if had and there % 2 == 0 then
            over, fronts, read_as, known = true, {}, {}, {}
        end
        local weight_of, tags = there > 1 and weights_of(groups), {}
        for k = 1, #groups do
            local priority, group = priorities[k], groups[k]
            local i, front = same_as[at[k]] or at[k], front_of(priority)
            local mine, weight = group_at(i), weight_of and weight_of[group] or 1
            if not mine then
                -- Jobs without tags were there before others without a group.
                mine = { tag = group == '' and front.till or 0, jobs = 0 }
                known[i] = mine
            end
            local from = max(front.tag, tag_of(mine))
            local step = front.till and from < front.till and step_from(front, from, weight)
            mine.tag = math.min(from + (step or STEP / weight), front.tag + AHEAD)
            mine.jobs = mine.jobs + 1
            mine.text = format('%.6f', mine.tag)
            tags[k] = mine.text
        end
        return tags
    end

    -- Jobs come into `ready`: `soon` has score and id of each, `texts` their records, the k-th at
    -- at[k]. Their places go by groups; scores and records change. `hold`: the caller calls write()
    -- later.
    local function place(soon, texts, at, hold)
        local priorities, groups, offs, firsts, lasts = {}, {}, {}, {}, {}
        for k = 1, #soon / 2 do
            local text = texts[at and at[k] or k]
            local off, group, first, last = place_of(text)
            offs[k], firsts[k], lasts[k] = off, first or false, last
            priorities[k] = off == 0 and '0' or format('%d', off / 1000000)
            groups[k] = group or ''
        end
        local tags = tags_of(priorities, groups)
        for k = 1, #soon / 2 do
            local i, off, since = at and at[k] or k, offs[k], soon[2 * k - 1]
            if off ~= 0 or type(since) ~= 'string' then
                since = format('%.6f', since + off)
            end
            local note, text = 'q=' .. since .. ' ' .. groups[k] .. '\n', texts[i]
            texts[i] = firsts[k] and sub(text, 1, firsts[k] - 1) .. note .. sub(text, lasts[k] + 1)
                or text .. note
            soon[2 * k - 1] = off == 0 and tags[k] or format('%.6f', tags[k] - off)
        end
        held_back = hold
        if not hold then
            write()
        end
    end

    -- Reads what `fair` has of those of these jobs whose place goes by groups. Returns the number
    -- of the field of each, false for others; their priorities, where these are not 0; and whether
    -- there is a `fair`. nil if there are no such jobs.
    local function some_of(texts)
        local at, priorities, some = {}, {}, false
        number_in('0', '') -- for those that are numbered without a call
        for k = 1, #texts do
            local field, plain = gsub(texts[k], '^q=%S+( [^\n]*)\n$', '0%1') -- mostly that is all
            if plain > 0 then
                local i = numbers[field]
                if not i then -- as number_of() does it
                    i = total + 1
                    total, numbers[field], fields[i] = i, i, field
                end
                at[k], some = i, true
            else
                local off, name = place_of(texts[k])
                local priority = off == 0 and '0' or format('%d', off / 1000000)
                at[k] = name and number_in(priority, name) or false
                priorities[k], some = off ~= 0 and priority or nil, some or at[k]
            end
        end
        if not some then
            return nil
        end
        local had = read()
        for k = 1, next(same_as) and #texts or 0 do
            at[k] = same_as[at[k]] or at[k]
        end
        return at, priorities, had
    end

    -- Jobs have left `ready`. `set`: they were handed out, and are there; else they are gone.
    local function leave(ids, texts, set)
        local at, priorities, had = some_of(texts)
        if not at or not had then
            return
        elseif not held_back and redis.call('EXISTS', line) == 0 then
            redis.call('DEL', key)
            return
        end
        -- In a reserve nothing else happens in this call to a group whose only job is handed out.
        local last, idlers, before, is_last = {}, #idle, nil, nil
        for k = 1, #at do
            local i = at[k]
            local text = set and read_as[i]
            if text ~= before then -- mostly they have the same tag
                before, is_last = text, text and find(text, ' 1', -2, true)
            end
            if is_last then
                idlers = idlers + 1
                idle[idlers] = fields[i]
            else
                local mine = known[i] or i and group_at(i)
                if mine then
                    mine.jobs = mine.jobs - 1
                end
            end
            if i then
                last[priorities[k] or '0'] = k
            end
        end
        for priority, k in pairs(set and last or {}) do
            local front = fronts[priority]
            local tag = redis.call('ZSCORE', set, ids[k]) + priority * 1000000
            if front and tag > front.tag then
                front.tag, front.changed = tag, true
            end
        end
        write()
    end

    -- Jobs come back into `ready`, to places that they had: `soon` has score and id of each,
    -- `texts` their records, the k-th at at[k]. A place that is not reached yet was given before
    -- all was done once; it is now at the front.
    local function back(soon, texts, at)
        local mine = {}
        for k = 1, #soon / 2 do
            mine[k] = texts[at[k]]
        end
        local found, priorities = some_of(mine)
        for k = 1, found and #found or 0 do
            local i, priority = found[k], priorities[k] or '0'
            if i then
                local off, front = priority * 1000000, front_of(priority)
                local tag = math.min(soon[2 * k - 1] + off, front.tag)
                local group = group_at(i) or { tag = tag, jobs = 0 }
                group.tag, group.text, group.jobs = max(tag_of(group), tag), nil, group.jobs + 1
                known[i] = group
                soon[2 * k - 1] = format('%.6f', tag - off)
            end
        end
        if found then
            write()
        end
    end

    -- Members that a plain ZADD has put there came by the clock, and tags may be far behind it.
    -- They get tags, without counting; at most 100 a call of migrate, which also notes whether
    -- there are too many groups.
    local function plain()
        local count = recorded and redis.call('HLEN', key) or 0
        if count > 0 and redis.call('EXISTS', line) == 0 then
            redis.call('DEL', key) -- the last one that was ready was such a member
            return
        end
        local last = count > 0 and redis.call('ZRANGE', line, format('%.6f', now), '-inf',
            'BYSCORE', 'REV', 'LIMIT', 0, 100, 'WITHSCORES') or {}
        if count < MOST and #last == 0 then
            return
        end
        redis.call('ZREM', line, '\n') -- nothing: a full Redis accepts what begins with it
        if count >= MOST then
            redis.call('HSET', key, 'full', 1)
        end
        local ids, soon, priorities, groups = {}, {}, {}, {}
        for i = #last - 1, 1, -2 do
            ids[#ids + 1] = last[i]
        end
        local i = number_in('0', '')
        read()
        i = same_as[i] or i
        local front, mine, texts = fronts['0'], group_at(i), records_of(ids)
        local from = front and max(front.tag, front.till or 0, mine and tag_of(mine) or 0)
        for k = 1, front and #ids or 0 do
            if texts[k] == '' and tonumber(last[#last - 2 * k + 2]) > from then
                priorities[#priorities + 1], groups[#groups + 1] = '0', ''
                soon[#soon + 1], soon[#soon + 2] = 0, ids[k]
            end
        end
        local ready_jobs = mine and mine.jobs or 0
        for n, tag in ipairs(#groups > 0 and tags_of(priorities, groups) or {}) do
            soon[2 * n - 1] = tag
        end
        if #soon > 0 then
            known[i].jobs, known[i].kept = ready_jobs, true
            write()
            redis.call('ZADD', line, unpack(soon))
        end
    end

    fair_made = { of = share_of, write = write, place = place, leave = leave, back = back,
        plain = plain }
    return fair_made
end
