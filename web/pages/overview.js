// overview.js: what runs, what waits and how long, what fails, which hosts there are.
import { button, perform } from './action.js';
import { chart } from './chart.js';
import { age, empty, h, link, number, path, rate, setAttribute, setText, table } from './dom.js';
import { listen, live, SPAN } from './live.js';

const sum = (list, of) => list.reduce((all, one) => all + (of(one) || 0), 0);
const max = (list, of) => list.reduce((most, one) => Math.max(most, of(one) ?? -1), -1);

function tile(name, route, kind) {
    const value = h('b', {}, '–'), more = h('small');
    const element = h(route ? 'a' : 'div', { class: `tile ${kind || ''}`, href: route && path(route) },
                      h('span', {}, name), value, more);
    return { element, set(text, small) { setText(value, text); setText(more, small || ''); } };
}

// The row of a queue. It is made once; later only changes are written.
function row(name) {
    const cells = ['ready', 'reserved', 'delayed', 'dead'].map(() => h('td', { class: 'n' }));
    const oldest = h('td', { class: 'n' }), hosts = h('td', { class: 'n' }), state = h('td');
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' },
                  ['reserved', 'ready', 'delayed', 'dead'].map((kind) => h('i', { class: kind })));
    let paused = false;
    const pause = button('Pause', async () => {
        if (paused) await perform('resume', { queue: name }, `${name} is resumed`);
        else await perform('pause', { queue: name }, `${name} is paused: no more jobs begin`);
    }, { class: 'quiet small' });
    const element = h('tr', { 'data-row': path('queue', { name }) },
        h('th', { scope: 'row' }, link('queue', { name }, name), bar), cells, oldest, hosts, state,
        h('td', { class: 'do' }, pause));

    function update(queue) {
        const counts = [queue.ready, queue.reserved, queue.delayed, queue.dead];
        const all = Math.max(1, sum(counts, (n) => n));
        counts.forEach((n, i) => {
            setText(cells[i], number(n));
            setAttribute(cells[i], 'class', n ? 'n' : 'n zero');
        });
        [queue.reserved, queue.ready, queue.delayed, queue.dead].forEach((n, i) => {
            bar.children[i].style.flexGrow = n / all;
            bar.children[i].hidden = !n;
        });
        setText(oldest, age(queue.oldest_ready));
        setAttribute(oldest, 'class', queue.oldest_ready > 60 ? 'n late' : 'n');
        setText(hosts, queue.served === null ? '–' : number(queue.served));
        paused = queue.paused;
        setText(state, queue.paused ? '❚❚ paused' : queue.partly_paused ? '❚❚ partly' : queue.served
            ? '' : queue.ready ? 'not served' : '');
        setAttribute(state, 'class', queue.paused || queue.partly_paused ? 'paused' : 'late');
        setAttribute(element, 'class', queue.paused ? 'is-paused' : '');
        if (pause) {
            setText(pause, paused ? 'Resume' : 'Pause');
            setAttribute(pause, 'aria-label', `${paused ? 'Resume' : 'Pause'} ${name}`);
        }
    }
    return { element, update };
}

export function overview(main) {
    const tiles = {
        running: tile('Running', 'running', 'reserved'), ready: tile('Ready', null, 'ready'),
        oldest: tile('Longest wait'), delayed: tile('Delayed', null, 'delayed'),
        dead: tile('Dead', 'dead', 'dead'), rate: tile('Attempts a second', 'hosts'),
    };
    const pace = chart('Attempts a second, the last two minutes', [
        { name: 'all', kind: 'ready', of: (point) => point.rate },
        { name: 'failed', kind: 'dead', of: (point) => point.failed }], SPAN);
    const waiting = chart('Ready jobs, the last two minutes',
                          [{ name: 'ready', kind: 'reserved', of: (point) => point.ready }], SPAN);
    const list = table('Queues', [['Queue', ''], ['Ready', 'n'], ['Reserved', 'n'], ['Delayed', 'n'],
                                  ['Dead', 'n'], ['Oldest ready', 'n'], ['Hosts', 'n'], ['State', ''],
                                  ['Action', 'do']]);
    const rows = new Map(), none = h('div');

    main.append(h('h1', { class: 'hidden' }, 'Overview'),
        h('section', { class: 'tiles', 'aria-label': 'Now' },
          Object.values(tiles).map((one) => one.element)),
        h('section', { class: 'charts', 'aria-label': 'The last two minutes' }, pace.element,
          waiting.element),
        h('div', {}, h('h2', {}, 'Queues'),
          list.element, none));

    function update() {
        const { queues, hosts, known } = live.snap;
        const here = hosts.filter((host) => !host.gone);
        const shards = queues.length;
        if (!known) return;
        tiles.running.set(number(sum(here, (host) => host.running)),
                          `on ${number(sum(here, (host) => host.workers))} workers, ${
                              number(sum(queues, (queue) => queue.reserved))} reserved`);
        tiles.ready.set(number(sum(queues, (queue) => queue.ready)), `in ${number(shards)} queues`);
        const longest = max(queues, (queue) => queue.oldest_ready);
        tiles.oldest.set(longest < 0 ? '–' : age(longest), longest > 60 ? 'too long?' : '');
        setAttribute(tiles.oldest.element, 'class', longest > 60 ? 'tile late' : 'tile');
        tiles.delayed.set(number(sum(queues, (queue) => queue.delayed)));
        const dead = sum(queues, (queue) => queue.dead);
        tiles.dead.set(number(dead), dead ? 'look why' : 'none');
        tiles.rate.set(rate(live.points.at(-1)?.rate ?? 0),
                       here.length === 1 ? 'on 1 host' : `on ${number(here.length)} hosts`);
        pace.update(live.points);
        waiting.update(live.points);
        for (const queue of queues) {
            if (!rows.has(queue.queue)) {
                rows.set(queue.queue, row(queue.queue));
            }
            rows.get(queue.queue).update(queue);
        }
        const names = new Set(queues.map((queue) => queue.queue));
        for (const [name, one] of rows) {
            if (!names.has(name)) {
                one.element.remove();
                rows.delete(name);
            }
        }
        queues.forEach((queue, i) => { // sort them, and move only those in the wrong place
            const { element } = rows.get(queue.queue);
            if (list.body.children[i] !== element)
                list.body.insertBefore(element, list.body.children[i] || null);
        });
        list.element.hidden = !queues.length;
        none.replaceChildren(...(queues.length ? [] : [empty('There is no queue yet. ',
            h('code', {}, 'later push hello'), ' makes one.')]));
    }
    return listen(update);
}

