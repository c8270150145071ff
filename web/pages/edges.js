// edges.js: the lines between the steps of a flow, from what is waited for to what waits. They are for the eye: each
// step has the same in words.
import { svg } from './dom.js';

const MOST = 40; // steps of a flow; with more, lines only hide each other

const namesOf = ({ after }) => (after ? after.split(',') : []);

// Returns [from, to] of each line. What waits for all has lines from those that nobody else waits for.
function linesOf(jobs) {
    const steps = new Map(jobs.map((job) => [job.step, job])), named = new Set(jobs.flatMap(namesOf));
    const last = jobs.filter((job) => job.after !== '*' && !named.has(job.step));
    return jobs.flatMap((job) => (job.after === '*' ? last : namesOf(job).map((name) => steps.get(name)).filter(Boolean)).map((from) => [from, job]));
}

// Puts lines behind `list`, the only child of its parent. draw(jobs, spots): of these steps; spots: job → its element.
export function edges(list) {
    const picture = svg('svg', { class: 'edges', 'aria-hidden': 'true' });
    let lines = [], spots = new Map();
    list.before(picture);

    function place() {
        picture.replaceChildren(...lines.map(([from, to]) => {
            const [a, b] = [spots.get(from), spots.get(to)];
            const x = a.offsetLeft + a.offsetWidth / 2, y = a.offsetTop + a.offsetHeight, down = b.offsetTop - y, bend = Math.max(12, down / 2);
            return svg('path', { class: from.state, d: `M${x} ${y}c0 ${bend} ${b.offsetLeft + b.offsetWidth / 2 - x} ${down - bend} ${
                b.offsetLeft + b.offsetWidth / 2 - x} ${down}m-3-5l3 5l3-5` });
        }));
    }
    new ResizeObserver(place).observe(list);
    return (jobs, places) => {
        lines = jobs.length > MOST ? [] : linesOf(jobs);
        spots = places;
        list.classList.toggle('drawn', lines.length > 0);
        place();
    };
}
