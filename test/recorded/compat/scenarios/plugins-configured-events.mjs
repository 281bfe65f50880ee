// EventRateLimit: a bucket for each namespace, user, or source and object. Buckets get one event a second.
import { scenario, POST, PUT, PATCH, DELETE, SLEEP } from '../steps.ts';
import { CM, cm, quiet, dry } from './kit/admission.mjs';

const EVENTS = '/api/v1/namespaces/$ns/events';
const NEW_EVENTS = '/apis/events.k8s.io/v1/namespaces/$ns/events';
const event = (name, more = {}) => ({ apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: '$ns' }, involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: '$ns', name: 'p', uid: 'u' }, source: { component: 'c', host: 'h' }, reason: 'r', message: 'm', ...more });
const newEvent = (name) => ({ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name, namespace: '$ns' }, eventTime: '2026-01-01T00:00:00.000000Z', reportingController: 'example.org/c', reportingInstance: 'i', action: 'a', reason: 'r', type: 'Normal', regarding: { kind: 'Pod', namespace: '$ns', name: 'p' } });
const told = { pick: (b) => (b.kind === 'Status' ? b : 'accepted'), compareHeaders: ['retry-after'] };
const within = (needs, id, about, steps, o = {}) => scenario(`plugins-configured-events-${id}`, { section: '1', about, needs: `event-rate-limit-${needs}`, ...o }, steps);
const mayAll = (...users) => [
  POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }, quiet),
  POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { metadata: { name: 'all' }, subjects: users.map((name) => ({ kind: 'User', name })), roleRef: { kind: 'Role', name: 'all' } }, quiet),
];
/** Sent until the bucket is empty: on a slow machine a second may pass between two requests. */
const emptied = (step) => ({ ...step, ...told, kind: 'poll', ms: 10000, until: (_, status) => status === 429 });
const burst = [1, 2].map((n) => POST(EVENTS, event(`e${n}`), { ...told, note: `event ${n}` })).concat([emptied(POST(EVENTS, event('e3')))]);

export default [
  within('namespace', 'refuse', 'more events of a namespace than its bucket has', burst),
  within('namespace', 'other-namespace', 'another namespace has its own', [POST(EVENTS, event('a'), quiet), POST(EVENTS, event('b'), quiet), POST('/api/v1/namespaces/default/events', event('$ns-a', { metadata: { name: '$ns-a', namespace: 'default' }, involvedObject: { namespace: 'default' } }), told)]),
  within('namespace', 'refill', 'a second later there is room for one', [...burst, SLEEP(1500), POST(EVENTS, event('f'), told)]),
  within('namespace', 'dry-run', 'a dry run does not count', [1, 2, 3, 4].map((n) => POST(EVENTS, event(`e${n}`), { ...told, ...dry }))),
  within('namespace', 'others', 'other kinds do not', [1, 2, 3, 4].map((n) => POST(CM, cm(`c${n}`), told))),
  within('namespace', 'update', 'updates count', [POST(EVENTS, event('a'), told), PUT(`${EVENTS}/a`, event('a', { message: 'n' }), told), emptied(PATCH(`${EVENTS}/a`, 'merge', { message: 'o' }))]),
  within('namespace', 'delete', 'deletes do not', [POST(EVENTS, event('a'), quiet), DELETE(`${EVENTS}/a`, undefined, quiet), POST(EVENTS, event('b'), told), DELETE(`${EVENTS}/b`, undefined, told)]),
  within('namespace', 'new-group', 'events of events.k8s.io', [1, 2, 3, 4].map((n) => POST(NEW_EVENTS, newEvent(`e${n}`), told))),
  within('namespace', 'refused-otherwise', 'an event that is invalid does not count', [1, 2, 3].map((n) => POST(EVENTS, event(`e${n}`, { involvedObject: { namespace: 'other' } }), told)).concat([POST(EVENTS, event('a'), told)])),
  within('user', 'user', 'users have buckets of their own', [...mayAll('alice', 'bob'), ...[1, 2].map((n) => POST(EVENTS, event(`e${n}`), { ...told, as: 'alice' })), emptied(POST(EVENTS, event('e3'), { as: 'alice' })), POST(EVENTS, event('b'), { ...told, as: 'bob' })]),
  within('source', 'source', 'sources and objects have buckets of their own', [POST(EVENTS, event('a'), told), emptied(POST(EVENTS, event('b'))), POST(EVENTS, event('c', { source: { component: 'd' } }), told), POST(EVENTS, event('d', { involvedObject: { kind: 'Pod', namespace: '$ns', name: 'q' } }), told)]),
  within('source', 'source-empty', 'an event without a source', [POST(EVENTS, event('a', { source: {}, involvedObject: { namespace: '$ns', name: 'x' } }), told), emptied(POST(EVENTS, event('b', { source: {}, involvedObject: { namespace: '$ns', name: 'x' } })))]),
  within('several', 'several', 'all limits are named that were reached', [POST(EVENTS, event('a'), told), emptied(POST(EVENTS, event('b')))]),
];
