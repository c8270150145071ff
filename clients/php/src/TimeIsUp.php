<?php

namespace Laterd;

/**
 * Comes up wherever a handler is when laterd ends its attempt: over its time-out, or since it was
 * cancelled or laterd stops. No \Exception, so that a handler's own `catch` lets it pass.
 */
final class TimeIsUp extends \Error
{
}
