// What resourceVersion and resourceVersionMatch do to get and list: every cell of the tables in section 4.5.
import { scenario, GET, POST, SLEEP } from '../steps.ts';
import { CM, SECRETS, EVENTS, q, cm, event, update, remove, tick, LIST, make } from './kit/listwatch.mjs';

// The history that every scenario looks back on: `old` is the version at which a and b existed, `now` the one after which
// b was deleted, a changed and c made.
const history = [...make(CM, cm('a'), cm('b')), remove(`${CM}/b`), update(`${CM}/a`, { data: { x: 'new' } }), ...make(CM, cm('c')), tick(), SLEEP(300)];
const old = '${made_b.metadata.resourceVersion}', now = '${made_c.metadata.resourceVersion}';
const FUTURE = '999999999';

const versions = { unset: undefined, empty: '', zero: '0', old, now, future: FUTURE, garbage: 'garbage', negative: '-1', 'leading-zeros': '00', fraction: '1.5', 'too-large': '99999999999999999999' };
const matches = { unset: undefined, empty: '', exact: 'Exact', notolderthan: 'NotOlderThan', unknown: 'Sometimes', 'lower-case': 'exact' };
const limits = { whole: undefined, limited: '1' };
const odd = ['negative', 'leading-zeros', 'fraction', 'too-large'];

const cells = Object.entries(versions).flatMap(([v, resourceVersion]) => Object.entries(matches).filter(([m]) => !odd.includes(v) || ['unset', 'exact', 'notolderthan'].includes(m)).map(([m, resourceVersionMatch]) =>
  scenario(`versions-list-${v}-match-${m}`, { section: '4.5', about: `list with resourceVersion ${v}, resourceVersionMatch ${m}: whole, and limited to one` }, [
    ...history, ...Object.values(limits).map((limit) => GET(q(CM, { resourceVersion, resourceVersionMatch, limit }), { pick: shown }))])));
/** Names with what the data says (old or new state), and the list's metadata. */
function shown(b) {
  if (!Array.isArray(b?.items)) return b;
  return { kind: b.kind, metadata: b.metadata, items: b.items.map((o) => `${o.metadata.name}${o.data ? ` ${o.data.x}` : ''}`) };
}

const covers = (_, raw) => ({ items: raw.items.length, covers: raw.items.every((o) => BigInt(o.metadata.resourceVersion) <= BigInt(raw.metadata.resourceVersion)) });

