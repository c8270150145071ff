// live-worker.js: one stream for all pages of this browser, which has only six connections to us.

const ports = new Map(); // port → does its page show?
let source = null, last = null;

function tell(message) {
    last = message;
    for (const port of ports.keys()) port.postMessage(message);
}

function update() {
    const wanted = [...ports.values()].some(Boolean);
    if (wanted && !source) {
        source = new EventSource('api/1/live');
        source.onmessage = (event) => tell({ text: event.data, at: Date.now() });
        source.onerror = () => tell({ lost: true, at: Date.now() });
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
    if (last) port.postMessage(last);
    update();
};
