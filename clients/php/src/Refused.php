<?php

namespace Laterd;

/** Redis has answered with an error, which is the message; nothing was changed. */
final class Refused extends Error
{
    public function is(string $word): bool
    {
        return str_starts_with($this->getMessage(), $word . ' ');
    }
}
