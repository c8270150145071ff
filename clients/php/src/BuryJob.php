<?php

// BuryJob.php: what a handler throws if another try cannot help: the job is buried.

namespace Laterd;

/** Thrown by a handler if another try cannot help. The job becomes dead, with this reason. */
class BuryJob extends Error
{
}
