-- ids: the ids of a queue, a page at a time
-- KEYS   jobs unique
-- ARGV   of cursor
-- reply  the next cursor, then ids; cursor 0 begins, and when it comes back all were seen
--
-- of  jobs: ids that have a document; unique: ids that stay taken after their job
--
-- As with HSCAN, an id that is there all the time is in some page, an id may be in two pages, and a
-- page may be empty. Unlike HSCAN, it sends no documents.

if (of ~= 'jobs' and of ~= 'unique') or not string.find(cursor, '^%d+$') then
    return redis.error_reply('ERR ids: of is jobs or unique, cursor a number')
end
local page
if of == 'jobs' then
    page = redis.call('HSCAN', jobs, cursor, 'COUNT', 25)
else
    page = redis.call('ZSCAN', unique, cursor, 'COUNT', 25)
end
local reply = { page[1] }
for i = 1, #page[2], 2 do
    reply[#reply + 1] = page[2][i]
end
return reply
