<?php

namespace Laterd;

/** Thrown by a handler if another try cannot help. The job becomes dead, with this reason. */
class BuryJob extends Error
{
}
