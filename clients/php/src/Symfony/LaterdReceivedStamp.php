<?php

// LaterdReceivedStamp.php: the stamp of a received message: its attempt, its transport.

namespace Laterd\Symfony;

use Laterd\Settlement;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** The attempt that a message was received for. */
final class LaterdReceivedStamp implements NonSendableStampInterface
{
    /** Is there a copy of the message, which is to be tried next? */
    public bool $sentAgain = false;

    /** @internal */
    public function __construct(public readonly LaterdTransport $transport, public readonly Settlement $settlement)
    {
    }
}
