<?php

// cache.php: the cache of the Laravel application: a file.

return ['default' => 'file', 'prefix' => 'shop',
    'stores' => ['file' => ['driver' => 'file', 'path' => $_SERVER['NOTES'] . '/cache']]];
