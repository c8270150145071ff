// receipt.js: writes a receipt for an order. Long-lived: a line in, a line out for each job.
//
// In, on standard input:
//     {"id":"…","type":"exec.receipt_node","queue":"default","attempt":1,"document":{…},…}
// Out, on descriptor 3:
//     {"id":"…","result":"done"}, or "retry", "bury" or "return" with "error" and "in" seconds.
//
// Whatever it prints is logged. It ends when its input does; one that dies is started again, and
// only the job it had is tried again.
'use strict';

const { writeSync } = require('fs');
const fs = require('fs/promises');
const path = require('path');
const readline = require('readline');

class Bad extends Error {} // trying again cannot help

async function writeReceipt(payload) {
  const { order, items } = payload ?? {};
  if (typeof order !== 'string' || !/^[A-Za-z0-9]+$/.test(order) || !Array.isArray(items)) {
    throw new Bad('bad payload: order or items');
  }
  const total = items.reduce((sum, item) => sum + item.price * item.count, 0);
  // Another attempt at the same job writes the same file again: at least once, and no harm.
  const file = path.join(process.env.FOLDER, `${order}.receipt`);
  await fs.writeFile(`${file}.new`, `${order} ${total}\n`);
  await fs.rename(`${file}.new`, file);
}

async function perform(job) {
  try {
    await writeReceipt(job.document.payload);
    return { result: 'done' };
  } catch (error) {
    if (error instanceof Bad) return { result: 'bury', error: error.message };
    return { result: 'retry', error: error.message, in: 60 };
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const job = JSON.parse(line);
    const answer = { id: job.id, ...(await perform(job)) };
    writeSync(3, `${JSON.stringify(answer)}\n`);
  }
}

main();
