<?php

namespace Laterd;

/** This Redis holds queues of another protocol than this client speaks. */
final class WrongProtocol extends Error
{
}
