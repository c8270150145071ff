<?php

namespace Laterd;

/** @internal What a client does with flows. */
final class Flows
{
    private const KEPT = '86400'; // seconds that a flow is kept after its end
    private const JOBS_MAX = 200; // per call
    private const BYTES_MAX = 1048576;
    private const FLOW_MAX = 1000000;
    private const LOOK = 200000;  // microseconds between two looks of wait()

    public function __construct(private Client $later)
    {
    }

    /**
     * @param NewJob[] $jobs
     * @return Pushed[] in their order
     */
    public function push(string $name, array $jobs, string $queue, bool $open): array
    {
        $jobs = self::plan($name, $jobs, $open);
        $this->later->announce($queue);
        $answers = [];
        $parts = self::parts($jobs);
        foreach ($parts as $n => $part) {
            $this->pushPart($name, $part, $queue, !$open && $n === array_key_last($parts), $answers);
        }
        ksort($answers);
        return $answers;
    }

    /**
     * Refuses a flow that cannot end.
     *
     * @param NewJob[] $jobs
     * @return array{NewJob, string}[] each job of the flow with its document
     */
    public static function plan(string $name, array $jobs, bool $open): array
    {
        NewJob::checkLabel('flow', $name);
        $jobs = self::prepared($name, array_values($jobs));
        self::check($jobs, $open);
        return $jobs;
    }

    /** Adds a job to its flow, which stays open. */
    public function add(NewJob $job, string $queue): Pushed
    {
        $document = $job->document();
        $this->later->announce($queue);
        $answers = [];
        $this->pushPart($job->flow, [[$job, $document]], $queue, false, $answers);
        return $answers[0];
    }

    public function look(string $name, string $queue): ?Flow
    {
        NewJob::checkLabel('flow', $name);
        $key = $this->later->key($queue, "flow:$name");
        return Flow::parse($name, $this->later->ask($queue, 'HMGET', $key, ...Flow::fields()));
    }

    public function wait(string $name, string $queue, float $seconds): ?Flow
    {
        $end = hrtime(true) / 1e9 + $seconds;
        while (in_array(($flow = $this->known($name, $queue))->state, ['open', 'running'], true)) {
            if (hrtime(true) / 1e9 >= $end) {
                return null;
            }
            usleep(self::LOOK);
        }
        return $flow;
    }

    public function close(string $name, string $queue): void
    {
        $this->known($name, $queue);
        $answers = [];
        $this->pushPart($name, [], $queue, true, $answers);
    }

    public function kick(string $name, string $queue): int
    {
        return $this->act($name, $queue, 'x', fn ($id) => $this->later->kick($id, $queue));
    }

    /** Those that wait go first: otherwise one that waits for a failure would run now. */
    public function cancel(string $name, string $queue): int
    {
        $cancel = fn ($id) => $this->later->cancel($id, $queue);
        $count = $this->act($name, $queue, 'w', $cancel) + $this->act($name, $queue, 'wox', $cancel);
        $this->close($name, $queue);
        return $count;
    }

    private function known(string $name, string $queue): Flow
    {
        return $this->look($name, $queue) ?? throw new FlowUnknown($name, $queue);
    }

    private function act(string $name, string $queue, string $states, \Closure $act): int
    {
        $this->known($name, $queue);
        $key = $this->later->key($queue, "flow:$name");
        $ids = [];
        $cursor = '0';
        do {
            [$cursor, $fields] = $this->later->ask($queue, 'HSCAN', $key, (string) $cursor, 'MATCH', 'j:*', 'COUNT', '500');
            foreach (array_chunk($fields, 2) as [$field, $text]) {
                if (str_contains($states, $text[0])) {
                    $ids[] = substr($field, 2);
                }
            }
        } while ((string) $cursor !== '0');
        return count(array_filter(array_unique($ids), fn ($id) => $act($id) !== null));
    }

