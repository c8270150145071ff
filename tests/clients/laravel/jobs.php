<?php

// jobs.php: the jobs of an application, which know nothing of laterd and note what happens.

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

class Noted implements ShouldQueue
{
    use Dispatchable, InteractsWithQueue, Queueable;

    public function __construct(public string $name)
    {
    }

    public function handle(): void
    {
        $this->note('handle ' . $this->attempts());
    }

    public function failed(?Throwable $e): void
    {
        $this->note('failed ' . ($e ? get_class($e) : ''));
    }

    public function note(string $what): void
    {
        file_put_contents($_SERVER['NOTES'] . '/notes', "$this->name $what\n", FILE_APPEND);
    }
}

class Tried extends Noted
{
    public $tries = 9;
}

/** A process performs one of these, and the others when NOTES has a file go_on. */
class Slow extends Noted
{
    private static int $performed = 0;

    public function handle(): void
    {
        while (self::$performed > 0 && !file_exists($_SERVER['NOTES'] . '/go_on')) {
            usleep(4000);
        }
        self::$performed++;
        usleep(4000);
        parent::handle();
    }
}

class Throwing extends Noted
{
    public $tries = 2;
    public $backoff = 0;

    public function handle(): void
    {
        parent::handle();
        throw new RuntimeException('it throws');
    }
}

class BackingOff extends Throwing
{
    public $tries = 3;
    public $backoff = [1, 1000];
}

class Releasing extends Noted
{
    public $tries = 3;

    public function handle(): void
    {
        parent::handle();
        $this->attempts() < 2 and $this->release(0);
    }
}

class Failing extends Noted
{
    public function handle(): void
    {
        parent::handle();
        $this->fail(new RuntimeException('it fails'));
    }
}

class Sleeping extends Noted
{
    public $timeout = 5;
    public $tries = 3;
    public $failOnTimeout = true;

    public function handle(): void
    {
        parent::handle();
        sleep(60);
    }
}

class Killed extends Noted
{
    public $tries = 2;

    public function handle(): void
    {
        parent::handle();
        posix_kill(getmypid(), SIGKILL);
    }
}

class Exiting extends Noted
{
    public $tries = 2;

    public function handle(): void
    {
        parent::handle();
        exit(0);
    }
}
