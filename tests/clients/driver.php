<?php

// driver.php: the PHP client, or its Fake, driven by judge.py. README.md says what is spoken.
// It is called as `php driver.php phpredis|predis|fake`.

declare(strict_types=1);

require dirname(__DIR__, 2) . '/clients/php/autoload.php';
if ($argv[1] === 'predis') {
    require 'Predis/autoload.php';
} elseif ($argv[1] === 'phpredis' && !extension_loaded('redis')) {
    exit(69);
}

use Laterd\Client;
use Laterd\Flow;
use Laterd\Json;
use Laterd\KnownJob;
use Laterd\NewJob;
use Laterd\NewSchedule;
use Laterd\Pushed;
use Laterd\Queues;
use Laterd\Redis\Url;
use Laterd\Testing\Fake;

/** A Redis client for the server that the judge names, with a prefix, as an application might set
 * one. */
function open(array $place, string $library): Queues
{
    if ($place['kind'] === 'fake') {
        return new Fake();
    }
    $prefix = $place['client_prefix'] ?? '';
    if ($prefix === '') {
        return Client::connect(url($place), $place['password'] ?? null, prefix: $place['prefix'] ?? 'later', library: $library);
    }
    if ($library === 'predis') {
        $redis = match ($place['kind']) {
            'single' => new Predis\Client(['scheme' => 'unix', 'path' => $place['socket']], ['prefix' => $prefix]),
            'sentinel' => new Predis\Client(hosts($place), ['prefix' => $prefix, 'replication' => 'sentinel',
                'service' => $place['master']]),
            'cluster' => new Predis\Client(hosts($place), ['prefix' => $prefix, 'cluster' => 'redis']),
        };
    } else {
        $redis = (new ReflectionMethod(Url::class, 'phpredis'))->invoke(new Url(url($place)));
        $redis->setOption(Redis::OPT_PREFIX, $prefix);
        $redis->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
    }
    return new Client($redis, $place['prefix'] ?? 'later');
}

function hosts(array $place): array
{
    return array_map(fn ($node) => "tcp://$node[0]:$node[1]", $place['nodes']);
}

function url(array $place): string
{
    $nodes = implode(',', array_map(fn ($node) => "$node[0]:$node[1]", $place['nodes'] ?? []));
    return match ($place['kind']) {
        'single' => 'unix:' . $place['socket'],
        'sentinel' => "sentinel://$nodes/$place[master]",
        'cluster' => "cluster://$nodes",
    };
}

function job(stdClass $job): NewJob
{
    return new NewJob(...options($job));
}

/** The judge's job in PHP's names. */
function options(stdClass $job): array
{
    $names = ['max_attempts' => 'maxAttempts', 'retry_for' => 'retryFor', 'expires_at' => 'expiresAt', 'unique_for' => 'uniqueFor',
        'max_wait' => 'maxWait', 'expires_in' => 'expiresIn',
        'on_dead' => 'onDead', 'on_done' => 'onDone'];
    $options = [];
    foreach ((array) $job as $name => $value) {
        if ($name === 'payload_json') {
            $options['payload'] = new Json($value);
        } elseif (($name === 'backoff' || $name === 'context') && $value instanceof stdClass) {
            $options[$name] = (array) $value;
        } else {
            $options[$names[$name] ?? $name] = $value;
        }
    }
    return $options;
}

function schedule(stdClass $said): NewSchedule
{
    $said = ['job' => job($said->job)] + (array) $said;
    if (isset($said['catch_up'])) {
        $said['catchUp'] = $said['catch_up'];
        unset($said['catch_up']);
    }
    return new NewSchedule(...$said);
}

function ends(stdClass $call): array
{
    return array_map('job', array_intersect_key((array) $call, ['then' => 0, 'finally' => 0, 'failed' => 0]));
}

/** The jobs as they are, a chain, or a batch. */
function flowJobs(stdClass $call): array
{
    if (isset($call->chain)) {
        return Flow::chain(...array_map('job', $call->chain));
    }
    if (isset($call->batch)) {
        return Flow::batch(array_map('job', $call->batch), ...ends($call));
    }
    return array_map('job', $call->jobs);
}

function known(KnownJob $known): array
{
    return ['id' => $known->id, 'state' => $known->state, 'attempts' => $known->attempts, 'priority' => $known->priority,
        'document' => json_decode($known->document)]
        + array_filter(['error' => $known->error, 'progress' => $known->progress, 'checkpoint' => $known->checkpoint, 'log' => $known->log]);
}

function told(Pushed $pushed): array
{
    return array_filter(['id' => $pushed->id, 'result' => $pushed->result, 'state' => $pushed->state], 'strlen');
}

