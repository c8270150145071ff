<?php

// FlowClosed.php: the error when a flow is added to, but by no running job of it.

namespace Laterd;

/** Only a running job of the flow may add to it (`adder`). Nothing was pushed by this call. */
final class FlowClosed extends Error
{
    public function __construct(string $flow)
    {
        parent::__construct("flow $flow is closed: only a running job of it may add to it");
    }
}
