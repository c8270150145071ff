<?php

namespace Laterd;

/** From cancel(): the job went from one state to the next faster than it could be cancelled. */
final class Moving extends Error
{
}
