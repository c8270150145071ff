<?php

// Moving.php: the error of cancel() when a job changes its state faster than it is cancelled.

namespace Laterd;

/** From cancel(): the job went from one state to the next faster than it could be cancelled. */
final class Moving extends Error
{
}
