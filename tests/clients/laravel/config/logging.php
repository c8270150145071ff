<?php

// logging.php: the log of the Laravel application: standard error.

return ['default' => 'stderr', 'channels' => ['stderr' => ['driver' => 'monolog',
    'handler' => Monolog\Handler\StreamHandler::class, 'with' => ['stream' => 'php://stderr']]]];
