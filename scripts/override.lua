-- override: lay something over the configuration, of a queue or of limits, or take it away
-- KEYS   stats overrides
-- ARGV   name ms who words
-- reply  1 when that changed something, else 0: so it was before
--
-- name   `type:T`: no job of the type T is begun; or of the types that begin so, if T ends in `*`.
--        T has 1 to 128 characters of `A-Z a-z 0-9 _ . : -`, the `*` included;
--        `limit:N` or `permit:N`, the limit or the permits of the name N, which has 1 to 200 printable
--        ASCII characters, no space, no brace: words are its numbers
-- ms     it ends by itself after so many milliseconds, 1 to 10^11; 0: it lasts; '': it ends now
-- who    for people: 0 to 64 printable ASCII characters without a space
-- words  for people: why, one line of at most 200 bytes; or ''. Of a limit or of permits `MAX PER`:
--        1 to 1,000,000, and seconds, 0 to 86400, or 0: as configured
--
-- Limits and permits are laid over the name `limits:`, which no queue can have. Up to 64 are laid
-- over a queue, or that name. `overrides` has of each `SINCE UNTIL WHO WORDS`; UNTIL is 0 if it
-- lasts, WHO is - if nobody is named. Those that serve the queue are told by the channel of that
-- name. They call heed, which also drops what has ended. Field `overrides` of `stats` says how many
-- there are: who reads `stats` anyway looks for them only then.

-- @include number
-- @include now

local type_named = string.match(name, '^type:([%w_.:-]*%*?)$')
local span = whole(ms, 0, 1e11)
local kind, thing = string.match(name, '^(%l+):([!-z|~]+)$')
thing = (kind == 'limit' or kind == 'permit') and thing
local max, per = string.match(words, '^(%S+) (%S+)$')
local fits = type_named and type_named ~= '' and #type_named <= 128 or thing and #thing <= 200
    and (ms == '' or max and whole(max, 1, 1e6) and number(per, 0, 86400))
if not fits or not span and ms ~= '' then
    return redis.error_reply('ERR override: name is type:T, limit:N or permit:N, these with words '
        .. 'MAX PER; ms from 0 to 100000000000 or empty')
end
if #who > 64 or string.find(who, '[^!-~]') or #words > LATER_OVERRIDE_WORDS
    or string.find(words, '%c') then
    return redis.error_reply('ERR override: who is a word, '
        .. 'words are one line of LATER_OVERRIDE_WORDS bytes')
end
redis.call('HLEN', stats)
local before = redis.call('HGET', overrides, name) or ''
local ends = tonumber(string.match(before, '^%S+ (%S+)') or -1) or -1
local lasted = ends == 0 or ends > now
-- Nothing. Who may not write hears that, also if all is as wished; and after such a write a full
-- Redis does not refuse the next one.
redis.call('HDEL', overrides, '')
if not span and not lasted then
    return 0
end
if span and not lasted and redis.call('HLEN', overrides) >= LATER_OVERRIDES_MAX then
    return redis.error_reply('ERR override: LATER_OVERRIDES_MAX are laid over this queue already')
end
local rest = span and (who == '' and '-' or who) .. ' ' .. words
    or string.match(before, '^%S+ %S+ (.*)') or '-'
-- Other numbers are another setting, which begins now.
local same = not span or not thing or words == string.match(before, '^%S+ %S+ %S+ (.*)')
local since = lasted and same and string.match(before, '^%S+') or string.format('%.3f', now)
local till = not span and now - 0.001 or span > 0 and now + span / 1000 or 0
redis.call('HSET', overrides, name, string.format('%s %.3f %s', since, till, rest))
redis.call('HSET', stats, 'overrides', redis.call('HLEN', overrides))
redis.call('PUBLISH', overrides, name)
return (span ~= 0 or ends ~= 0 or not same) and 1 or 0
