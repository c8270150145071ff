// timeline.js: a job's attempts in order: waits, runs, hosts, errors.
import { age, duration, h, moment, since } from './dom.js';
import { when } from './jobs.js';
import { t } from './words.js';

// A version 7 UUID begins with the milliseconds of its making. laterd's other ids tell nothing.
function born(id) {
    const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id);
    return match ? parseInt(match[1] + match[2], 16) / 1000 : null;
}

const WORDS = { retry: t`failed`, timeout: t`took too long`, crash: t`crashed`, lapse: t`its lease ran out`,
                buried: t`buried`, return: t`given back`, bad: t`a bad document`,
                unknown: t`No plugin has its type` };

// An error as a step. before: the error before it.
function failure(error, before) {
    const same = before && ['kind', 'text', 'host'].every((name) => before[name] === error[name]);
    const words = WORDS[error.kind] || error.kind || t`failed`;
    return {
        at: error.at, ms: error.ms, host: error.host, kind: 'dead', words: same ? '' : error.text, same,
        title: error.kind === 'unknown' ? words
            : error.attempt ? t`Attempt ${error.attempt}: ${words}` : t`Not begun: ${words}`,
    };
}

// Returns words for attempts that are missing between two, or for numbers that begin again.
function between(from, to) {
    if (to <= from) return t`Kicked: its attempts start afresh`;
    if (to === from + 2) return t`Attempt ${from + 1} is no longer known`;
    return to > from + 2 ? t`Attempts ${from + 1} to ${to - 1} are no longer known` : '';
}

function failures(job) {
    if (job.error && typeof job.error !== 'object')
        return [{ at: null, kind: 'dead', title: t`Failed`, words: String(job.error) }];
    const all = [...(job.earlier || [])].reverse(), steps = [];
    if (job.error) all.push(job.error);
    all.forEach((error, i) => {
        const before = all[i - 1], attempt = error.attempt || 0;
        const gap = attempt && between(before ? before.attempt || 0 : 0, attempt);
        const again = before && attempt === before.attempt; // a returned job has the same attempt again
        if (gap && !again) steps.push({ at: null, kind: '', title: gap, soft: true });
        steps.push(failure(error, before));
    });
    return steps;
}

function last(job) {
    if (job.finished)
        return { at: job.finished.at, ms: job.finished.ms, host: job.finished.host, kind: 'done',
                 title: t`Attempt ${job.finished.attempt}: done` };
    return { at: when(job), kind: job.state, title: {
        ready: t`Ready: waits for a worker`, delayed: t`Due`, dead: t`Dead`, done: t`Done`,
        reserved: t`Attempt ${job.attempts + 1}: it runs, or is about to` }[job.state] };
}

export function timeline(job) {
    const pushed = born(job.id), steps = [...failures(job), last(job)];
    let before = pushed;
    if (pushed) steps.unshift({ at: pushed, kind: 'ready', title: t`Pushed` });
    return h('ol', { class: 'timeline' }, steps.map((step, i) => {
        const began = step.at && step.at - (step.ms || 0) / 1000;
        const wait = i > 0 && began && before ? began - before : 0;
        if (step.at) before = step.at;
        if (step.soft) return h('li', { class: 'soft' }, h('small', {}, step.title));
        return h('li', { class: step.kind },
            h('b', {}, step.title), ' ',
            step.at ? h('time', { title: since(step.at) }, `${moment(step.at)}, ${since(step.at)}`) : '',
            h('small', { class: 'more' }, [
                wait > 0.0005 && (step.ms || i < steps.length - 1 ? t`waited ${duration(wait)}` : t`${age(wait)} later`),
                step.ms && t`ran ${duration(step.ms / 1000)}`, step.host && t`on ${step.host}`,
                step.same && t`the same error`].filter(Boolean).join(' · ')),
            step.words && h('pre', { class: 'error', tabindex: '0', 'aria-label': step.title }, step.words));
    }));
}