export default [
  ...cells,
  scenario('versions-list-exact-equals-request', { section: '4.5', about: 'the list at an exact version carries that version' }, [
    POST(CM, cm('a'), { id: 'a' }), ...make(CM, cm('b')), GET(q(CM, { resourceVersion: '${a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' }), { listRv: true }),
    GET(q(CM, { resourceVersion: '${a.metadata.resourceVersion}', limit: '1' }), { listRv: true })]),
  scenario('versions-list-covers-items', { section: '4.5', about: 'the version of a list is not below that of any item, nor below the version asked for' }, [
    ...make(CM, cm('a'), cm('b')), ...[{}, { resourceVersion: '${made_b.metadata.resourceVersion}' }, { resourceVersion: '${made_b.metadata.resourceVersion}', resourceVersionMatch: 'NotOlderThan' }, { limit: '2' }].map((params) => GET(q(CM, params), { pick: covers }))]),
  scenario('versions-list-exact-paged', { section: '4.5', about: 'pages at an exact version: the token holds on to it' }, [
    ...make(CM, cm('a'), cm('b'), cm('c')), remove(`${CM}/b`), LIST(CM, { resourceVersion: '${made_c.metadata.resourceVersion}', resourceVersionMatch: 'Exact', limit: '1' }, { id: 'p' }),
    LIST(CM, { limit: '1', continue: '${p.metadata.continue}' }, { id: 'p2' }), LIST(CM, { limit: '1', continue: '${p2.metadata.continue}' })]),
  scenario('versions-list-notolderthan-paged', { section: '4.5', about: 'pages of a list not older than a version' }, [
    ...make(CM, cm('a'), cm('b'), cm('c')), LIST(CM, { resourceVersion: '${made_c.metadata.resourceVersion}', resourceVersionMatch: 'NotOlderThan', limit: '2' }, { id: 'p' }), LIST(CM, { limit: '2', continue: '${p.metadata.continue}' })]),
  scenario('versions-list-notolderthan-fresh', { section: '4.5', about: 'a list not older than the version of a write shows that write' }, [
    ...make(CM, cm('a')), LIST(CM, { resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'NotOlderThan' }), ...make(CM, cm('b')), LIST(CM, { resourceVersion: '${made_b.metadata.resourceVersion}' })]),
  scenario('versions-list-exact-before-namespace', { section: '4.5', about: 'at an exact version before its objects were made the list is empty' }, [
    ...make(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }), ...make(CM, cm('a')), GET(q(CM, { resourceVersion: '${made_s.metadata.resourceVersion}', resourceVersionMatch: 'Exact' }))]),
  scenario('versions-list-exact-label', { section: '4.5', about: 'selectors are applied to the state at the exact version' }, [
    ...make(CM, cm('a', { l: 'x' }), cm('b', { l: 'y' })), update(`${CM}/a`, { metadata: { labels: { l: 'y' } } }), LIST(CM, { labelSelector: 'l=x', resourceVersion: '${made_b.metadata.resourceVersion}', resourceVersionMatch: 'Exact' }), LIST(CM, { labelSelector: 'l=x' })]),
  scenario('versions-list-exact-name', { section: '4.5', about: 'a list by name at an exact version' }, [
    ...make(CM, cm('a')), remove(`${CM}/a`), GET(q(CM, { fieldSelector: 'metadata.name=a', resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' })), LIST(CM, { fieldSelector: 'metadata.name=a' })]),
  scenario('versions-list-all-namespaces', { section: '4.5', about: 'an exact list across namespaces' }, [
    ...make(CM, cm('a', { own: '$ns' }), cm('b', { own: '$ns' })), LIST('/api/v1/configmaps', { labelSelector: 'own=$ns', resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' })]),
  scenario('versions-list-two-errors', { section: '4.5', namespace: false, about: 'several faults at once are all listed' }, [
    GET(q(CM, { resourceVersionMatch: 'Sometimes' })), GET(q(CM, { resourceVersionMatch: 'Exact', sendInitialEvents: 'true' })), GET(q(CM, { resourceVersionMatch: 'Exact', continue: 'x' })), GET(q(CM, { resourceVersionMatch: 'Sometimes', continue: 'x', resourceVersion: '0' }))]),
  scenario('versions-list-send-initial-events', { section: '4.3', namespace: false, about: 'sendInitialEvents is refused on a list' }, [
    GET(q(CM, { sendInitialEvents: 'true' })), GET(q(CM, { sendInitialEvents: 'false' })), GET(q(CM, { sendInitialEvents: 'true', resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }))]),
  scenario('versions-list-watch-options', { section: '4.3', about: 'allowWatchBookmarks and timeoutSeconds are accepted on a list' }, [...make(CM, cm('a')), LIST(CM, { allowWatchBookmarks: 'true', timeoutSeconds: '10' })]),
  scenario('versions-list-future-header', { section: '7', about: 'a version that is not there yet: 504 with a Retry-After header' }, [
    GET(q(CM, { resourceVersion: FUTURE }), { compareHeaders: ['retry-after'] }), GET(q(CM, { resourceVersion: FUTURE, resourceVersionMatch: 'NotOlderThan', limit: '5' }), { compareHeaders: ['retry-after'] })]),

  ...[['unset', undefined], ['empty', ''], ['zero', '0'], ['old', old], ['now', now], ['future', FUTURE], ['garbage', 'garbage'], ['negative', '-1'], ['fraction', '1.5'], ['too-large', '99999999999999999999']].map(([id, resourceVersion]) =>
    scenario(`versions-get-${id}`, { section: '4.5', about: `get with resourceVersion ${id}: of an object that was changed, one that was deleted, one that never was` }, [
      ...history, ...['a', 'b', 'z'].map((n) => GET(q(`${CM}/${n}`, { resourceVersion }), n === 'a' ? { compareHeaders: ['retry-after'] } : {}))])),
  scenario('versions-get-match', { section: '4.5', about: 'resourceVersionMatch on a get is not looked at' }, [
    ...history, GET(q(`${CM}/a`, { resourceVersion: old, resourceVersionMatch: 'Exact' })), GET(q(`${CM}/a`, { resourceVersionMatch: 'Sometimes' }), { compare: 'status' })]),
  scenario('versions-get-sees-own-writes', { section: '4.5', about: 'a get without version, or not older than the write, shows the write' }, [
    ...make(CM, cm('a')), update(`${CM}/a`, { data: { x: '1' } }, { id: 'u' }), GET(`${CM}/a`), GET(q(`${CM}/a`, { resourceVersion: '${u.metadata.resourceVersion}' }))]),
  scenario('versions-get-namespace-future', { section: '4.5', about: 'get of a cluster-scoped object at a future version' }, [GET(q('/api/v1/namespaces/$ns', { resourceVersion: FUTURE }))]),
  scenario('versions-get-table-future', { section: '4.5', about: 'the error is the same when a Table is asked for' }, [GET(q(`${CM}/a`, { resourceVersion: FUTURE }), { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })]),

  ...[['unset', {}], ['zero', { resourceVersion: '0' }], ['old', { resourceVersion: '${made_a.metadata.resourceVersion}' }], ['exact', { resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' }],
    ['notolderthan', { resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'NotOlderThan' }], ['future', { resourceVersion: FUTURE }], ['future-exact', { resourceVersion: FUTURE, resourceVersionMatch: 'Exact' }], ['future-notolderthan', { resourceVersion: FUTURE, resourceVersionMatch: 'NotOlderThan' }],
    ['garbage', { resourceVersion: 'garbage' }], ['zero-limit', { resourceVersion: '0', limit: '1' }], ['old-limit', { resourceVersion: '${made_a.metadata.resourceVersion}', limit: '1' }], ['zero-exact', { resourceVersion: '0', resourceVersionMatch: 'Exact' }]].map(([id, params]) =>
    scenario(`versions-events-list-${id}`, { section: '4.5', about: `events are not cached: list ${id}` }, [...make(EVENTS, event('a'), event('b')), LIST(EVENTS, params)])),
  ...[['zero', '0'], ['old', '${made_a.metadata.resourceVersion}'], ['future', FUTURE], ['garbage', 'garbage']].map(([id, resourceVersion]) =>
    scenario(`versions-events-get-${id}`, { section: '4.5', about: `events are not cached: get with resourceVersion ${id}` }, [...make(EVENTS, event('a'), event('b')), GET(q(`${EVENTS}/a`, { resourceVersion }))])),
];
