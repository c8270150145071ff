// overview.js: what runs, what waits and how long, what fails, which hosts there are.
import { chart } from './chart.js';
import { age, empty, h, path, setAttribute, setText } from './dom.js';
import { listen, live, SPAN } from './live.js';
import { draw } from './marks.js';
import { waited } from './merge.js';
import { queueTable } from './queues.js';
import { many, number, rate, t } from './words.js';

const MARKED = 20; // of what happened in the two minutes

const sum = (list, of) => list.reduce((all, one) => all + (of(one) || 0), 0);
const max = (list, of) => list.reduce((most, one) => Math.max(most, of(one) ?? -1), -1);

function tile(name, route, kind) {
    const value = h('b', {}, '–'), more = h('small');
    const element = h(route ? 'a' : 'div', { class: `tile ${kind || ''}`, href: route && path(route) },
                      h('span', {}, name), value, more);
    return { element, set(text, small) { setText(value, text); setText(more, small || ''); } };
}

export function overview(main) {
    const tiles = {
        running: tile(t`Running`, 'running', 'reserved'), ready: tile(t`Ready`, null, 'ready'),
        oldest: tile(t`Longest wait`), delayed: tile(t`Delayed`, null, 'delayed'),
        dead: tile(t`Dead`, 'dead', 'dead'), rate: tile(t`Attempts a second`, 'hosts'),
    };
    const pace = chart(t`Attempts a second, the last two minutes`, [
        { name: t`all`, kind: 'ready', of: (point) => point.rate },
        { name: t`failed`, kind: 'dead', of: (point) => point.failed }], SPAN);
    const waiting = chart(t`Ready jobs, the last two minutes`,
                          [{ name: t`ready`, kind: 'reserved', of: (point) => point.ready }], SPAN);
    const list = queueTable(), none = h('div');

    main.append(h('h1', { class: 'hidden' }, t`Overview`),
        h('section', { class: 'tiles', 'aria-label': t`Now` },
          Object.values(tiles).map((one) => one.element)),
        h('section', { class: 'charts', 'aria-label': t`The last two minutes` }, pace.element,
          waiting.element),
        list.element, none);

    function update() {
        const { queues, hosts, known } = live.snap;
        const here = hosts.filter((host) => !host.gone);
        const shards = queues.length;
        if (!known) return;
        tiles.running.set(number(sum(here, (host) => host.running)),
                          many(sum(here, (host) => host.workers), 'on {} worker, {} reserved|on {} workers, {} reserved',
                               number(sum(queues, (queue) => queue.reserved))));
        tiles.ready.set(number(sum(queues, (queue) => queue.ready)), many(shards, 'in {} queue|in {} queues'));
        const longest = max(queues, (queue) => waited(queue, live.snap));
        tiles.oldest.set(longest < 0 ? '–' : age(longest), longest > 60 ? t`too long?` : '');
        setAttribute(tiles.oldest.element, 'class', longest > 60 ? 'tile late' : 'tile');
        tiles.delayed.set(number(sum(queues, (queue) => queue.delayed)));
        const dead = sum(queues, (queue) => queue.dead);
        tiles.dead.set(number(dead), dead ? t`look why` : t`none`);
        tiles.rate.set(rate(live.points.at(-1)?.rate ?? 0),
                       many(here.length, 'on {} host|on {} hosts'));
        pace.update(live.points);
        waiting.update(live.points);
        [pace, waiting].forEach(({ box }) => draw(box, live.marks.slice(-MARKED), SPAN, live.points.at(-1)?.at ?? 0));
        list.update();
        none.replaceChildren(...(queues.length ? [] : [empty(
            t`There is no queue yet. ${h('code', {}, 'later push hello')} makes one.`)]));
    }
    return listen(update);
}

