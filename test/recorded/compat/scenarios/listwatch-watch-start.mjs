// How a watch begins and ends: versions, parameters, paths and timeouts.
import { scenario, GET, POST, WATCH, SLEEP } from '../steps.ts';
import { CM, PODS, EVENTS, LEASES, NODES, q, cm, pod, event, lease, node, update, remove, tick, LIST, SAW, SAW_BRIEF, ENDED, make } from './kit/listwatch.mjs';

const s = (id, about, steps, o = {}) => scenario(`watch-${id}`, { section: '4.5', about, ...o }, steps);
const w = (params = {}, path = CM) => WATCH('w', q(path, { watch: '1', ...params }));
const labels = (path, l) => update(path, { metadata: { labels: l } });
const two = [...make(CM, cm('b'), cm('a')), SLEEP(200)];
const FUTURE = '999999999';
/** A watch request that is answered with an error, or ends by itself after a second. */
const refused = (params, path = CM, o) => GET(q(path, { watch: '1', timeoutSeconds: '1', ...params }), o);

// sendInitialEvents: every combination with the other parameters.
const initial = { true: 'true', false: 'false', empty: '', one: '1', word: 'maybe' };
const combos = [{}, { resourceVersionMatch: 'NotOlderThan' }, { resourceVersionMatch: 'Exact' }, { resourceVersionMatch: 'Sometimes' }, { resourceVersionMatch: 'NotOlderThan', resourceVersion: '' }, { resourceVersionMatch: 'NotOlderThan', resourceVersion: '0' },
  { resourceVersionMatch: 'NotOlderThan', resourceVersion: '0', allowWatchBookmarks: 'true' }, { resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, { resourceVersion: '0' }, { allowWatchBookmarks: 'true' }, { resourceVersionMatch: 'NotOlderThan', continue: 'x' }];

export default [
  s('version-unset', 'without version: the existing objects as ADDED in the order of their names, then changes', [...two, w(), labels(`${CM}/b`, { l: 'x' }), SAW('w', 3)]),
  s('version-empty', 'an empty version is as good as none', [...two, w({ resourceVersion: '' }), ...make(CM, cm('c')), SAW_BRIEF('w', 3)]),
  s('version-zero', 'version 0: the existing objects as ADDED, then changes', [...two, w({ resourceVersion: '0' }), remove(`${CM}/a`), SAW_BRIEF('w', 3)]),
  s('version-zero-empty', 'version 0 in an empty namespace: nothing until something is made', [w({ resourceVersion: '0' }), ...make(CM, cm('a')), SAW_BRIEF('w', 1)]),
  s('version-given', 'a version: what happened after it, nothing of the state before', [...make(CM, cm('a'), cm('b'), cm('c')), labels(`${CM}/a`, { l: 'x' }), remove(`${CM}/b`), w({ resourceVersion: '${made_b.metadata.resourceVersion}' }), SAW_BRIEF('w', 3)]),
  s('version-given-latest', 'the latest version: only what happens from then on', [...make(CM, cm('a')), w({ resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${CM}/a`, { l: 'x' }), SAW_BRIEF('w', 1)]),
  s('version-of-list', 'list, then watch from the version of the list: no gap, no repetition', [
    ...make(CM, cm('a')), LIST(CM, {}, { id: 'l' }), ...make(CM, cm('b')), w({ resourceVersion: '${l.metadata.resourceVersion}' }), ...make(CM, cm('c')), SAW_BRIEF('w', 2)], { section: '4.6' }),
  s('version-of-empty-list', 'watch from the version of an empty list', [LIST(CM, {}, { id: 'l' }), ...make(CM, cm('a')), remove(`${CM}/a`), w({ resourceVersion: '${l.metadata.resourceVersion}' }), SAW_BRIEF('w', 2)], { section: '4.6' }),
  s('version-of-page', 'watch from the version of a paged list sees what changed meanwhile', [
    ...make(CM, cm('a'), cm('b')), LIST(CM, { limit: '1' }, { id: 'l' }), remove(`${CM}/b`), LIST(CM, { continue: '${l.metadata.continue}' }, { id: 'l2' }), w({ resourceVersion: '${l2.metadata.resourceVersion}' }), SAW_BRIEF('w', 1)], { section: '4.6' }),
  s('version-resume', 'a watch resumed from the version of the last event', [
    w(), ...make(CM, cm('a')), SAW_BRIEF('w', 1), ...make(CM, cm('b')), WATCH('again', q(CM, { watch: '1', resourceVersion: '${w.0.object.metadata.resourceVersion}' })), labels(`${CM}/b`, { l: 'x' }), SAW_BRIEF('again', 2)], { section: '4.6' }),
  s('version-of-other-kind', 'the version of a write to another kind is a fine place to start', [tick(), POST(`/api/v1/namespaces/$ns/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, { compare: 'status', id: 'sec' }), ...make(CM, cm('a')), w({ resourceVersion: '${sec.metadata.resourceVersion}' }), SAW_BRIEF('w', 1)]),
  s('version-future', 'a version that is not there yet: the stream opens, and stays silent about what is older', [w({ resourceVersion: FUTURE }), ...make(CM, cm('a')), SAW('w', 1, { ms: 800, compareHeaders: ['content-type'] })]),
  s('version-future-ends', 'a watch from a future version ends with its timeout', [w({ resourceVersion: FUTURE, timeoutSeconds: '1' }), ENDED('w')]),
  s('version-garbage', 'versions that are no versions', ['garbage', '-1', '1.5', '99999999999999999999', ' 1', '0x1', '00'].map((resourceVersion) => refused({ resourceVersion }))),
  s('version-events-unset', 'events are not cached: unset', [...make(EVENTS, event('b'), event('a')), w({}, EVENTS), ...make(EVENTS, event('c')), SAW_BRIEF('w', 3)]),
  s('version-events-zero', 'events are not cached: version 0', [...make(EVENTS, event('b'), event('a')), w({ resourceVersion: '0' }, EVENTS), ...make(EVENTS, event('c')), SAW_BRIEF('w', 3)]),
  s('version-events-given', 'events are not cached: a version', [...make(EVENTS, event('a'), event('b')), w({ resourceVersion: '${made_a.metadata.resourceVersion}' }, EVENTS), remove(`${EVENTS}/a`), SAW_BRIEF('w', 2)]),
  s('version-events-future', 'events are not cached: a future version', [w({ resourceVersion: FUTURE }, EVENTS), ...make(EVENTS, event('a')), SAW('w', 1, { ms: 800 })]),
  s('version-events-garbage', 'events are not cached: no version', [refused({ resourceVersion: 'garbage' }, EVENTS)]),

  // The watch parameter.
  ...Object.entries({ 1: '1', true: 'true', 'upper-true': 'TRUE', yes: 'yes', word: 'garbage', empty: '', bare: null, two: '2' }).map(([id, watch]) => s(`flag-${id}`, `watch=${watch ?? '(no value)'} is a watch`, [...make(CM, cm('a')), SLEEP(200), WATCH('w', q(CM, { watch })), SAW_BRIEF('w', 1)], { section: '4.3' })),
  ...Object.entries({ 0: '0', false: 'false', 'upper-false': 'FALSE', 'mixed-false': 'False' }).map(([id, watch]) => s(`flag-${id}`, `watch=${watch} is a list`, [...make(CM, cm('a')), LIST(CM, { watch })], { section: '4.3' })),
  s('flag-no', 'watch=no, watch=f and watch=off are watches all the same', [...make(CM, cm('a')), SLEEP(200), ...['no', 'f', 'off'].map((watch) => GET(q(CM, { watch, timeoutSeconds: '1' }), { pick: (b) => b?.type ?? b }))], { section: '4.3' }),
  s('flag-repeated', 'of a repeated watch parameter the first counts', [...make(CM, cm('a')), SLEEP(200), GET(`${CM}?watch=false&watch=true`, { pick: (b) => b.kind }), GET(`${CM}?watch=true&watch=false&timeoutSeconds=1`, { pick: (b) => b?.type ?? b })], { section: '4.3' }),
  s('flag-on-object', 'watch on the path of an object is an ordinary get', [...make(CM, cm('a')), GET(`${CM}/a?watch=1`), GET(`${CM}/z?watch=1`)], { section: '4.3' }),
  s('flag-on-post', 'watch on a create is not looked at', [POST(`${CM}?watch=1`, cm('a'))], { section: '4.3' }),
  s('flag-on-status', 'watch on a subresource is an ordinary get', [...make(PODS, pod('a')), GET(`${PODS}/a/status?watch=1`, { pick: (b) => [b.kind, b.metadata?.name] })], { section: '4.3' }),

  // limit and continue have no place on a watch.
  s('limit', 'limit does not limit a watch', [...two, w({ limit: '1' }), ...make(CM, cm('c')), SAW_BRIEF('w', 3)], { section: '4.3' }),
  s('limit-bad', 'a limit that is no number is refused on a watch too', [refused({ limit: 'x' })], { section: '4.3', namespace: false }),
  s('continue', 'continue on a watch', [...two, refused({ continue: 'garbage' }, CM, { pick: brief }), w({ continue: 'garbage' }), SAW_BRIEF('w', 2, { ms: 1000 })], { section: '4.3' }),
  s('continue-version', 'continue with a version on a watch', [...make(CM, cm('a')), w({ continue: 'garbage', resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${CM}/a`, { l: 'x' }), SAW_BRIEF('w', 1, { ms: 1000 })], { section: '4.3' }),

  // resourceVersionMatch and sendInitialEvents (the WatchList gate is off in v1.33).
  ...['Exact', 'NotOlderThan', 'Sometimes'].map((resourceVersionMatch) => s(`match-${resourceVersionMatch.toLowerCase()}`, `resourceVersionMatch=${resourceVersionMatch} on a watch without sendInitialEvents`, [refused({ resourceVersionMatch }), refused({ resourceVersionMatch, resourceVersion: '0' }), refused({ resourceVersionMatch, resourceVersion: '1' }), refused({ resourceVersionMatch, continue: 'x' })], { namespace: false })),
  ...Object.entries(initial).map(([id, sendInitialEvents]) => s(`initial-events-${id}`, `sendInitialEvents=${sendInitialEvents} with every other parameter`, combos.map((c) => refused({ sendInitialEvents, ...c })), { namespace: false, section: '4.6' })),
  s('initial-events-other-kinds', 'sendInitialEvents on other kinds', [refused({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' }, EVENTS), refused({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }, NODES)], { namespace: false, section: '4.6' }),

  // Timeouts and bookmarks.
  s('timeout-ends', 'timeoutSeconds=1 ends the stream cleanly, without a further event', [...make(CM, cm('a')), SLEEP(200), w({ timeoutSeconds: '1' }), ENDED('w')], { section: '4.6' }),
  s('timeout-empty-stream', 'a watch that saw nothing ends with an empty body', [w({ timeoutSeconds: '1' }), ENDED('w', { compareHeaders: ['content-type', 'transfer-encoding', 'content-length'] })], { section: '4.6' }),
  s('timeout-still-open', 'timeoutSeconds=30 and timeoutSeconds=0 leave the stream open', [WATCH('long', q(CM, { watch: '1', timeoutSeconds: '30' })), WATCH('zero', q(CM, { watch: '1', timeoutSeconds: '0' })), SAW('long', 1, { ms: 2500, end: true }), SAW('zero', 1, { ms: 100, end: true })], { section: '4.6' }),
  s('timeout-negative', 'a negative timeoutSeconds', [...make(CM, cm('a')), SLEEP(200), w({ timeoutSeconds: '-1' }), ENDED('w', { ms: 2000, compare: 'status' })], { section: '4.6' }),
  s('timeout-garbage', 'timeoutSeconds that is no number', [GET(q(CM, { watch: '1', timeoutSeconds: 'x' })), GET(q(CM, { watch: '1', timeoutSeconds: '1.5' })), GET(q(CM, { watch: '1', timeoutSeconds: '1s' })), GET(q(CM, { timeoutSeconds: 'x' })), GET(q(CM, { watch: '1', timeoutSeconds: '' }))], { section: '4.6', namespace: false }),
  s('timeout-parameter', 'the timeout parameter does not end a watch; a bad one is refused', [...make(CM, cm('a')), SLEEP(100), w({ timeout: '1s' }), GET(q(CM, { timeout: 'x' })), GET(q(CM, { timeout: '10s' }), { compare: 'status' }), SAW_BRIEF('w', 2, { ms: 2000, end: true })], { section: '4.3' }),
  s('timeout-list', 'timeoutSeconds on a list changes nothing', [...make(CM, cm('a')), LIST(CM, { timeoutSeconds: '5' }), LIST(CM, { timeoutSeconds: '0' })], { section: '4.3' }),
  s('bookmark-none-asked', 'without allowWatchBookmarks no bookmark comes', [...make(CM, cm('a')), SLEEP(200), w({ timeoutSeconds: '6', resourceVersion: '${made_a.metadata.resourceVersion}' }), ENDED('w', { ms: 9000 })], { section: '6.1' }),
  ...['false', '0'].map((allowWatchBookmarks) => s(`bookmark-off-${allowWatchBookmarks}`, `allowWatchBookmarks=${allowWatchBookmarks} means none`, [...make(CM, cm('a')), SLEEP(200), w({ timeoutSeconds: '5', allowWatchBookmarks, resourceVersion: '${made_a.metadata.resourceVersion}' }), ENDED('w', { ms: 9000 })], { section: '6.1' })),
  s('bookmark-changes', 'allowWatchBookmarks does not change the other events', [...make(CM, cm('a')), SLEEP(200), w({ allowWatchBookmarks: 'true' }), labels(`${CM}/a`, { l: 'x' }), remove(`${CM}/a`), SAW('w', 3, { pick: (e) => e.filter((x) => x.type !== 'BOOKMARK').map((x) => `${x.type} ${x.object.metadata.name} ${x.object.metadata.resourceVersion}`) })], { section: '6.1' }),
  // A bookmark comes about two seconds before the end, once the server has seen a write of that kind after the start of the watch.
  ...[['configmap', CM, cm], ['pod', PODS, pod], ['lease', LEASES, lease]].map(([id, path, object]) =>
    s(`bookmark-shape-${id}`, 'a bookmark: kind, apiVersion and a version, the rest empty', [
      ...make(path, object('a')), SLEEP(200), w({ allowWatchBookmarks: 'true', timeoutSeconds: '5', labelSelector: 'none=x', resourceVersion: '${made_a.metadata.resourceVersion}' }, path), ...make(path, object('b')), ENDED('w', { ms: 8000, pick: (e) => e.slice(0, 1) })], { section: '6.1' })),
  s('bookmark-with-events', 'a bookmark among other events', [
    ...make(CM, cm('a')), SLEEP(200), w({ allowWatchBookmarks: 'true', timeoutSeconds: '5', resourceVersion: '${made_a.metadata.resourceVersion}' }), ...make(CM, cm('b')), ENDED('w', { ms: 8000, pick: (e) => e.slice(0, 2).map((x) => [x.type, x.object.metadata.name]) })], { section: '6.1' }),
  s('bookmark-usable', 'a watch from the version of a bookmark', [
    ...make(CM, cm('a')), SLEEP(200), w({ allowWatchBookmarks: 'true', timeoutSeconds: '5', labelSelector: 'none=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), ...make(CM, cm('b')), SAW('w', 1, { ms: 8000, quiet: 0, pick: (e) => e.slice(0, 1).map((x) => x.type) }), ...make(CM, cm('c')),
    WATCH('again', q(CM, { watch: '1', resourceVersion: '${w.0.object.metadata.resourceVersion}' })), SAW_BRIEF('again', 1)], { section: '6.1' }),

  // The deprecated paths with /watch/ in them.
  s('prefix-collection', '/watch/ before the collection is a watch without any parameter', [...two, WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps'), SAW_BRIEF('w', 2)], { section: '4.1' }),
  s('prefix-object', '/watch/ before an object is a watch of that name', [...two, WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps/a'), labels(`${CM}/b`, { l: 'x' }), labels(`${CM}/a`, { l: 'x' }), SAW('w', 2)], { section: '4.1' }),
  s('prefix-object-absent', '/watch/ before an object that does not exist opens and waits', [WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps/z'), ...make(CM, cm('a'), cm('z')), SAW_BRIEF('w', 1)], { section: '4.1' }),
  s('prefix-all-namespaces', '/watch/ before a collection across namespaces', [WATCH('w', '/api/v1/watch/configmaps?labelSelector=own=$ns'), ...make(CM, cm('a', { own: '$ns' })), SAW_BRIEF('w', 1)], { section: '4.1' }),
  s('prefix-group', '/watch/ in a named group', [WATCH('w', '/apis/coordination.k8s.io/v1/watch/namespaces/$ns/leases'), WATCH('one', '/apis/coordination.k8s.io/v1/watch/namespaces/$ns/leases/a'), ...make(LEASES, lease('a'), lease('b')), SAW_BRIEF('w', 2), SAW_BRIEF('one', 1)], { section: '4.1' }),
  s('prefix-cluster', '/watch/ of a cluster-scoped object', [WATCH('w', '/api/v1/watch/nodes/$ns-n'), ...make(NODES, node('$ns-n')), SAW_BRIEF('w', 1)], { section: '4.1', namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  s('prefix-namespace', '/watch/namespaces/<name> is a watch of the namespace itself', [WATCH('w', '/api/v1/watch/namespaces/$ns'), SAW_BRIEF('w', 1)], { section: '4.1' }),
  s('prefix-watch-false', 'watch=false under /watch/ is a watch all the same', [...make(CM, cm('a')), SLEEP(200), WATCH('w', '/api/v1/watch/namespaces/$ns/configmaps?watch=false'), SAW_BRIEF('w', 1)], { section: '4.1' }),
  s('prefix-version', 'a version and a timeout under /watch/', [...make(CM, cm('a'), cm('b')), WATCH('w', q('/api/v1/watch/namespaces/$ns/configmaps', { resourceVersion: '${made_a.metadata.resourceVersion}', timeoutSeconds: '1' })), ENDED('w', { pick: (e) => e.map((x) => `${x.type} ${x.object.metadata.name}`) })], { section: '4.1' }),
  s('prefix-conflicting-field', '/watch/ before an object with a field selector for another name', [
    GET('/api/v1/watch/namespaces/$ns/configmaps/a?fieldSelector=metadata.name=b'), GET('/api/v1/watch/namespaces/$ns/configmaps/a?timeoutSeconds=1&fieldSelector=metadata.name=a'), GET('/api/v1/watch/namespaces/$ns/configmaps/a?timeoutSeconds=1&fieldSelector=metadata.namespace=$ns')], { section: '4.1', namespace: false }),
  s('prefix-not-watchable', '/watch/ before what cannot be watched, or is not there', [
    GET('/api/v1/watch/componentstatuses'), GET('/api/v1/watch/namespaces/$ns/bindings'), GET('/api/v1/watch/namespaces/$ns/unknowns'), GET('/api/v1/watch/namespaces/$ns/pods/a/status'), GET('/apis/authorization.k8s.io/v1/watch/subjectaccessreviews'), GET('/api/v1/watch')], { section: '4.1', namespace: false }),
  s('prefix-other-methods', '/watch/ with other methods', [POST('/api/v1/watch/namespaces/$ns/configmaps', cm('a')), { kind: 'request', method: 'DELETE', path: '/api/v1/watch/namespaces/$ns/configmaps/a' }], { section: '4.1', namespace: false }),
  s('prefix-forbidden', '/watch/ without permission', [GET('/api/v1/watch/namespaces/$ns/configmaps', { as: 'bob' }), GET('/api/v1/watch/namespaces/$ns/configmaps/a', { as: 'bob' })], { section: '5', namespace: false }),
  s('not-watchable', 'watch of kinds that cannot be watched', [GET('/api/v1/componentstatuses?watch=1'), GET('/api/v1/namespaces/$ns/bindings?watch=1'), GET('/api/v1/namespaces/$ns/unknowns?watch=1'), GET('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews?watch=1')], { section: '4.2', namespace: false }),
  s('bad-selectors', 'bad selectors are refused before the stream opens', [refused({ labelSelector: 'a in b' }), refused({ fieldSelector: 'spec.x=y' }), refused({ fieldSelector: 'metadata.name' })], { section: '4.3', namespace: false }),
];
function brief(b) { return typeof b === 'string' ? b.split('\n').filter(Boolean).map((l) => JSON.parse(l).type) : b?.type ?? b; }
