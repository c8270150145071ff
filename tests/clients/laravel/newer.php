<?php

/**
 * newer.php VERSION: the connector in a Laravel newer than Debian's. What it inherits and what the contract asks have
 * other parameters there: stand-ins have them here, as in Laravel 10, 11 and 13. Prints `ok NAME` or `no NAME: why`.
 */

namespace Illuminate\Contracts\Queue {
    interface ClearableQueue
    {
        public function clear($queue);
    }

    interface Queue
    {
        public function size($queue = null);
        public function pendingSize($queue = null);
        public function delayedSize($queue = null);
        public function reservedSize($queue = null);
        public function creationTimeOfOldestPendingJob($queue = null);
        public function push($job, $data = '', $queue = null);
        public function pushRaw($payload, $queue = null, array $options = []);
        public function later($delay, $job, $data = '', $queue = null);
        public function bulk($jobs, $data = '', $queue = null);
        public function pop($queue = null);
    }
}

namespace {
    /** Laravel 10's two events; 11 and later are told more. */
    trait Events10
    {
        protected function raiseJobQueueingEvent($job, $payload)
        {
            $this->told[] = ['queueing', func_get_args()];
        }

        protected function raiseJobQueuedEvent($jobId, $job, $payload)
        {
            $this->told[] = ['queued', func_get_args()];
        }
    }

    trait Events11
    {
        protected function raiseJobQueueingEvent($queue, $job, $payload, $delay)
        {
            $this->told[] = ['queueing', func_get_args()];
        }

        protected function raiseJobQueuedEvent($queue, $jobId, $job, $payload, $delay)
        {
            $this->told[] = ['queued', func_get_args()];
        }
    }

    /** What only 13 has. */
    trait Routes
    {
        protected function resolveQueue($queue)
        {
            return $queue === 'old' ? 'new' : $queue;
        }

        protected function getAttributeValue($job, $attribute, $property)
        {
            return str_ends_with($attribute, '\Delay') ? $job->$property ?? $job->attribute ?? null : null;
        }
    }

    trait None
    {
    }

    class_alias($argv[1] < 11 ? 'Events10' : 'Events11', 'EventsHere');
    class_alias($argv[1] < 13 ? 'None' : 'Routes', 'RoutesHere');
}

namespace Illuminate\Queue {
    abstract class Queue
    {
        use \EventsHere;
        use \RoutesHere;

        public array $told = [];
        protected $dispatchAfterCommit;

        protected function shouldDispatchAfterCommit($job)
        {
            return false;
        }

        protected function secondsUntil($delay)
        {
            return (int) $delay;
        }

        protected function createPayload($job, $queue, $data = '', $delay = null)
        {
            return json_encode(['delay' => $delay] + $this->createPayloadArray($job, $queue, $data));
        }

        protected function createPayloadArray($job, $queue, $data = '')
        {
            return ['uuid' => $job->id, 'displayName' => get_class($job)];
        }

        protected function enqueueUsing($job, $payload, $queue, $delay, $callback)
        {
            return $callback($payload, $queue, $delay);
        }
    }
}

namespace {
    require $_SERVER['CLIENT'] . '/autoload.php';

    enum Names: string
    {
        case Mail = 'mail';
    }

    function same(mixed $got, mixed $wanted): void
    {
        $got === $wanted or throw new Exception('got ' . json_encode($got) . ', wanted ' . json_encode($wanted));
    }

    function job(string $id, array $members = []): stdClass
    {
        return (object) (['id' => $id] + $members);
    }

    $version = (int) $argv[1];
    $later = Laterd\Client::connect('unix:' . $_SERVER['SOCKET'], prefix: "newer$version");
    $queue = new Laterd\Laravel\LaterdQueue($later, 'default', 'exec.laravel');
    $scenarios = [
        'a bulk raises the events of this version' => function () use ($queue, $version) {
            $queue->bulk([job('a'), job('b', ['delay' => 60])], '', 'bulk');
            same(array_column($queue->told, 0), ['queueing', 'queueing', 'queued', 'queued']);
            $payload = '{"delay":60,"attempts":0,"uuid":"b","displayName":"stdClass"}';
            $last = $queue->told[3][1];
            $version < 11 ? same([$last[0], $last[1]->id, $last[2]], ['b', 'b', $payload])
                : same([$last[0], $last[1], $last[2]->id, $last[3], $last[4]], ['bulk', 'b', 'b', $payload, 60]);
        },
        'the sizes that the contract asks for' => function () use ($queue) {
            same([$queue->pendingSize('bulk'), $queue->delayedSize('bulk'), $queue->reservedSize('bulk')], [1, 1, 0]);
            $since = $queue->creationTimeOfOldestPendingJob('bulk');
            same(is_int($since) && abs($since - time()) < 60, true);
            same($queue->creationTimeOfOldestPendingJob('empty'), null);
        },
        'what is pushed at once has no delay' => function () use ($queue, $later) {
            $queue->push(job('now'), '', 'now');
            same($later->show('now', 'now')->payload()['delay'] ?? null, null);
        },
        "a queue's name may be a case of an enum" => fn () => same($queue->getQueue(Names::Mail), 'mail'),
    ];
    if ($version >= 13) {
        $scenarios['a queue that is forwarded'] = fn () => same($queue->getQueue('old'), 'new');
        $scenarios['a delay by an attribute, in a bulk'] = function () use ($queue) {
            $queue->bulk([job('c', ['attribute' => 60])], '', 'attribute');
            same($queue->delayedSize('attribute'), 1);
        };
    }
    foreach ($scenarios as $name => $scenario) {
        try {
            $scenario();
            echo "ok Laravel $version: $name\n";
        } catch (Throwable $e) {
            echo "no Laravel $version: $name: ", $e->getMessage(), "\n";
        }
    }
}
