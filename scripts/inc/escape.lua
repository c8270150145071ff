-- A text without line ends and %, as a value of a record may be; and that text again.
local function escape(text)
    return (string.gsub(text, '[%%\n]', { ['%'] = '%25', ['\n'] = '%0A' }))
end

local function unescape(text)
    return (string.gsub(text, '%%(%x%x)', { ['25'] = '%', ['0A'] = '\n' }))
end
