<?php

// Logger.php: PSR-3's logger for handlers: its lines appear in laterd's log.

namespace Laterd;

use Psr\Log\AbstractLogger;

/** PSR-3's logger for handlers. Its lines appear in laterd's log, as those of its job. */
final class Logger extends AbstractLogger
{
    private const LEVELS = ['notice' => 'info', 'warning' => 'warn', 'critical' => 'error', 'alert' => 'error',
        'emergency' => 'error'];

    public function __construct(private Job $job)
    {
    }

    public function log($level, $message, array $context = []): void
    {
        $with = [];
        foreach ($context as $name => $value) {
            $with['{' . $name . '}'] = is_scalar($value) || $value instanceof \Stringable ? (string) $value : json_encode($value);
        }
        $this->job->log(self::LEVELS[$level] ?? (string) $level, strtr((string) $message, $with));
    }
}