function answer(?Queues &$client, stdClass $call, string $library): array
{
    static $heard = []; // after pushes, of those whose client has a context
    if (isset($call->heard)) {
        return ['heard' => $heard];
    }
    if (isset($call->open)) {
        $place = json_decode(json_encode($call->open), true);
        $client = open($place, $library);
        if (isset($place['context'])) {
            $heard = [];
            $client->beforePush(fn (NewJob $job) => $job->with(['context' => $job->context + $place['context']]))
                ->afterPush(function (NewJob $job, Pushed $pushed) use (&$heard) {
                    $heard[] = "$job->type $pushed->id $pushed->result";
                });
        }
        return [];
    }
    if (isset($call->push)) {
        return told($client->push(job($call->push), queue: $call->queue));
    }
    if (isset($call->events)) {
        $said = $client->events($call->queue, $call->events, $call->limit ?? 500, $call->timeout ?? 0);
        return ['ends' => $said->ends, 'missed' => $said->missed, 'bookmark' => $said->bookmark];
    }
    if (isset($call->map)) {
        $options = options($call->map);
        return (array) $client->map($options['type'], new ArrayIterator($call->items), $call->queue, $call->chunk ?? null,
            $call->flow ?? null, ...ends($call), ...array_diff_key($options, ['type' => 0]));
    }
    if (isset($call->flow)) {
        return ['results' => array_map('told', $client->flow($call->flow, flowJobs($call), $call->queue, isset($call->stays_open)))];
    }
    foreach (['show', 'wait', 'kick', 'cancel', 'close'] as $verb) {
        if (isset($call->{"{$verb}_flow"})) {
            $more = $verb === 'wait' ? ['seconds' => $call->timeout] : [];
            $answer = $client->{"{$verb}Flow"}($call->{"{$verb}_flow"}, $call->queue, ...$more);
            return match (true) {
                is_int($answer) => ['count' => $answer],
                $answer !== null => (array) $answer,
                $verb === 'wait' => ['error' => 'timeout', 'text' => ''],
                $verb === 'show' => ['state' => null],
                default => [],
            };
        }
    }
    if (isset($call->push_many)) {
        return ['results' => array_map('told', $client->pushMany(array_map('job', $call->push_many), $call->queue))];
    }
    if (isset($call->wait) || isset($call->call)) {
        $result = isset($call->wait) ? $client->wait($call->wait, $call->queue, $call->timeout)
            : $client->call($call->call->type, $call->call->payload, $call->queue, $call->timeout);
        return match ($result?->state) {
            null => ['error' => 'timeout', 'text' => ''],
            'done' => ['value' => $result->value],
            'dead' => ['error' => 'failed', 'text' => $result->error['text']],
            'gone' => ['error' => 'unknown', 'text' => ''],
        };
    }
    if (isset($call->wait_many)) {
        $results = $client->waitMany($call->wait_many, $call->queue, $call->timeout);
        return ['results' => array_map(fn ($id, $one) => ['id' => $id, 'state' => $one->state ?? 'waiting', 'value' => $one?->value],
            $call->wait_many, $results)];
    }
    if (isset($call->pause)) {
        return ['changed' => $client->pause($call->queue, ...(array) $call->pause)];
    }
    if (isset($call->resume)) {
        return ['changed' => $client->resume($call->queue)];
    }
    if (isset($call->search)) {
        return ['jobs' => array_map('known', $client->search($call->queue, ...(array) $call->search))];
    }
    if (isset($call->size)) {
        $size = (array) $client->size($call->queue);
        return array_diff_key($size, ['oldestReady' => 0]) + ['oldest_ready' => $size['oldestReady']];
    }
    if (isset($call->reschedule)) {
        $how = array_intersect_key((array) $call, ['in' => 1, 'at' => 1, 'priority' => 1]);
        return ['state' => $client->reschedule($call->reschedule, $call->queue, ...$how)];
    }
    if (isset($call->cron_set)) {
        return ['changed' => $client->cronSet(schedule($call->cron_set), $call->queue)];
    }
    if (isset($call->cron_delete)) {
        return ['changed' => $client->cronDelete($call->cron_delete, $call->queue)];
    }
    if (isset($call->cron_list)) {
        return ['schedules' => $client->cronList($call->queue)];
    }
    if (isset($call->forget)) {
        return ['changed' => $client->forget($call->forget, $call->queue)];
    }
    if (isset($call->kick)) {
        return ['state' => $client->kick($call->kick, $call->queue)];
    }
    if (isset($call->cancel)) {
        return ['state' => $client->cancel($call->cancel, $call->queue)];
    }
    $known = $client->show($call->show, $call->queue);
    return $known === null ? ['state' => null] : known($known);
}

const KINDS = [InvalidArgumentException::class => 'refused', TypeError::class => 'refused', Laterd\FlowClosed::class => 'closed',
    Laterd\FlowUnknown::class => 'unknown', Laterd\QueueFull::class => 'full', Laterd\Refused::class => 'redis',
    Laterd\Unreachable::class => 'redis', Laterd\WrongProtocol::class => 'protocol'];
$client = null;
while (($line = fgets(STDIN)) !== false) {
    try {
        $answer = answer($client, json_decode($line), $argv[1]);
    } catch (Throwable $e) {
        $kind = current(array_filter(KINDS, fn ($class) => $e instanceof $class, ARRAY_FILTER_USE_KEY)) ?: throw $e;
        $answer = ['error' => $kind, 'text' => $e->getMessage()];
    }
    echo json_encode($answer ?: new stdClass()), "\n";
}
