<?php

// Link.php: the interface of what is needed of a Redis client.

namespace Laterd\Redis;

/**
 * What is needed of a Redis client. Keys are sent as they are written here. The client's settings
 * for the rest of the program (prefix, serializer, compression) do not apply.
 */
interface Link
{
    /**
     * Sends one command. `$key` says to which node of a Cluster it goes.
     *
     * @param string[] $words
     * @return mixed a string, a number, null, or a list of them
     * @throws \Laterd\Refused if Redis answers with an error
     * @throws \Laterd\Unreachable if there is no answer
     */
    public function command(string $key, array $words): mixed;

    /** Loads this script into the node that holds `$key`. If the key moved meanwhile, call it
     * again. */
    public function load(string $key, string $script): void;
}
