<?php

// KeptFlow.php: a flow that was pushed to a Fake: what becomes of jobs that wait.

namespace Laterd\Testing;

use Laterd\Flow;
use Laterd\NewJob;

/** A flow that was pushed to a Fake: what becomes of jobs that wait, as doc/protocol.md says ("Flows"). */
final class KeptFlow
{
    private const LETTERS = ['waiting' => 'w', 'ready' => 'o', 'delayed' => 'o', 'reserved' => 'o', 'dead' => 'x',
        'done' => 'd', 'cancelled' => 'g', 'skipped' => 's'];
    private const COUNTS = ['open' => 'o', 'waiting' => 'w', 'dead' => 'x', 'done' => 'd', 'gone' => 'g', 'skipped' => 's'];
    private const FATES = ['g' => 'was cancelled, purged, expired or trimmed', 's' => 'was not needed',
        'u' => 'does not exist'];

    public bool $closed = false;
    /** @var array<string, Kept> by id; a known job may be of several flows */
    public array $jobs = [];
    /** @var array<string, Kept> */
    private array $steps = [];
    /** @var array<string, true> ids of those that wait for all without `*` */
    private array $stars = [];
    private float $made;

    public function __construct(public readonly string $name)
    {
        $this->made = microtime(true);
    }

    /** @param NewJob $tie the job as it was pushed to this flow, which for a known one is not how it was made */
    public function add(Kept $kept, NewJob $tie): void
    {
        $this->jobs[$kept->id] = $kept;
        if ($tie->step !== null) {
            $this->steps[$tie->step] = $kept;
        }
        if ($tie->after === ['*']) {
            $this->stars[$kept->id] = true;
        }
    }

    /** The later one takes the other's place. */
    public function replace(Kept $old, Kept $kept): void
    {
        $this->jobs[$kept->id] = $kept;
        $this->steps = array_map(fn ($one) => $one === $old ? $kept : $one, $this->steps);
    }

    public function stands(): Flow
    {
        $counts = self::counts($this->jobs);
        $told = ['closed' => $this->closed ? '1' : '0', 'made' => (string) $this->made] + $counts;
        return Flow::parse($this->name, array_map(fn ($field) => $told[$field] ?? 0, Flow::fields()));
    }

    /** Returns what one that has waited gets: the members of its line. */
    public function heard(NewJob $tie): array
    {
        if ($tie->after === ['*']) {
            $failed = array_filter($this->plain(), fn ($one) => in_array(self::LETTERS[$one->state], ['x', 'g'], true));
            return ['flow' => ['name' => $this->name] + self::counts($this->plain()) + ['failed' => array_column($failed, 'id')]];
        }
        $steps = array_intersect_key($this->steps, array_flip($tie->after ?? []));
        return $steps ? ['values' => (object) array_map(fn ($one) => $one->value, $steps)] : [];
    }

    /**
     * Decides about those that wait, whose time has come.
     *
     * @param \Closure $run gets those that may run
     * @return bool whether any job has changed
     */
    public function settle(\Closure $run): bool
    {
        $changed = false;
        foreach ($this->jobs as $kept) {
            if ($kept->state !== 'waiting' || $kept->home !== $this) {
                continue;
            }
            [$fate, $why] = $kept->tie->after === ['*'] ? $this->all($kept->tie) : $this->some($kept->tie);
            $changed = $changed || $fate !== 'wait';
            if ($fate === 'run') {
                $run($kept);
            } elseif ($fate === 'skip') {
                $kept->state = 'skipped';
            } elseif ($fate === 'bury') {
                $kept->state = 'dead';
                $kept->error = ['at' => microtime(true), 'attempt' => 0, 'kind' => 'flow', 'text' => $why, 'host' => ''];
            }
        }
        return $changed;
    }

    /** @return Kept[] those without `*` */
    private function plain(): array
    {
        return array_diff_key($this->jobs, $this->stars);
    }

    private static function counts(array $jobs): array
    {
        $letters = array_count_values(array_map(fn ($kept) => self::LETTERS[$kept->state], $jobs));
        return ['total' => count($jobs)] + array_map(fn ($letter) => $letters[$letter] ?? 0, self::COUNTS);
    }

    /** @return array{string, string} its fate, run, skip, bury or wait, and why */
    private function all(NewJob $tie): array
    {
        $counts = self::counts($this->plain());
        $over = $this->closed && $counts['open'] + $counts['waiting'] === 0;
        if ($tie->when === 'failed') {
            return [$counts['dead'] + $counts['gone'] > 0 ? 'run' : ($over ? 'skip' : 'wait'), ''];
        }
        if ($tie->when !== 'ended' && $counts['gone'] > 0) {
            return ['bury', "needs all jobs of flow $this->name, and $counts[gone] of them are gone"];
        }
        return [$over && ($tie->when === 'ended' || $counts['dead'] === 0) ? 'run' : 'wait', ''];
    }

    private function some(NewJob $tie): array
    {
        $letters = array_map(fn ($step) => isset($this->steps[$step]) ? self::LETTERS[$this->steps[$step]->state]
            : ($this->closed ? 'u' : 'w'), $tie->after);
        $over = !array_intersect(['o', 'w'], $letters);
        if ($tie->when === 'failed') {
            return [array_intersect(['x', 'g', 'u'], $letters) ? 'run' : ($over ? 'skip' : 'wait'), ''];
        }
        if ($tie->when === 'ended') {
            return [$over ? 'run' : 'wait', ''];
        }
        foreach ($letters as $i => $letter) {
            if (isset(self::FATES[$letter])) {
                return ['bury', "needs step {$tie->after[$i]} of flow $this->name, which " . self::FATES[$letter]];
            }
        }
        return [array_unique($letters) === ['d'] ? 'run' : 'wait', ''];
    }
}
