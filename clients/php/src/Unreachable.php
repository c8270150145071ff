<?php

// Unreachable.php: the error when Redis is not there, or its answer was lost.

namespace Laterd;

/** Redis was not there, or its answer was lost. It is safe to push again under the same id. */
final class Unreachable extends Error
{
    /** The first words of what Redis says that is not there for us */
    private const WORDS = [
        // @errors unreachable: '{UPPER}', // {help}
        'CLUSTERDOWN', // no master for the slot at the moment
        'LOADING', // it reads its file after a start
        'MASTERDOWN', // a replica that has lost its master
        'READONLY', // it has become a replica
        // @end
    ];

    /** @internal */
    public static function says(string $reply): bool
    {
        return in_array(strtok($reply, ' '), self::WORDS, true);
    }
}
