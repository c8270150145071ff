<?php

// WrongProtocol.php: the error for a Redis with queues of another protocol.

namespace Laterd;

/** This Redis holds queues of another protocol than this client speaks, or a push was answered by an unknown word. */
final class WrongProtocol extends Error
{
    /** @internal an answer that means nothing here; what became of the job is not known */
    public static function answered(mixed $answer): self
    {
        return new self('the answer ' . json_encode(substr(is_string($answer) ? $answer : get_debug_type($answer), 0, 40))
            . ' to a push is not known to this client, which is older than its scripts:'
            . ' take the client that came with the laterd that serves the queue');
    }
}
