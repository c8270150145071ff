// marks.js: what happened besides jobs, drawn on curves and listed: outages, deploys, pauses.
import { h, moment, since } from './dom.js';
import { said, t } from './words.js';

const KINDS = { start: t`start`, deploy: t`deploy`, reload: t`reload`, down: t`no laterd`, away: t`no Redis`, pause: t`pause`, set: t`set` };
const LISTED = 20, ROOM = 9; // percent of the width that a word needs

const word = (mark) => `${KINDS[mark.mark] || mark.mark} ${mark.queue || mark.version || mark.set || ''} ${mark.type || ''}`.trim();
const lasts = (mark) => mark.to - mark.from >= 1;

function times(mark) {
    if (!lasts(mark)) return moment(mark.from);
    return t`${moment(mark.from)} to ${mark.open ? t`now` : moment(mark.to)}`;
}

// Draws the marks over the last `span` ms before `end` into a chart's box. A word stands where the one
// before leaves room; the list has the last ones, with what they mean. The last point of a curve is where its period
// began: what happened since stands at the edge.
export function draw(box, marks, span, end) {
    const part = (at) => Math.min(100, Math.max(0, 100 * (1 - (end - at * 1000) / span)));
    let free = 0;
    box.querySelectorAll('.mark').forEach((old) => old.remove());
    for (const mark of marks.filter(({ to }) => end && to * 1000 > end - span)) {
        const left = part(mark.from), shown = left >= free;
        const bar = h('span', { class: `mark ${mark.mark}${left > 100 - ROOM ? ' end' : ''}` }, shown ? word(mark) : '');
        bar.style.left = `${left}%`;
        bar.style.width = `${part(mark.to) - left}%`;
        if (shown) free = left + ROOM;
        box.append(bar);
    }
}

export function list(marks) {
    return h('ol', { class: 'marks', 'aria-label': t`What else happened` }, marks.slice(-LISTED).reverse().map((mark) =>
        h('li', { class: mark.mark }, h('b', {}, word(mark)), ' ',
            h('time', { title: since(mark.from) }, times(mark)), ` ${said(mark.words)}`)));
}