    /** To repeat it is safe: what is there is known. */
    private function pushPart(string $name, array $part, string $queue, bool $close, array &$answers): void
    {
        $args = [$name, $part ? (string) reset($part)[0]->adder : '', $close ? '1' : '0', self::KEPT];
        foreach ($part as [$job, $document]) {
            array_push($args, $job->id, (string) $job->step, implode(',', $job->after ?? []), $job->when ?? 'done',
                $job->when(), $job->rank(), $document);
        }
        $own = ['flow' => "flow:$name", 'unknown' => "flow:$name:unknown"];
        $told = $this->later->call('flow_push', $queue, $args, $own);
        if (!is_array($told)) {
            throw new FlowClosed($name);
        }
        foreach (array_keys($part) as $i => $n) {
            [$result, $state] = explode(' ', strtolower($told[$i]) . ' ');
            $answers[$n] = $result === 'waiting' ? new Pushed($part[$n][0]->id, $queue, 'pushed', 'waiting')
                : new Pushed($part[$n][0]->id, $queue, $result, $state);
        }
        if (in_array('FULL', $told, true)) {
            throw new QueueFull($queue, $answers);
        }
    }

    /** Returns jobs of the flow with their documents. */
    private static function prepared(string $name, array $jobs): array
    {
        if (count($jobs) > self::FLOW_MAX) {
            throw new \InvalidArgumentException('a flow has at most ' . self::FLOW_MAX . ' jobs');
        }
        foreach ($jobs as $i => $job) {
            try {
                $job = $job->inFlow($name, $i + 1);
                $jobs[$i] = [$job, $job->document()];
            } catch (\InvalidArgumentException $e) {
                throw new \InvalidArgumentException('job ' . ($i + 1) . ": {$e->getMessage()}");
            }
        }
        return $jobs;
    }

    /** First those that wait, so that nothing has begun whose successor is not there. */
    private static function parts(array $jobs): array
    {
        $parts = [[]];
        $size = 0;
        $waits = array_filter($jobs, fn ($one) => $one[0]->after !== null);
        foreach ($waits + $jobs as $n => [$job, $document]) {
            $last = array_key_last($parts);
            if (count($parts[$last]) >= self::JOBS_MAX
                || $parts[$last] && $size + strlen($document) > self::BYTES_MAX) {
                $parts[++$last] = [];
                $size = 0;
            }
            $parts[$last][$n] = [$job, $document];
            $size += strlen($document);
        }
        return $parts;
    }

    /** Refuses a flow that cannot end: steps of one name, or that nobody has, and circles. */
    private static function check(array $jobs, bool $open): void
    {
        $refuse = fn ($i, $text) => throw new \InvalidArgumentException('job ' . ($i + 1) . ": $text");
        $steps = $waiters = $left = $free = [];
        foreach ($jobs as $i => [$job]) {
            if ($job->step !== null && isset($steps[$job->step])) {
                $refuse($i, "step: another job is $job->step, too");
            }
            $steps += $job->step === null ? [] : [$job->step => $job->after === ['*']];
        }
        foreach ($jobs as $i => [$job]) {
            $left[$i] = 0;
            foreach ($job->after === ['*'] ? [] : $job->after ?? [] as $step) {
                $isStar = $steps[$step] ?? null;
                if ($isStar === null && !$open || $isStar) {
                    $refuse($i, $isStar ? "after: step $step waits for all jobs, this one too"
                        : "after: there is no step $step");
                }
                if ($isStar !== null) {
                    $waiters[$step][] = $i;
                    $left[$i]++;
                }
            }
        }
        $free = array_keys($left, 0, true);
        for ($at = 0; $at < count($free); $at++) {
            foreach ($waiters[$jobs[$free[$at]][0]->step ?? ''] ?? [] as $waiter) {
                if (--$left[$waiter] === 0) {
                    $free[] = $waiter;
                }
            }
        }
        if (count($free) < count($jobs)) {
            $stuck = array_keys(array_filter($left));
            $names = array_map(fn ($i) => $jobs[$i][0]->step ?? 'job ' . ($i + 1), array_slice($stuck, 0, 10));
            throw new \InvalidArgumentException('after: a circle: ' . implode(', ', $names) . ' wait for each other');
        }
    }
}
