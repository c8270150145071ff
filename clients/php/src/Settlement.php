<?php

namespace Laterd;

/** Where the end of an attempt is told. */
interface Settlement
{
    public function done(): void;

    public function retry(float $in, string $why): void;

    public function bury(string $why): void;
}
