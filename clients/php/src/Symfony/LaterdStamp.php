<?php

// LaterdStamp.php: the stamp that says what laterd does with a message: id, priority, lock.

namespace Laterd\Symfony;

use Laterd\NewJob;
use Symfony\Component\Messenger\Stamp\StampInterface;

/**
 * What laterd is to do with a message, by the names of NewJob:
 *
 *     $bus->dispatch($message, [new LaterdStamp(id: "invoice-$number", priority: 10, lock: 'invoices')]);
 *
 * Messenger's DelayStamp says when.
 */
final class LaterdStamp implements StampInterface
{
    public readonly array $options;

    public function __construct(mixed ...$options)
    {
        new NewJob('check', null, ...$options);
        $this->options = $options;
    }
}
