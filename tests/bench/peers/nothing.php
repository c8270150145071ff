<?php

/** A job of Laravel's that does nothing: for laravel.php. */
class Nothing implements Illuminate\Contracts\Queue\ShouldQueue
{
    public function __construct(public string $text)
    {
    }

    public function handle(): void
    {
    }
}
