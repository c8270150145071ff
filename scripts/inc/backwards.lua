-- Turns the order of the jobs round. Redis keeps a set of up to 128 members as a list. To insert a
-- member it reads the scores from the beginning, so it is cheaper to insert the last job first.
local function backwards(list)
    for i = 1, #list / 2 - 1, 2 do
        local k = #list - i
        list[i], list[i + 1], list[k], list[k + 1] = list[k], list[k + 1], list[i], list[i + 1]
    end
    return list
end
