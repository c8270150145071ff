// chart.js: draws lines over time as SVG, and reads them out with the pointer and the arrow keys.
import { clock, date, h, moment, setText, svg } from './dom.js';
import { rate, said, t } from './words.js';

const WIDTH = 640, HEIGHT = 132, TOP = 10, BOTTOM = 4;
const TICKS = [0, 0.25, 0.5, 0.75, 1]; // parts of the time that the axis names

function ceiling(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

// lines: [{name, kind, of: point → number, or null if it is not known}]. span: its length in ms.
// words: formats a number. update(points) draws them up to the last one; each point has `at` in ms.
// box: the picture, for what lies over it.
export function chart(label, lines, span, words = rate) {
    const least = words === rate ? 1 : 0.001;
    const time = span > 7200000 ? moment : clock;
    const tick = (unix) => (span > 86400000 ? date(unix) : clock(unix).slice(0, span < 3600000 ? 8 : 5));
    const grid = svg('g', { class: 'grid' });
    const paths = lines.map((line) => svg('path', { class: `line ${line.kind}` }));
    const area = svg('path', { class: `area ${lines[0].kind}` });
    const cursor = svg('line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM, visibility: 'hidden' });
    const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none',
                                 'aria-hidden': 'true', focusable: 'false' },
                        grid, area, ...paths, cursor);
    const top = h('span', { class: 'top' }), read = h('output', { class: 'read' });
    const values = lines.map((line) => h('b'));
    const legend = h('p', { class: 'legend' }, lines.map((line, i) =>
        h('span', { class: `key ${line.kind}` }, `${line.name} `, values[i])), read);
    const axis = h('p', { class: 'axis', 'aria-hidden': 'true' }, TICKS.map(() => h('span')));
    const box = h('div', { class: 'plot', tabindex: '0', role: 'img' }, picture, top);
    let points = [], chosen = null, end = 0, most = 1;

    const x = (point) => WIDTH * (1 - (end - point.at) / span);
    const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value / most);

    const said = (value) => (value === null || value === undefined ? '–' : words(value));

    // Returns the points of a line in runs without a gap.
    function runs(line) {
        let last = null;
        const all = [];
        for (const point of points) {
            const value = line.of(point);
            if (value === null) {
                last = null;
                continue;
            }
            if (!last || point.at - last.at > span / 12) all.push([]);
            all.at(-1).push(`${x(point).toFixed(1)} ${y(value).toFixed(1)}`);
            last = point;
        }
        return all;
    }

    function show() {
        const point = chosen === null ? points[points.length - 1] : points[chosen];
        cursor.setAttribute('visibility', chosen === null || !point ? 'hidden' : 'visible');
        if (point) {
            cursor.setAttribute('x1', x(point));
            cursor.setAttribute('x2', x(point));
        }
        lines.forEach((line, i) => setText(values[i], said(point && line.of(point))));
        setText(read, chosen === null || !point ? '' : time(point.at / 1000));
    }

    function choose(i) {
        chosen = i === null || !points.length ? null : Math.max(0, Math.min(points.length - 1, i));
        show();
    }

    box.addEventListener('pointermove', (event) => {
        const at = end - span * (1 - event.offsetX / box.clientWidth);
        let best = 0;
        points.forEach((point, i) => {
            if (Math.abs(point.at - at) < Math.abs(points[best].at - at)) best = i;
        });
        choose(best);
    });
    box.addEventListener('pointerleave', () => choose(null));
    box.addEventListener('keydown', (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (step) {
            event.preventDefault();
            choose((chosen === null ? points.length : chosen) + step);
        } else if (event.key === 'Escape') {
            choose(null);
        }
    });

    function update(all) {
        end = all.length ? all[all.length - 1].at : 0;
        points = all.filter((point) => end - point.at <= span);
        most = ceiling(Math.max(...points.flatMap((point) => lines.map((line) => line.of(point))), least));
        setText(top, words(most).replace(/[.,]0(?!\d)/, ''));
        TICKS.forEach((part, i) => setText(axis.children[i], points.length ? tick((end - span * (1 - part)) / 1000) : ''));
        grid.replaceChildren(...[0, 0.5, 1].map((part) =>
            svg('line', { x1: 0, x2: WIDTH, y1: y(most * part), y2: y(most * part) })));
        lines.forEach((line, i) => {
            const drawn = runs(line);
            paths[i].setAttribute('d', drawn.map((run) => `M${run.join('L')}`).join(''));
            if (i > 0) return;
            area.setAttribute('d', drawn.map((run) => `M${run.join('L')}L${run.at(-1).split(' ')[0]} ${y(0)}L${
                run[0].split(' ')[0]} ${y(0)}Z`).join(''));
        });
        const last = points[points.length - 1];
        box.setAttribute('aria-label', last ? `${label}: ${lines.map((line) =>
            `${line.name} ${said(line.of(last))}`).join(', ')}` : label);
        show();
    }
    update([]);
    return { element: h('figure', { class: 'chart' }, h('figcaption', {}, label), box, axis, legend), box, update };
}
