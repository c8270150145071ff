<?php

// WrongProtocol.php: the error for a Redis with queues of another protocol.

namespace Laterd;

/** This Redis holds queues of another protocol than this client speaks. */
final class WrongProtocol extends Error
{
}
