<?php

// GoesOn.php: ends an attempt of a job that goes on at its checkpoint, in another laterd.

namespace Laterd;

/** @internal The job goes on at its checkpoint, in another laterd. */
final class GoesOn extends ReturnJob
{
}
