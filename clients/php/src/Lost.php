<?php

namespace Laterd;

/** The reservation is over: its lease ran out, or the job was cancelled. Nothing was changed. */
final class Lost extends Error
{
}
