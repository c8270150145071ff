<?php

namespace Laterd;

/** Redis was not there, or its answer was lost. To push again under the same id is safe. */
final class Unreachable extends Error
{
}
