local function spell(time)
    return string.format('%.6f', time)
end
