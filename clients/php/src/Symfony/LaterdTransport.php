<?php

// LaterdTransport.php: a queue of laterd's as a transport of Symfony Messenger.

namespace Laterd\Symfony;

use Laterd\Client;
use Laterd\Handlers;
use Laterd\KnownJob;
use Laterd\Lost;
use Laterd\NewJob;
use Laterd\Reserver;
use Laterd\Settlement;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Exception\LogicException;
use Symfony\Component\Messenger\Exception\MessageDecodingFailedException;
use Symfony\Component\Messenger\Exception\TransportException;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\ErrorDetailsStamp;
use Symfony\Component\Messenger\Stamp\RedeliveryStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Receiver\ListableReceiverInterface;
use Symfony\Component\Messenger\Transport\Receiver\MessageCountAwareInterface;
use Symfony\Component\Messenger\Transport\Serialization\SerializerInterface;
use Symfony\Component\Messenger\Transport\TransportInterface;

/**
 * A queue of laterd's as a transport of Symfony Messenger. A job's payload is what the serializer has made of the
 * message: its body and headers.
 *
 * `messenger:consume` performs the jobs. Under laterd, as a program of the plugin exec, it gets them from laterd;
 * without, it reserves them itself.
 *
 * Messenger tries a message again by sending a copy and rejecting what it received. The copy is a job of its own,
 * whose id is the first one's with ~1, ~2 …: so if the program dies between the two, no second copy is made. A message
 * that is rejected for good becomes a dead job.
 */
final class LaterdTransport implements TransportInterface, ListableReceiverInterface, MessageCountAwareInterface
{
    private const PAGE = 100; // ids that are listed in one call

    private Reserver $reserver;
    private ?Handed $handed = null;

    /** @internal made by LaterdTransportFactory */
    public function __construct(
        private Client $later,
        private SerializerInterface $serializer,
        private string $queue,
        private string $type,
        private float $lease,
    ) {
        $this->reserver = new Reserver($later);
    }

    /** Returns the client behind it, for what Messenger has no word for. */
    public function getClient(): Client
    {
        return $this->later;
    }

    public function send(Envelope $envelope): Envelope
    {
        $received = $this->received($envelope);
        $delay = $envelope->last(DelayStamp::class)?->getDelay() ?? 0;
        $options = $envelope->last(LaterdStamp::class)?->options ?? [];
        $first = $envelope->last(TransportMessageIdStamp::class)?->getId();
        $again = $received !== null && $envelope->last(RedeliveryStamp::class) !== null;
        if ($again) {
            $id = preg_replace('/~\d+$/D', '', $first) . '~' . RedeliveryStamp::getRetryCountFromEnvelope($envelope);
            $options = ['id' => $id] + array_diff_key($options, ['at' => 1]);
        }
        $options = ['in' => $delay > 0 ? $delay / 1000 : $options['in'] ?? null] + $options
            + ['description' => NewJob::describe(get_class($envelope->getMessage()))]; // the type of all is one
        $payload = $this->serializer->encode($envelope->withoutAll(TransportMessageIdStamp::class));
        $pushed = $this->call(fn () => $this->later->push(new NewJob($this->type, $payload, ...$options), queue: $this->queue));
        if ($again) {
            $received->sentAgain = true;
        }
        return $envelope->withoutAll(TransportMessageIdStamp::class)->with(new TransportMessageIdStamp($pushed->id));
    }

    public function get(): iterable
    {
        while (($job = $this->next()) !== null) {
            [$id, $payload, $settlement] = $job;
            try {
                return [$this->envelope($id, $payload)->with(new LaterdReceivedStamp($this, $settlement))];
            } catch (MessageDecodingFailedException $e) {
                $settlement->bury('the message cannot be decoded: ' . $e->getMessage());
            }
        }
        return [];
    }

    public function ack(Envelope $envelope): void
    {
        $this->settle($envelope, fn (Settlement $attempt) => $attempt->done());
    }

    public function reject(Envelope $envelope): void
    {
        $error = $envelope->last(ErrorDetailsStamp::class);
        $why = $error ? $error->getExceptionClass() . ': ' . $error->getExceptionMessage() : 'rejected';
        $done = $this->received($envelope)?->sentAgain;
        $this->settle($envelope, fn (Settlement $attempt) => $done ? $attempt->done() : $attempt->bury($why));
    }

    public function all(?int $limit = null): iterable
    {
        foreach ($this->ids() as $id) {
            if ($limit !== null && $limit-- <= 0) {
                return;
            }
            if ($envelope = $this->find($id)) {
                yield $envelope;
            }
        }
    }

    public function find($id): ?Envelope
    {
        $job = $this->call(fn () => $this->later->show($id, $this->queue));
        return $job && $job->state !== 'done' ? $this->envelope($job->id, $job->payload()) : null;
    }

    /** Counts what is ready or delayed. */
    public function getMessageCount(): int
    {
        $size = $this->call(fn () => $this->later->size($this->queue));
        return $size->ready + $size->delayed;
    }

    /** @return ?array{string, mixed, Settlement} the next job's id, its payload, and who hears of its end */
    private function next(): ?array
    {
        if (Handed::here()) {
            return ($this->handed ??= new Handed())->next();
        }
        return $this->call(function (): ?array {
            $this->reserver->migrate($this->queue);
            $job = $this->reserver->reserve($this->queue, $this->lease)[0] ?? null;
            return $job ? [$job->id, json_decode($job->document, true)['payload'] ?? null, $job] : null;
        });
    }

    private function envelope(string $id, mixed $payload): Envelope
    {
        if (!is_array($payload) || !is_string($payload['body'] ?? null)) {
            throw new MessageDecodingFailedException('the payload is no message of Messenger\'s: it has no body');
        }
        return $this->serializer->decode($payload)->with(new TransportMessageIdStamp($id));
    }

    /** A message that was found by its id, not received, is cancelled. If the attempt is over by now, as its lease is,
     * the message is another worker's. */
    private function settle(Envelope $envelope, \Closure $settle): void
    {
        $received = $this->received($envelope);
        $id = $envelope->last(TransportMessageIdStamp::class)?->getId()
            ?? throw new LogicException('The envelope was not received: it has no TransportMessageIdStamp.');
        $this->call(function () use ($received, $id, $settle): void {
            try {
                $received ? $settle($received->settlement) : $this->later->cancel($id, $this->queue);
            } catch (Lost) {
            }
        });
    }

    private function received(Envelope $envelope): ?LaterdReceivedStamp
    {
        $stamp = $envelope->last(LaterdReceivedStamp::class);
        return $stamp?->transport === $this ? $stamp : null;
    }

    /** Yields the ids of what is ready, then of what is delayed. */
    private function ids(): \Generator
    {
        foreach ($this->later->places($this->queue) as $place) {
            foreach (['ready', 'delayed'] as $state) {
                $from = 0;
                do {
                    $ids = $this->call(fn () => $this->later->ask($place, 'ZRANGE', $this->later->key($place, $state),
                        (string) $from, (string) ($from + self::PAGE - 1)));
                    yield from $ids;
                    $from += self::PAGE;
                } while (count($ids) === self::PAGE);
            }
        }
    }

    private function call(\Closure $call): mixed
    {
        try {
            return $call();
        } catch (\Laterd\Error | \InvalidArgumentException $e) { // the latter: a job that cannot be
            Handlers::trouble($e->getMessage()); // thrown in a retry, it ends messenger:consume
            throw new TransportException($e->getMessage(), 0, $e);
        }
    }
}
