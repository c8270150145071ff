<?php

// Settlement.php: the interface of what receives the end of an attempt: done, retry, bury.

namespace Laterd;

/** Receives the end of an attempt. */
interface Settlement
{
    public function done(): void;

    public function retry(float $in, string $why): void;

    public function bury(string $why): void;
}
