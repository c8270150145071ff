<?php

// Predis.php: Redis by Predis: one server, Sentinels or a Cluster.

namespace Laterd\Redis;

use Laterd\Error;
use Laterd\Refused;
use Laterd\Unreachable;
use Predis\Command\RawCommand;
use Predis\CommunicationException;

/** Uses Predis with one server, Sentinels or a Cluster. Raw commands ignore the option `prefix`. */
final class Predis implements Link
{
    /** @param string $shown where it looks; Predis itself names a server, but no Sentinels */
    public function __construct(private \Predis\Client $redis, private string $shown = '')
    {
        $connection = $redis->getConnection();
        if (method_exists($connection, 'getClusterStrategy')) { // it does not know where their key is
            foreach (['BLMOVE', 'XRANGE', 'XREVRANGE'] as $name) {
                $connection->getClusterStrategy()->setCommandHandler($name, fn ($command) => $command->getArgument(0));
            }
        }
    }

    public function command(string $key, array $words): mixed
    {
        try {
            $connection = $this->redis->getConnection();
            if (method_exists($connection, 'switchToMaster')) {
                $connection->switchToMaster(); // a replica may not have the script yet
            }
            $reply = $this->redis->executeRaw($words, $refused);
        } catch (CommunicationException | \Predis\ClientException $e) {
            throw $this->unreachable($e);
        }
        if ($refused) {
            throw Unreachable::says($reply) ? new Unreachable($reply) : new Refused($reply);
        }
        return $reply;
    }

    private function unreachable(\Throwable $e): Error
    {
        $why = $e->getMessage();
        return Url::refused($e) ?? new Unreachable($this->shown === '' || str_ends_with($why, ']') ? $why : "$this->shown: $why", 0, $e);
    }

    /** A Cluster connection only takes commands with a key, so the node is asked directly. */
    public function load(string $key, string $script): void
    {
        $connection = $this->redis->getConnection();
        if (!method_exists($connection, 'getConnectionBySlot')) {
            $this->command($key, ['SCRIPT', 'LOAD', $script]);
            return;
        }
        try {
            $slot = $connection->getClusterStrategy()->getSlotByKey($key);
            $connection->getConnectionBySlot($slot)->executeCommand(RawCommand::create('SCRIPT', 'LOAD', $script));
        } catch (CommunicationException $e) {
            throw $this->unreachable($e);
        }
    }
}
