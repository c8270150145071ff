// live-worker.js: one stream for all pages of this browser, since a browser opens only six
// connections to us.
import { merge } from './merge.js';

const ports = new Map(); // port → is its page visible?
let source = null, state = null, lost = false;

function tell() {
    for (const port of ports.keys()) port.postMessage({ state, lost });
}

function update() {
    const wanted = [...ports.values()].some(Boolean);
    if (wanted && !source) {
        source = new EventSource('api/1/live');
        source.onmessage = ({ data }) => {
            state = merge(state, JSON.parse(data), Date.now());
            lost = false;
            tell();
        };
        source.onerror = () => {
            lost = true;
            tell();
        };
    } else if (!wanted && source) {
        source.close();
        source = null;
    }
}

onconnect = (event) => {
    const port = event.ports[0];
    ports.set(port, true);
    port.onmessage = ({ data }) => {
        if (data === 'gone') ports.delete(port);
        else ports.set(port, data === 'seen');
        update();
    };
    if (state || lost) port.postMessage({ state, lost });
    update();
};
