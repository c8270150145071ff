import { get } from './api.js';
import { empty, h, path } from './dom.js';
export function search(main, parameters) {
    main.append(h('h1', {}, 'Search'));
    get('job', { id: parameters.get('q') }).then((answer) => {
        location.replace(path('job', { id: answer.answers[0].id, queue: answer.answers[0].queue }));
    }, (error) => main.append(empty(error.message)));
}
