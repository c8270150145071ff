-- Returns the document with the time at which its job expires; nil if it is not an object with
-- members. It is not decoded: the new member comes first, and it must not have one of this name.
local function expiring(document, at)
    local head, members = string.match(document, '^(%s*{)%s*(".*)$')
    return head and head .. string.format('"expires_at":%.6f,', at) .. members
end
