-- @include recorded

-- Where places may go by groups (share.lua), their keys are checked as by guard(). `always`: even
-- if there is no record yet.
local function guard_fair(always)
    if recorded or always then
        local base = string.sub(jobs, 1, -5)
        redis.call('HLEN', base .. 'fair')
        redis.call('HLEN', base .. 'groups')
    end
end
