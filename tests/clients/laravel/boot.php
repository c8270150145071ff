<?php

// boot.php: a small Laravel of Debian's packages, for clients_laravel.sh and `artisan`.

require 'Illuminate/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = stream_resolve_include_path(strtr($class, '\\', '/') . '.php');
    if (str_starts_with($class, 'Illuminate\\') && $file) {
        require $file;
    }
});
foreach (['Illuminate/Foundation/helpers.php', 'Illuminate/Support/helpers.php'] as $file) {
    require_once $file;
}
require $_SERVER['CLIENT'] . '/autoload.php';
require __DIR__ . '/jobs.php';

$app = new Illuminate\Foundation\Application(__DIR__);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);
if (interface_exists(Illuminate\Contracts\Foundation\MaintenanceMode::class)) { // from Laravel 9.1 on; FoundationServiceProvider
    $app->singleton(Illuminate\Foundation\MaintenanceModeManager::class);
    $app->bind(Illuminate\Contracts\Foundation\MaintenanceMode::class,
        fn ($app) => $app->make(Illuminate\Foundation\MaintenanceModeManager::class)->driver());
}

/** Laravel's failed jobs: a file of their names. */
$app->extend('queue.failer', fn () => new class extends Illuminate\Queue\Failed\NullFailedJobProvider {
    public function log($connection, $queue, $payload, $exception)
    {
        $line = "$connection $queue " . json_decode($payload)->displayName . ' ' . get_class($exception) . "\n";
        file_put_contents($_SERVER['NOTES'] . '/failed_jobs', $line, FILE_APPEND);
    }
});

/** Laravel 12's pauses: here a file that is there. */
$app->extend('queue', fn ($manager, $app) => new class ($app, $manager) extends Illuminate\Queue\QueueManager {
    public function __construct($app, Illuminate\Queue\QueueManager $manager)
    {
        parent::__construct($app);
        $this->connectors = $manager->connectors;
    }

    public function isPaused($connection, $queue)
    {
        return file_exists($_SERVER['NOTES'] . "/paused-$connection-$queue");
    }
});
return $app;
