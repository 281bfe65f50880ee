// Streaming lists: watches with sendInitialEvents. They need the feature gate WatchList (off by default in v1.33), so they
// run only with `--with WatchList` against a server that was started with --feature-gates=WatchList=true.
import { undescribed } from './kit/shapes.mjs';
import { scenario, GET, WATCH, SLEEP } from '../steps.ts';
import { CM, PODS, LEASES, EVENTS, NODES, q, cm, pod, lease, event, node, make, update, remove, SAW, SAW_BRIEF, ENDED } from './kit/listwatch.mjs';

const s = (id, about, steps, o = {}) => scenario(`watchlist-${id}`, { section: '4.6', needs: 'WatchList', about, ...o }, steps);
const initial = { watch: '1', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
const w = (params = {}, path = CM, o = {}) => WATCH('w', q(path, { ...initial, ...params }), o);
const two = [...make(CM, cm('b', { l: 'x' }), cm('a')), SLEEP(200)];
const labels = (path, l) => update(path, { metadata: { labels: l } });
/** Ordinary bookmarks may or may not follow: only the one that ends the initial events counts. */
const settled = (events) => events.filter((e) => e.type !== 'BOOKMARK' || e.object.metadata.annotations);
/** The blueprint of the empty list, which a bookmark carries in base64, in clear. */
const BLUEPRINT = 'kubernetes.io/initial-events-list-blueprint';
const clear = (events) => settled(events).map((e) => { const a = e.object?.metadata?.annotations; return a?.[BLUEPRINT] ? { ...e, object: { ...e.object, metadata: { ...e.object.metadata, annotations: { ...a, [BLUEPRINT]: Buffer.from(a[BLUEPRINT], 'base64').toString('utf8') } } } } : e; });
const kinds = (events) => settled(events).map((e) => [e.type, e.object.metadata.name ?? e.object.metadata.annotations ?? null]);
const refused = (params) => GET(q(CM, { watch: '1', timeoutSeconds: '1', ...params }));

/** The first event of a stream, which can contain further bookmarks, without descriptions of columns. */
const firstEvent = (b) => undescribed(typeof b === 'string' ? JSON.parse(b.split('\n', 1)[0]) : b);

export default [
  s('existing', 'the existing objects as ADDED, then a bookmark with the annotation that ends them', [...two, w(), SAW('w', 3, { pick: clear, compareHeaders: ['content-type'] })]),
  s('empty', 'an empty collection: the bookmark alone', [w(), SAW('w', 1, { pick: clear })]),
  s('then-changes', 'after the bookmark it is an ordinary watch', [...two, w(), SLEEP(500), labels(`${CM}/a`, { l: 'y' }), remove(`${CM}/b`), SAW('w', 5, { quiet: 1000, pick: kinds })]),
  s('no-bookmarks', 'without allowWatchBookmarks the initial events come, but no bookmark', [...two, w({ allowWatchBookmarks: undefined }), SAW('w', 3, { ms: 1500, pick: kinds })]),
  s('version-zero', 'resourceVersion=0', [...two, w({ resourceVersion: '0' }), SAW('w', 3, { pick: kinds })]),
  s('version-empty', 'an empty resourceVersion', [...two, w({ resourceVersion: '' }), SAW('w', 3, { pick: kinds })]),
  s('version-given', 'a version: the state at least as new, all of it', [...two, w({ resourceVersion: '${made_b.metadata.resourceVersion}' }), SAW('w', 3, { pick: kinds })]),
  s('version-covered', 'the bookmark is not older than the objects before it', [...two, w(), SAW('w', 3, { pick: (_, all) => { const raw = settled(all); return { events: raw.map((e) => e.type), covered: raw.every((e) => BigInt(e.object.metadata.resourceVersion) <= BigInt(raw.at(-1).object.metadata.resourceVersion)) }; } })]),
  s('version-garbage', 'a version that is none', [refused({ sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', resourceVersion: 'garbage' })]),
  s('version-future', 'a version that is not there yet', [w({ resourceVersion: '999999999', timeoutSeconds: '5' }), ENDED('w', { ms: 8000 })]),
  s('fresh', 'an unset version is consistent: a write just answered is among the initial events', [...make(CM, cm('a')), w(), SAW('w', 2, { pick: kinds })]),
  s('label-selector', 'only what matches, then the bookmark', [...two, w({ labelSelector: 'l=x' }), SAW('w', 2, { pick: kinds })]),
  s('field-selector', 'a watch of one name, then the bookmark', [...two, w({ fieldSelector: 'metadata.name=a' }), SAW('w', 2, { pick: kinds })]),
  s('false', 'sendInitialEvents=false: no initial events, only what comes', [...two, w({ sendInitialEvents: 'false', allowWatchBookmarks: undefined, resourceVersion: '${made_a.metadata.resourceVersion}' }), ...make(CM, cm('c')), SAW_BRIEF('w', 1)]),
  s('false-unset', 'sendInitialEvents=false without version', [...two, w({ sendInitialEvents: 'false', allowWatchBookmarks: undefined }), ...make(CM, cm('c')), SAW_BRIEF('w', 1)]),
  s('legacy', 'with the gate on, a watch without version that allows bookmarks is treated alike: it gets the annotated bookmark too', [...two, WATCH('w', q(CM, { watch: '1', allowWatchBookmarks: 'true' })), SAW('w', 3, { ms: 1500, pick: kinds })]),
  s('pod', 'the bookmark of pods', [...make(PODS, pod('a')), SLEEP(200), w({}, PODS), SAW('w', 2, { pick: (e) => clear(e).slice(1) })]),
  s('lease', 'the bookmark of leases, a kind of a named group', [...make(LEASES, lease('a')), SLEEP(200), w({}, LEASES), SAW('w', 2, { pick: (e) => clear(e).slice(1) })]),
  s('node', 'the bookmark of a cluster-scoped kind', [...make(NODES, node('$ns-n', { own: '$ns' })), SLEEP(200), w({ labelSelector: 'own=$ns' }, NODES), SAW('w', 2, { pick: kinds })], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  s('events', 'events, which are not cached', [...make(EVENTS, event('a')), w({}, EVENTS), SAW('w', 2, { ms: 3000, pick: kinds })]),
  s('partial', 'as PartialObjectMetadata', [...two, w({}, CM, { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }), SAW('w', 3, { pick: clear })]),
  s('table', 'a Table cannot be had this way before 1.34', [GET(q(CM, { ...initial, timeoutSeconds: '1' }), { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, pick: firstEvent })]),
  s('errors', 'combinations that are refused', [{ sendInitialEvents: 'true' }, { sendInitialEvents: 'false' }, { sendInitialEvents: 'true', resourceVersionMatch: 'Exact' }, { sendInitialEvents: 'true', resourceVersionMatch: 'Sometimes' }, { resourceVersionMatch: 'NotOlderThan' }, { resourceVersionMatch: 'Exact' }, { sendInitialEvents: 'true', resourceVersion: '0' }, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', continue: 'x' }].map(refused), { namespace: false }),
  s('list', 'on a list it stays refused', [GET(q(CM, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' })), GET(q(CM, { sendInitialEvents: 'true' }))], { namespace: false }),
];
