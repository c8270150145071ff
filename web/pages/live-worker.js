// live-worker.js: one stream for all pages of this browser, since a browser opens only six
// connections to us.
import { hear } from './merge.js';
import { follow, glance } from './stream.js';

const ports = new Map(); // port → is its page visible?
const heard = hear();
let stop = null, stopGlance = null, token = '', lost = '';

function tell(change) {
    for (const port of ports.keys()) port.postMessage({ change, lost });
}

function update() {
    const wanted = [...ports.values()].some(Boolean);
    if (wanted && !stop) {
        stop = follow(token, (news) => {
            lost = '';
            tell(heard.take(news, Date.now()));
        }, (words) => {
            lost = words;
            tell();
        });
    } else if (!wanted && stop) {
        stop();
        stop = null;
    }
    if (!wanted && ports.size && !stopGlance) {
        stopGlance = glance(token, (troubles) => tell(heard.troubles(troubles, Date.now())));
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

// A page that is new, or that was gone, has not heard what came before.
function greet(port) {
    const change = heard.whole();
    if (change || lost) port.postMessage({ change, lost });
}

onconnect = (event) => {
    const port = event.ports[0];
    port.onmessage = ({ data }) => {
        if (data.gone) {
            ports.delete(port);
        } else {
            renew(data.token);
            if (!ports.has(port)) greet(port);
            ports.set(port, data.seen);
        }
        update();
    };
};
