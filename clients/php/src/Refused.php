<?php

// Refused.php: the error when Redis answers with an error.

namespace Laterd;

/** Redis answered with an error, which is the message. Nothing was changed. */
final class Refused extends Error
{
    public function is(string $word): bool
    {
        return str_starts_with($this->getMessage(), $word . ' ');
    }
}
