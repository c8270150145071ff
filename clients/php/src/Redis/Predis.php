<?php

namespace Laterd\Redis;

use Laterd\Refused;
use Laterd\Unreachable;
use Predis\Command\RawCommand;
use Predis\CommunicationException;

/** Uses Predis with one server, Sentinels or a Cluster. Raw commands ignore the option `prefix`. */
final class Predis implements Link
{
    public function __construct(private \Predis\Client $redis)
    {
        $connection = $redis->getConnection();
        if (method_exists($connection, 'getClusterStrategy')) { // it does not know where its key is
            $connection->getClusterStrategy()->setCommandHandler('BLMOVE', fn ($command) => $command->getArgument(0));
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
            throw new Unreachable($e->getMessage(), 0, $e);
        }
        if ($refused) {
            throw preg_match('/^(LOADING|CLUSTERDOWN|READONLY|MASTERDOWN) /', $reply)
                ? new Unreachable($reply) : new Refused($reply);
        }
        return $reply;
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
            throw new Unreachable($e->getMessage(), 0, $e);
        }
    }
}
