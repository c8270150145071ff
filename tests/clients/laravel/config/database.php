<?php

// database.php: Redis as in Laravel's own skeleton, with a prefix.

return ['redis' => ['client' => $_SERVER['REDIS_CLIENT'] ?? 'phpredis', 'options' => ['prefix' => 'shop_database_'],
    'default' => ($_SERVER['REDIS_CLIENT'] ?? '') === 'predis'
        ? ['scheme' => 'unix', 'path' => $_SERVER['SOCKET']]
        : ['host' => $_SERVER['SOCKET'], 'port' => 0]]];
