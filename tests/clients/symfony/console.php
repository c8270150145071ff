<?php

/**
 * console.php: a small application on Symfony Messenger, for clients_symfony.sh.
 * It is made of Debian's packages, and has what Symfony's FrameworkBundle would wire from a messenger.yaml
 * with the transports `jobs` and `failed`.
 *
 *     console.php send WORD...      sends a message for each word, KIND:NAME, and prints its id; see handle()
 *     console.php count             how many wait
 *     console.php messenger:...     Symfony's own commands
 */

use Laterd\Symfony\LaterdStamp;
use Laterd\Symfony\LaterdTransportFactory;
use Symfony\Component\Console\Application;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\Messenger\Command;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\EventListener;
use Symfony\Component\Messenger\Exception\UnrecoverableMessageHandlingException;
use Symfony\Component\Messenger\Handler\HandlersLocator;
use Symfony\Component\Messenger\MessageBus;
use Symfony\Component\Messenger\Middleware;
use Symfony\Component\Messenger\RoutableMessageBus;
use Symfony\Component\Messenger\Retry\MultiplierRetryStrategy;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Stamp\TransportMessageIdStamp;
use Symfony\Component\Messenger\Transport\Sender\SendersLocator;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;
use Symfony\Contracts\Service\ServiceProviderInterface;

foreach (['Messenger', 'Console', 'EventDispatcher', 'Process'] as $component) {
    require_once "Symfony/Component/$component/autoload.php";
}
require $_SERVER['CLIENT'] . '/autoload.php';

/** A message. Its kind says what its handler does. */
final class Said
{
    public function __construct(public string $kind, public string $name)
    {
    }
}

final class Located implements ServiceProviderInterface
{
    public function __construct(private array $services)
    {
    }

    public function get(string $id): mixed
    {
        return $this->services[$id];
    }

    public function has(string $id): bool
    {
        return isset($this->services[$id]);
    }

    public function getProvidedServices(): array
    {
        return array_map('get_debug_type', $this->services);
    }
}

function note(string $line): void
{
    file_put_contents($_SERVER['NOTES'] . '/notes', "$line\n", FILE_APPEND);
}

function handle(Said $message): void
{
    note("$message->kind $message->name");
    switch ($message->kind) {
        case 'throws':
            throw new RuntimeException("it throws \u{fc}");
        case 'never':
            throw new UnrecoverableMessageHandlingException('no other try can help');
        case 'once':
            if (!file_exists($_SERVER['NOTES'] . '/mended')) {
                throw new RuntimeException('not yet');
            }
            break;
        case 'ends':
            exit(3);
        case 'hangs':
            while (!file_exists($_SERVER['NOTES'] . "/$message->name")) {
                usleep(10000); // until Laterd\TimeIsUp
            }
    }
}

$factory = new LaterdTransportFactory();
$serializer = new PhpSerializer();
$type = getenv('TYPE') ?: 'exec.symfony';
$transport = fn (string $dsn) => $factory->createTransport($dsn, ['transport_name' => 'x', 'type' => $type,
    'url' => getenv('REDIS') ?: null], $serializer);
$transports = ['jobs' => $transport('laterd://default?redeliver_timeout=' . (getenv('TIMEOUT') ?: 300)),
    'failed' => $transport('laterd://failed')];
$located = new Located($transports);
$retries = new Located(['jobs' => new MultiplierRetryStrategy(2, 50, 2)]);

$bus = new MessageBus([
    new Middleware\AddBusNameStampMiddleware('bus'),
    new Middleware\RejectRedeliveredMessageMiddleware(),
    new Middleware\FailedMessageProcessingMiddleware(),
    new Middleware\SendMessageMiddleware(new SendersLocator([Said::class => ['jobs']], $located)),
    new Middleware\HandleMessageMiddleware(new HandlersLocator([Said::class => ['handle']])),
]);
$events = new EventDispatcher();
$events->addSubscriber(new EventListener\AddErrorDetailsStampListener());
$events->addSubscriber(new EventListener\SendFailedMessageForRetryListener($located, $retries));
$events->addSubscriber(new EventListener\DispatchPcntlSignalListener());
$events->addSubscriber(new EventListener\StopWorkerOnSigtermSignalListener());
if (getenv('FAILURE_TRANSPORT')) {
    $events->addSubscriber(new EventListener\SendFailedMessageToFailureTransportListener(
        new Located(['jobs' => $transports['failed']])));
}

if (($argv[1] ?? '') === 'count') {
    echo $transports['jobs']->getMessageCount(), "\n";
    exit;
}
if (($argv[1] ?? '') === 'send') {
    foreach (array_slice($argv, 2) as $word) {
        [$kind, $name] = explode(':', $word);
        $stamps = match ($kind) {
            'soon' => [new DelayStamp(1500)],
            'unique' => [new LaterdStamp(id: 'unique-1', priority: 5)],
            'hangs' => [new LaterdStamp(id: $name, timeout: 4, maxAttempts: 50)],
            'throws', 'never', 'once', 'ends' => [new LaterdStamp(id: $name)],
            default => [],
        };
        $sent = $bus->dispatch(Envelope::wrap(new Said($kind, $name), $stamps));
        echo $sent->last(TransportMessageIdStamp::class)->getId(), "\n";
    }
    exit;
}
$application = new Application();
$application->addCommands([
    new Command\ConsumeMessagesCommand(new RoutableMessageBus(new Located(['bus' => $bus])), $located, $events, null, ['jobs']),
    new Command\FailedMessagesShowCommand('failed', new Located(['failed' => $transports['failed']])),
    new Command\FailedMessagesRemoveCommand('failed', new Located(['failed' => $transports['failed']])),
    new Command\FailedMessagesRetryCommand('failed', new Located(['failed' => $transports['failed']]), $bus, $events),
]);
$application->run();
