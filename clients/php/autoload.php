<?php

// autoload.php: for programs without Composer, which require this file: loads the classes.

spl_autoload_register(function (string $class): void {
    if (str_starts_with($class, 'Laterd\\')) {
        $file = __DIR__ . '/src/' . strtr(substr($class, 7), '\\', '/') . '.php';
        if (is_file($file)) {
            require $file;
        }
    }
});
