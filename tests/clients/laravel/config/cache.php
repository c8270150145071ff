<?php

return ['default' => 'file', 'prefix' => 'shop',
    'stores' => ['file' => ['driver' => 'file', 'path' => $_SERVER['NOTES'] . '/cache']]];
