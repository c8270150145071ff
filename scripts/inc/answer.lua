-- The end of scripts that put jobs into a queue: counts what is in `tally`, each by its name, and
-- what was FULL, for which a full Redis may have no room; and answers.

for counter, n in pairs(tally) do
    if n > 0 then
        count(stats, counter, n)
    end
end
if full > 0 then
    redis.pcall('HINCRBY', stats, 'refused', full)
end
return answers
