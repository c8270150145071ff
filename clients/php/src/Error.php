<?php

// Error.php: the base of this package's exceptions.

namespace Laterd;

/** The base of this package's exceptions. A job document that laterd would not take is an
 * \InvalidArgumentException. */
class Error extends \RuntimeException
{
}
