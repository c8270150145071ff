-- What may follow when a job with a record has ended.

-- @include stay
-- @include again
-- @include hand_on
