<?php

namespace Laterd;

/** @internal The job goes on at its checkpoint, in another laterd. */
final class GoesOn extends ReturnJob
{
}
