// The representations of a watch: media types, Table, partial metadata, headers.
import { scenario, GET, PATCH, WATCH, SLEEP } from '../steps.ts';
import { CM, PODS, EVENTS, NODES, q, cm, pod, event, node, update, remove, SAW, ENDED, make } from './kit/listwatch.mjs';

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const PARTIAL = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const s = (id, about, steps, o = {}) => scenario(`watch-format-${id}`, { section: '4.4', about, ...o }, steps);
const w = (accept, params = {}, path = CM) => WATCH('w', q(path, { watch: '1', ...params }), { headers: { accept } });
const labels = (path, l) => update(path, { metadata: { labels: l } });
/** Tables without the prose that describes their columns. */
const tables = (events) => events.map((e) => ({ ...e, object: e.object?.columnDefinitions ? { ...e.object, columnDefinitions: e.object.columnDefinitions.map(({ description, ...c }) => c) } : e.object }));
/** One event through a watch that asks for `accept`: its content type and the event. */
const negotiated = (id, accept, o = {}) => s(`accept-${id}`, `Accept: ${accept ?? '(none)'}`, [...make(CM, cm('a')), SLEEP(200), w(accept), SAW('w', 1, { compareHeaders: ['content-type'], ...o })]);
const notAcceptable = (id, accept) => s(`not-acceptable-${id}`, `Accept: ${accept} cannot be had as a stream`, [GET(q(CM, { watch: '1', timeoutSeconds: '1' }), { headers: { accept }, compareHeaders: ['content-type'] })], { namespace: false });
const age = (events) => tables(events).map((e) => (e.object?.rows ? { ...e, object: { ...e.object, rows: e.object.rows.map((r) => ({ ...r, cells: r.cells.map((c) => (c === '<duration>' ? '<age>' : c)) })) } } : e));

