// live-worker.js: one stream for all pages of this browser, since a browser opens only six
// connections to us.
import { merge, mergeTroubles } from './merge.js';
import { follow, glance } from './stream.js';

const ports = new Map(); // port → is its page visible?
let stop = null, stopGlance = null, token = '', state = null, lost = '';

function tell() {
    for (const port of ports.keys()) port.postMessage({ state, lost });
}

function update() {
    const wanted = [...ports.values()].some(Boolean);
    if (wanted && !stop) {
        stop = follow(token, (news) => {
            state = merge(state, news, Date.now());
            lost = '';
            tell();
        }, (words) => {
            lost = words;
            tell();
        });
    } else if (!wanted && stop) {
        stop();
        stop = null;
    }
    if (!wanted && ports.size && !stopGlance) {
        stopGlance = glance(token, (troubles) => {
            state = mergeTroubles(state, troubles, Date.now());
            tell();
        });
    } else if (stopGlance && (wanted || !ports.size)) {
        stopGlance();
        stopGlance = null;
    }
}

function renew(now) {
    if (now === token) return;
    token = now;
    lost = '';
    stop?.();
    stopGlance?.();
    stop = stopGlance = null;
}

onconnect = (event) => {
    const port = event.ports[0];
    port.onmessage = ({ data }) => {
        if (data.gone) ports.delete(port);
        else ports.set(port, data.seen);
        if (!data.gone) renew(data.token);
        update();
    };
    if (state || lost) port.postMessage({ state, lost });
};
