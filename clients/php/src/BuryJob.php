<?php

namespace Laterd;

/** Thrown by a handler: trying again cannot help. The job becomes dead, with the reason. */
class BuryJob extends Error
{
}
