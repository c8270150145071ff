<?php

// Unreachable.php: the error when Redis is not there, or its answer was lost.

namespace Laterd;

/** Redis was not there, or its answer was lost. It is safe to push again under the same id. */
final class Unreachable extends Error
{
}
