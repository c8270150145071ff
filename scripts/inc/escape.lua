-- A value in a record cannot have line ends, so these and % are escaped.
local function escape(text)
    return (string.gsub(text, '[%%\n]', { ['%'] = '%25', ['\n'] = '%0A' }))
end

local function unescape(text)
    return (string.gsub(text, '%%(%x%x)', { ['25'] = '%', ['0A'] = '\n', ['20'] = ' ' }))
end
