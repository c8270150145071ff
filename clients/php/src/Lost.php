<?php

// Lost.php: the error when a reservation is over, or its job was cancelled.

namespace Laterd;

/** The reservation is over: its lease ran out, or the job was cancelled. Nothing was changed. */
final class Lost extends Error
{
}
