// download.js: what was found as a file: a line for each job, which `later push --file` takes.
import { button, note } from './action.js';
import { getFile, mean } from './api.js';
import { h, path } from './dom.js';
import { narrow } from './query.js';
import { many, said, t } from './words.js';

const STATES = ['ready', 'delayed', 'dead', 'waiting', 'done']; // of which there are lines

async function lines(blob) {
    let count = 0;
    for await (const bytes of blob.stream()) count += bytes.reduce((sum, byte) => sum + (byte === 10), 0);
    return count;
}

function save(blob, name) {
    const link = h('a', { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

async function fetchAll(asked, signal) {
    const { command, blob } = await getFile(asked.queue ? 'export-queue' : 'export', asked, signal);
    try {
        const all = await blob();
        const name = ['later', asked.queue?.replace(/\W/g, '-'), asked.state].filter(Boolean).join('-');
        save(all, `${name}.ndjson`);
        const count = await lines(all);
        note(many(count, '{} job is in {}|{} jobs are in {}', `${name}.ndjson`), command);
    } catch (error) {
        if (error.name !== 'AbortError')
            note(t`It broke off: it has more than 32 MiB, or Redis went away. The command has no such bound.`, command, true);
    }
}

// q: the search; asked: its conditions, as the server names them. Lines are of one state.
export function download(q, asked) {
    const stop = new AbortController();
    const get = button(t`Download`, async () => {
        get.disabled = true;
        await fetchAll(asked, stop.signal).catch((error) => error.name !== 'AbortError' && note(said(error.message), error.command, true));
        get.disabled = false;
    }, {}, 'reader');
    const narrower = (state) => h('a', { href: path('search', { q: narrow(q, 'state', state) }), onclick: () => mean(narrow(q, 'state', state)) }, said(state));
    const choose = h('details', { class: 'download' }, h('summary', {}, t`Download`),
                     h('p', { class: 'facts' }, t`A file has jobs of one state:`, ' ', STATES.flatMap((state) => [narrower(state), ' '])));
    return { element: STATES.includes(asked.state) ? get : choose, end: () => stop.abort() };
}
