<?php

namespace Laterd\Redis;

/**
 * What is needed of a Redis client. Keys go out as they are written here: a prefix, a serializer or
 * a compression that the client is set to for the rest of the program is not applied.
 */
interface Link
{
    /**
     * One command; `$key` says to which node of a Cluster it goes.
     *
     * @param string[] $words
     * @return mixed a string, a number, null, or a list of them
     * @throws \Laterd\Refused where Redis answers with an error
     * @throws \Laterd\Unreachable where there is no answer
     */
    public function command(string $key, array $words): mixed;

    /** Has the node that holds `$key` know this script; to be called again where it moved meanwhile. */
    public function load(string $key, string $script): void;
}
