<?php

namespace Laterd;

/** What this package throws; job documents that laterd would not take are \InvalidArgumentException. */
class Error extends \RuntimeException
{
}
