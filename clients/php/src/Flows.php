<?php

// Flows.php: what a client does with flows: push, add, look, wait, close, kick, cancel.

namespace Laterd;

/** @internal What a client does with flows. */
final class Flows
{
    private const KEPT = ''; // how long a flow is kept after its end is for its queue to say
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
        return $this->send($name, $queue, self::plan($name, $jobs, $queue, $open), !$open);
    }

    /**
     * Refuses a flow that cannot end.
     *
     * @param NewJob[] $jobs
     * @return array{NewJob, string, string}[] each job of the flow with its document and its queue
     */
    public static function plan(string $name, array $jobs, string $queue, bool $open): array
    {
        NewJob::checkLabel('flow', $name);
        $jobs = self::prepared($name, array_values($jobs), $queue);
        self::check($jobs, $open);
        return $jobs;
    }

    /** Adds a job to its flow, which stays open. */
    public function add(NewJob $job, string $queue): Pushed
    {
        return $this->send($job->flow, $job->home ?? $queue, [[$job, $job->document(), $queue]], false)[0];
    }

    public function look(string $name, string $queue): ?Flow
    {
        NewJob::checkLabel('flow', $name);
        $key = $this->later->key($queue, "flow:$name");
        return Flow::parse($name, $this->later->ask($queue, 'HMGET', $key, ...Flow::fields()));
    }

    public function wait(string $name, string $queue, float $seconds): ?Flow
    {
        $end = Away::now() + $seconds;
        $away = new Away($end);
        while (true) {
            try {
                $flow = $this->known($name, $queue);
                $away->over();
                if (!in_array($flow->state, ['open', 'running'], true)) {
                    return $flow;
                }
                if (Away::now() >= $end) {
                    return null;
                }
                usleep(self::LOOK);
            } catch (\Exception $e) {
                $away->outlast($e);
            }
        }
    }

    public function close(string $name, string $queue): void
    {
        $this->known($name, $queue);
        $answers = [];
        $this->pushPart($name, [], $queue, true, $answers);
    }

    public function kick(string $name, string $queue): int
    {
        return $this->act($name, $queue, 'x', 'kick', fn ($id, $own) => $this->later->kick($id, $own));
    }

    /** Those that wait go first: otherwise one that waits for a failure would run now. */
    public function cancel(string $name, string $queue): int
    {
        $cancel = fn ($id, $own) => $this->later->cancel($id, $own);
        $count = $this->act($name, $queue, 'w', 'cancel', $cancel);
        $count += $this->act($name, $queue, 'wox', 'cancel', $cancel);
        $this->close($name, $queue);
        return $count;
    }

    private function known(string $name, string $queue): Flow
    {
        return $this->look($name, $queue) ?? throw new FlowUnknown($name, $queue);
    }

    /** Acts on the jobs that are in one of these states, many in a call. One that is not found there,
     * since it runs or has moved, is looked for by itself. */
    private function act(string $name, string $queue, string $states, string $script, \Closure $act): int
    {
        $this->known($name, $queue);
        $key = $this->later->key($queue, "flow:$name");
        $places = []; // of each job
        $cursor = '0';
        do {
            [$cursor, $fields] = $this->later->ask($queue, 'HSCAN', $key, (string) $cursor, 'MATCH', 'j:*', 'COUNT', '500');
            foreach (array_chunk($fields, 2) as [$field, $text]) {
                if (str_contains($states, $text[0])) {
                    $places[substr($field, 2)] = self::placeOf($text) ?? $queue;
                }
            }
        } while ((string) $cursor !== '0');
        $acted = 0;
        foreach (array_unique($places) as $place) {
            $ids = array_map(strval(...), array_keys($places, $place, true));
            foreach (array_chunk($ids, Bounds::PART_MAX) as $some) {
                $was = $this->later->script($script, $place, $some);
                foreach ($some as $i => $id) {
                    $acted += $was[$i] !== '' || $act($id, explode('/', $place)[0]) !== null ? 1 : 0;
                }
            }
        }
        return $acted;
    }

    /** `STATE STEP WHEN DELAY AFTER QUEUE:NUMBER`; the last is there if the job lies in another queue. */
    private static function placeOf(string $text): ?string
    {
        $place = explode(' ', $text)[5] ?? null;
        return $place === null ? null : explode(':', $place)[0];
    }

    /**
     * Pushes jobs into a flow, and closes it if they are all. Those that wait go first, so that nothing has
     * begun whose successor is not there; what goes to the flow's own queue goes last, so that it can close
     * the flow.
     */
    private function send(string $name, string $home, array $jobs, bool $isWhole): array
    {
        foreach (array_unique(array_column($jobs, 2)) as $queue) {
            $this->later->plan($queue);
        }
        $this->later->announce($home);
        $answers = [];
        $parts = $this->parts($jobs, $home);
        $closes = $isWhole && $parts && end($parts)[0] === '';
        foreach ($parts as $n => [$place, $part]) {
            if ($place === '') {
                $this->pushPart($name, $part, $home, $closes && $n === array_key_last($parts), $answers);
            } else {
                $this->pushAway($name, $part, $home, $answers);
            }
        }
        if ($isWhole && !$closes) {
            $none = [];
            $this->pushPart($name, [], $home, true, $none);
        }
        ksort($answers);
        return $answers;
    }

    /** Returns the place of a job, '' if the flow's own queue takes it at once. */
    private function place(array $one, string $home): string
    {
        [$job, , $queue] = $one;
        $plan = $this->later->knownPlan($queue);
        $route = $plan->route($queue, $job->id);
        return $queue === $home && $plan->epoch === '0' ? '' : end($route);
    }

    /** Splits jobs into calls of bounded size, each for one place. */
    private function parts(array $jobs, string $home): array
    {
        $places = array_map(fn ($one) => $this->place($one, $home), $jobs);
        $waits = array_filter($jobs, fn ($one) => $one[0]->after !== null);
        $others = array_diff_key($jobs, $waits);
        $parts = [];
        foreach (count(array_unique($places)) <= 1 ? [$waits + $others] : [$waits, $others] as $turn) {
            $groups = [];
            foreach ($turn as $n => $one) {
                $groups[$places[$n]][$n] = $one;
            }
            krsort($groups, SORT_STRING);
            foreach ($groups as $place => $group) {
                foreach (self::bounded($group) as $part) {
                    $parts[] = [(string) $place, $part];
                }
            }
        }
        return $parts;
    }

    private static function bounded(array $group): \Generator
    {
        $part = [];
        $size = 0;
        foreach ($group as $n => $one) {
            if (count($part) >= Bounds::PART_MAX || $part && $size + strlen($one[1]) > Bounds::BYTES_MAX) {
                yield $part;
                $part = [];
                $size = 0;
            }
            $part[$n] = $one;
            $size += strlen($one[1]);
        }
        yield $part;
    }

    /** To repeat it is safe: what is there is known. */
    private function pushPart(string $name, array $part, string $queue, bool $close, array &$answers): void
    {
        $args = [$name, self::adder($part), $close ? '1' : '0', self::KEPT];
        foreach ($part as [$job, $document]) {
            array_push($args, $job->id, (string) $job->step, implode(',', $job->after ?? []), $job->when ?? 'done',
                $job->when(), $job->rank(), $document);
        }
        $told = $this->call('flow_push', $name, $queue, $args);
        foreach (array_keys($part) as $i => $n) {
            $answers[$n] = Pushed::of($part[$n][0]->id, $part[$n][2], $told[$i]);
        }
        if (in_array('FULL', $told, true)) {
            throw new QueueFull($queue, $answers);
        }
    }

    private static function adder(array $part): string
    {
        return $part ? (string) reset($part)[0]->adder : '';
    }

    private function call(string $script, string $name, string $queue, array $args): array
    {
        $told = $this->later->script($script, $queue, $args, ['flow' => "flow:$name", 'unknown' => "flow:$name:unknown"]);
        if (!is_array($told)) {
            throw $told === 'CLOSED' ? new FlowClosed($name) : WrongProtocol::answered($told);
        }
        return $told;
    }

    /** Jobs of another queue, or of shards, are announced to the flow and parked there, until it has them run. */
    private function pushAway(string $name, array $part, string $home, array &$answers): void
    {
        $queue = reset($part)[2];
        $this->later->byPlan($queue, function () use ($name, $part, $home, $queue, &$answers) {
            $numbers = $this->join($name, array_diff_key($part, $answers), $home, $answers);
            $this->park($name, array_intersect_key($part, $numbers), $home, $queue, $numbers, $answers);
        });
        if (in_array('full', array_column(array_intersect_key($answers, $part), 'result'), true)) {
            throw new QueueFull($queue, $answers);
        }
    }

    /** Returns the numbers under which the flow awaits jobs. */
    private function join(string $name, array $part, string $home, array &$answers): array
    {
        $args = [$name, self::adder($part), '0', self::KEPT];
        foreach ($part as $one) {
            $job = $one[0];
            array_push($args, $job->id, (string) $job->step, implode(',', $job->after ?? []), $job->when ?? 'done',
                $job->when(), $this->place($one, $home));
        }
        $told = $this->call('flow_join', $name, $home, $args);
        $numbers = [];
        foreach (array_keys($part) as $i => $n) {
            if (str_starts_with($told[$i], 'PARK ')) {
                $numbers[$n] = substr($told[$i], 5);
            } else {
                $answers[$n] = Pushed::of($part[$n][0]->id, $part[$n][2], $told[$i]);
            }
        }
        return $numbers;
    }

    /** Former places are only searched. */
    private function park(string $name, array $part, string $home, string $queue, array $numbers, array &$answers): void
    {
        $plan = $this->later->knownPlan($queue);
        $open = array_map(fn ($one) => $plan->route($queue, $one[0]->id), $part);
        while ($open) {
            $groups = [];
            foreach ($open as $n => $route) {
                $groups[(count($route) > 1 ? 'seek ' : 'new ') . $route[0]][] = $n;
            }
            $again = [];
            foreach ($groups as $key => $group) {
                [$mode, $place] = explode(' ', $key);
                if ($mode === 'new') {
                    $this->later->announce($place);
                }
                $args = ["$mode/$plan->epoch", $name, $home];
                foreach ($group as $n) {
                    array_push($args, $part[$n][0]->id, $numbers[$n], $part[$n][0]->rank(), $part[$n][1]);
                }
                foreach ($this->later->script('flow_park', $place, $args) as $i => $answer) {
                    $n = $group[$i];
                    if ($answer === 'ABSENT') {
                        $again[$n] = array_slice($open[$n], 1);
                    } else {
                        $answers[$n] = Pushed::of($part[$n][0]->id, $part[$n][2], $answer);
                    }
                }
            }
            $open = $again;
        }
    }

    /** Returns jobs of the flow with their documents and queues. */
    private static function prepared(string $name, array $jobs, string $home): array
    {
        if (count($jobs) > Bounds::FLOW_MAX) {
            throw new \InvalidArgumentException('a flow has at most ' . Bounds::FLOW_MAX . ' jobs');
        }
        return NewJob::numbered($jobs, function (NewJob $job, int $number) use ($name, $home) {
            $job = $job->inFlow($name, $number, $home);
            return [$job, $job->document(), $job->queue ?? $home];
        });
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
