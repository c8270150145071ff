-- For so many seconds at most a counted job keeps its place without having begun. Until then its
-- time in the list is that long after it was counted: if its worker dies, it falls out by itself.
local LIMIT_OPEN = 5
