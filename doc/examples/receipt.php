<?php
// receipt.php: writes a receipt for an order. Long-lived: a line in, a line out for each job.
//
// In, on standard input:
//     {"id":"…","type":"exec.receipt_php","queue":"default","attempt":1,"document":{…},…}
// Out, on descriptor 3:
//     {"id":"…","result":"done"}, or "retry", "bury" or "return" with "error" and "in" seconds.
//
// Whatever it prints is logged, warnings too. It ends when its input does; one that dies is started
// again, and only the job it had is tried again.

class Bad extends Exception {} // trying again cannot help

function write_receipt($payload)
{
    $order = $payload['order'] ?? null;
    $items = $payload['items'] ?? null;
    if (!is_string($order) || !ctype_alnum($order) || !is_array($items)) {
        throw new Bad('bad payload: order or items');
    }
    $total = 0;
    foreach ($items as $item) {
        $total += $item['price'] * $item['count'];
    }
    // Another attempt at the same job writes the same file again: at least once, and no harm.
    $path = getenv('FOLDER') . "/$order.receipt";
    if (!@file_put_contents("$path.new", "$order $total\n") || !rename("$path.new", $path)) {
        throw new Exception("cannot write $path");
    }
}

function perform($job)
{
    try {
        write_receipt($job['document']['payload'] ?? null);
        return ['result' => 'done'];
    } catch (Bad $error) {
        return ['result' => 'bury', 'error' => $error->getMessage()];
    } catch (Throwable $error) {
        return ['result' => 'retry', 'error' => $error->getMessage(), 'in' => 60];
    }
}

$answers = fopen('php://fd/3', 'w');
while (($line = fgets(STDIN)) !== false) {
    $job = json_decode($line, true);
    fwrite($answers, json_encode(['id' => $job['id']] + perform($job)) . "\n");
}
