<?php

// LaterdTransportFactory.php: makes the transports of Symfony Messenger for laterd://QUEUE.

namespace Laterd\Symfony;

use Laterd\Client;
use Symfony\Component\Messenger\Exception\InvalidArgumentException;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportFactoryInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * The transports whose DSN is `laterd://QUEUE`. Options follow it (`laterd://mail?prefix=shop`) or stand under
 * `options:`, where they count more:
 *
 *     url                 of Redis, if it is neither $LATER_REDIS_URL nor the Redis of the laterd on this machine
 *     password            for it
 *     prefix              laterd's option redis.prefix
 *     type                of the jobs, `exec.symfony` by default: the program that performs them
 *     redeliver_timeout   seconds that messenger:consume has a message if no laterd handed it over, 300 by default
 */
final class LaterdTransportFactory implements TransportFactoryInterface
{
    private const DEFAULTS = ['url' => null, 'password' => null, 'prefix' => 'later', 'type' => 'exec.symfony',
        'redeliver_timeout' => 300];

    /** @param ?Client $client used in the place of one that connects by the options; for tests */
    public function __construct(private ?Client $client = null)
    {
    }

    public function createTransport(string $dsn, array $options, SerializerInterface $serializer): TransportInterface
    {
        $parts = preg_match('~^laterd://([A-Za-z0-9_.-]{0,64})(?:\?(.*))?$~D', $dsn, $found) ? $found : null;
        if ($parts === null) {
            throw new InvalidArgumentException("The DSN \"$dsn\" is not laterd://QUEUE?OPTION=VALUE.");
        }
        parse_str($parts[2] ?? '', $query);
        unset($options['transport_name']);
        $given = $options + $query;
        if ($unknown = array_diff_key($given, self::DEFAULTS)) {
            throw new InvalidArgumentException('A transport of laterd has no option "' . key($unknown)
                . '", only ' . implode(', ', array_keys(self::DEFAULTS)) . '.');
        }
        $given += self::DEFAULTS;
        if (!is_numeric($given['redeliver_timeout']) || $given['redeliver_timeout'] < 1) {
            throw new InvalidArgumentException('redeliver_timeout is a number of seconds, at least 1.');
        }
        return new LaterdTransport(
            $this->client ?? Client::connect($given['url'], $given['password'], $given['prefix']),
            $serializer,
            $parts[1] !== '' ? $parts[1] : 'default',
            $given['type'],
            (float) $given['redeliver_timeout'],
        );
    }

    public function supports(string $dsn, array $options): bool
    {
        return str_starts_with($dsn, 'laterd://');
    }
}
