<?php

// TimeIsUp.php: what is thrown in a handler when laterd ends its attempt.

namespace Laterd;

/**
 * Thrown inside a handler when laterd ends its attempt: its time is over, it was cancelled, or
 * laterd stops. It is no \Exception, so that a handler's own `catch` does not stop it.
 */
final class TimeIsUp extends \Error
{
}