export default [
  negotiated('json', 'application/json'),
  negotiated('json-stream', 'application/json;stream=watch'),
  negotiated('any', '*/*'),
  negotiated('application-any', 'application/*'),
  negotiated('fallback', 'application/yaml, application/json'),
  negotiated('pretty', 'application/json;pretty=1'),
  negotiated('charset', 'application/json;charset=utf-8'),
  negotiated('unknown-then-json', 'application/x-unknown, application/json;q=0.5'),
  negotiated('unknown-then-any', 'text/html, */*'),
  negotiated('table-fallback', `${TABLE}, application/json`, { pick: age }),
  negotiated('stream-unknown-then-json', 'application/json;stream=other, application/json'),
  notAcceptable('yaml', 'application/yaml'),
  notAcceptable('html', 'text/html'),
  notAcceptable('yaml-stream', 'application/yaml;stream=watch'),
  notAcceptable('stream-other', 'application/json;stream=other'),
  notAcceptable('as-unknown', 'application/json;as=Other;g=meta.k8s.io;v=v1'),
  notAcceptable('table-version', 'application/json;as=Table;g=meta.k8s.io;v=v2'),
  notAcceptable('table-protobuf', 'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1'),
  notAcceptable('cbor', 'application/cbor'),
  notAcceptable('cbor-seq', 'application/cbor-seq'),
  notAcceptable('stream-list', 'application/json;stream=list'),
  s('protobuf-header', 'a protobuf watch: its content type', [w('application/vnd.kubernetes.protobuf', { timeoutSeconds: '1' }), ENDED('w', { compareHeaders: ['content-type', 'transfer-encoding'] }), WATCH('stream', q(CM, { watch: '1', timeoutSeconds: '1' }), { headers: { accept: 'application/vnd.kubernetes.protobuf;stream=watch' } }), ENDED('stream', { compareHeaders: ['content-type'] })]),
  s('stream-on-list', 'stream=watch on a list', [...make(CM, cm('a')), GET(CM, { headers: { accept: 'application/json;stream=watch' }, compareHeaders: ['content-type'] })]),
  s('pretty-parameter', 'pretty=true does not change the stream: one line an event', [...make(CM, cm('a'), cm('b')), SLEEP(200), GET(q(CM, { watch: '1', pretty: 'true', timeoutSeconds: '1' }), { text: true, pick: (t) => t.split('\n').map((l) => l.slice(0, 62)) })]),
  s('lines', 'every event is one line of JSON, ended by a newline', [...make(CM, cm('a'), cm('b')), SLEEP(200), GET(q(CM, { watch: '1', timeoutSeconds: '1' }), { text: true, pick: (t) => t.split('\n').map((l) => (l ? Object.keys(JSON.parse(l)) : l)) })]),
  s('headers', 'the headers of a watch', [w('application/json', { timeoutSeconds: '1' }), ENDED('w', { compareHeaders: ['content-type', 'transfer-encoding', 'content-length', 'cache-control', 'content-encoding', 'vary', 'audit-id?', 'x-kubernetes-pf-flowschema-uid?', 'x-kubernetes-pf-prioritylevel-uid?', 'date?', 'connection'] })]),
  s('gzip', 'a watch is never compressed', [...make(CM, cm('a', undefined, { data: { big: 'x'.repeat(200000) } })), SLEEP(200), WATCH('w', q(CM, { watch: '1' }), { headers: { 'accept-encoding': 'gzip' } }), SAW('w', 1, { compareHeaders: ['content-encoding', 'transfer-encoding'], pick: (e) => e.map((x) => [x.type, x.object?.data?.big?.length]) })]),
  s('error-headers', 'an error instead of a watch is plain JSON', [GET(q(CM, { watch: '1', resourceVersion: 'x' }), { compareHeaders: ['content-type', 'cache-control', 'x-content-type-options'] })], { namespace: false }),

  s('table-configmap', 'a watch as Table: columns in the first event only, one row each', [...make(CM, cm('a', undefined, { data: { k: 'v' } })), SLEEP(200), w(TABLE), ...make(CM, cm('b')), labels(`${CM}/a`, { l: 'x' }), remove(`${CM}/b`), SAW('w', 4, { pick: age, compareHeaders: ['content-type'] })]),
  s('table-pod', 'pods as Table', [...make(PODS, pod('a')), SLEEP(200), w(TABLE, {}, PODS), PATCH(`${PODS}/a/status`, 'merge', { status: { phase: 'Running' } }, { compare: 'status' }), SAW('w', 2, { pick: age })]),
  s('table-node', 'nodes as Table', [w(TABLE, { labelSelector: 'own=$ns' }, NODES), ...make(NODES, node('$ns-n', { own: '$ns' })), SAW('w', 1, { pick: age })], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  s('table-event', 'events as Table', [w(TABLE, {}, EVENTS), ...make(EVENTS, event('a')), SAW('w', 1, { pick: age })]),
  ...['None', 'Metadata', 'Object'].map((includeObject) => s(`table-include-${includeObject.toLowerCase()}`, `a watch as Table with includeObject=${includeObject}`, [...make(CM, cm('a')), SLEEP(200), w(TABLE, { includeObject }), SAW('w', 1, { pick: age })])),
  s('table-include-unknown', 'a watch as Table with an unknown includeObject', [...make(CM, cm('a')), GET(q(CM, { watch: '1', includeObject: 'Some', timeoutSeconds: '1' }), { headers: { accept: TABLE } }), GET(q(CM, { includeObject: 'Some' }), { headers: { accept: TABLE } })]),
  s('table-label-transition', 'label transitions as Table', [...make(CM, cm('a', { l: 'x' })), SLEEP(200), w(TABLE, { labelSelector: 'l=x' }), labels(`${CM}/a`, { l: 'y' }), SAW('w', 2, { pick: (e) => age(e).map((x) => [x.type, x.object.metadata, x.object.rows.map((r) => r.object.metadata.labels)]) })]),
  s('table-v1beta1', 'the v1beta1 Table', [...make(CM, cm('a')), SLEEP(200), w('application/json;as=Table;g=meta.k8s.io;v=v1beta1'), SAW('w', 1, { pick: age })]),
  s('partial', 'a watch as PartialObjectMetadata', [...make(CM, cm('a', { l: 'x' }, { data: { k: 'v' } })), SLEEP(200), w(PARTIAL), labels(`${CM}/a`, { l: 'y' }), remove(`${CM}/a`), SAW('w', 3, { compareHeaders: ['content-type'] })]),
  s('partial-list', 'a watch as PartialObjectMetadataList opens and ends with the first event, without showing it', [
    w('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'), SAW('w', 1, { ms: 500, end: true }),
    WATCH('full', q(CM, { watch: '1' }), { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } }), ...make(CM, cm('a')), ENDED('full', { ms: 3000, compareHeaders: ['content-type'] })]),
  s('partial-pod', 'pods as PartialObjectMetadata', [w(PARTIAL, {}, PODS), ...make(PODS, pod('a')), SAW('w', 1)]),
  s('partial-selector', 'a selector with PartialObjectMetadata', [w(PARTIAL, { labelSelector: 'l=x', fieldSelector: 'metadata.name!=c' }), ...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' })), labels(`${CM}/a`, { l: 'y' }), SAW('w', 2)]),
  s('partial-v1beta1', 'the v1beta1 PartialObjectMetadata', [...make(CM, cm('a')), SLEEP(200), w('application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1'), SAW('w', 1)]),
  ...[['table', TABLE], ['partial', PARTIAL]].map(([id, accept]) => s(`bookmark-${id}`, `a bookmark in a watch as ${id}`, [...make(CM, cm('a')), SLEEP(200), w(accept, { allowWatchBookmarks: 'true', timeoutSeconds: '5', labelSelector: 'none=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), ...make(CM, cm('b')), SAW('w', 1, { ms: 8000, quiet: 0, pick: (e) => tables(e).slice(0, 1) })], { section: '6.1' })),
  s('error-event-as-table', 'an error of the parameters in a watch as Table', [GET(q(CM, { watch: '1', resourceVersion: 'x' }), { headers: { accept: TABLE } })], { namespace: false }),
];
