// Lists and watches of custom resources, where they differ from the built-in kinds.
import { scenario, GET, POST, PATCH, WATCH, POLL, SLEEP } from '../steps.ts';
import { ns, q, update, remove, LIST, SAW, SAW_BRIEF, ENDED, make } from './kit/listwatch.mjs';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = '$ns.example.com';
const THINGS = ns('things', `/apis/${GROUP}/v1`);
const thing = (name, labels, spec) => ({ apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name, ...(labels ? { labels } : {}) }, ...(spec ? { spec } : {}) });
/** A kind of one's own, served once its collection answers. */
const kind = (version = {}) => [
  POST(CRDS, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: `things.${GROUP}` }, spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' }, on: { type: 'boolean' } } } } } }, ...version }] } }, { compare: 'status' }),
  POLL(`${CRDS}/things.${GROUP}`, (b) => b.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True'), { compare: 'status' }),
  POLL(THINGS, (b, status) => status === 200, { compare: 'status' }), SLEEP(500)];
const s = (id, about, steps, version) => scenario(`crd-${id}`, { section: '2.4', about, cleanup: [`${CRDS}/things.${GROUP}`] }, [...kind(version), ...steps]);
const fields = { selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }, { jsonPath: '.spec.on' }] };
const coloured = [thing('a', undefined, { color: 'red', size: 1, on: true }), thing('b', undefined, { color: 'blue', size: 2 }), thing('c')];

export default [
  s('list-empty', 'an empty list of a custom kind', [GET(THINGS)]),
  s('list-one', 'the items of a custom list carry kind and apiVersion', [...make(THINGS, thing('a', { l: 'x' }, { color: 'red' })), GET(THINGS)]),
  s('list-pages', 'pages of a custom kind', [...make(THINGS, thing('c'), thing('a'), thing('b')), LIST(THINGS, { limit: '2' }, { id: 'p' }), LIST(THINGS, { limit: '2', continue: '${p.metadata.continue}' }), LIST(THINGS, { limit: '1', labelSelector: 'l=x' }), LIST(THINGS, { limit: '1', continue: 'garbage' })]),
  s('list-labels', 'label selectors of a custom kind', [...make(THINGS, thing('a', { l: 'x' }), thing('b')), LIST(THINGS, { labelSelector: 'l=x' }), LIST(THINGS, { labelSelector: '!l' }), LIST(THINGS, { labelSelector: 'l in x' })]),
  s('list-fields', 'without selectableFields there are name and namespace only', [...make(THINGS, thing('a'), thing('b')), ...['metadata.name=a', 'metadata.name!=a', 'metadata.namespace=$ns', 'spec.color=red'].map((fieldSelector) => LIST(THINGS, { fieldSelector }))]),
  s('list-selectable-fields', 'selectableFields can be selected by', [...make(THINGS, ...coloured), ...['spec.color=red', 'spec.color!=red', 'spec.color=', 'spec.size=2', 'spec.size!=2', 'spec.on=true', 'spec.on=false', 'spec.on=', 'spec.color=red,spec.size=1', 'spec.other=x'].map((fieldSelector) => LIST(THINGS, { fieldSelector }))], fields),
  s('list-versions', 'versions on a list of a custom kind', [...make(THINGS, thing('a'), thing('b')), SLEEP(200), LIST(THINGS, { resourceVersion: '0' }), LIST(THINGS, { resourceVersion: '${made_a.metadata.resourceVersion}', resourceVersionMatch: 'Exact' }), LIST(THINGS, { resourceVersion: '999999999' }), LIST(THINGS, { resourceVersion: 'x' }), LIST(THINGS, { resourceVersionMatch: 'Exact' })]),
  s('list-table', 'a custom kind as Table has name and age', [...make(THINGS, thing('a')), GET(THINGS, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, pick: (b) => ({ ...b, columnDefinitions: b.columnDefinitions.map(({ description, ...c }) => c), rows: b.rows.map((r) => ({ ...r, cells: r.cells.map((c) => (c === '<duration>' ? '<age>' : c)) })) }) })]),
  s('watch', 'a watch of a custom kind', [WATCH('w', q(THINGS, { watch: '1' })), POST(THINGS, thing('a', undefined, { color: 'red' })), PATCH(`${THINGS}/a`, 'merge', { spec: { color: 'blue' } }), remove(`${THINGS}/a`), SAW('w', 3, { compareHeaders: ['content-type'] })]),
  s('watch-selectable-field', 'a selectable field moves a custom object in and out', [...make(THINGS, thing('a', undefined, { color: 'red' })), SLEEP(200), WATCH('w', q(THINGS, { watch: '1', fieldSelector: 'spec.color=red' })), update(`${THINGS}/a`, { spec: { color: 'blue' } }), update(`${THINGS}/a`, { spec: { color: 'red' } }), SAW('w', 3, { pick: (e) => e.map((x) => [x.type, x.object.spec, x.object.metadata.resourceVersion]) })], fields),
  s('watch-labels', 'label transitions of a custom kind', [WATCH('w', q(THINGS, { watch: '1', labelSelector: 'l=x' })), ...make(THINGS, thing('a', { l: 'x' })), update(`${THINGS}/a`, { metadata: { labels: { l: 'y' } } }), SAW_BRIEF('w', 2)]),
  s('watch-prefix', 'the deprecated /watch/ paths of a custom kind', [WATCH('w', `/apis/${GROUP}/v1/watch/namespaces/$ns/things`), WATCH('all', `/apis/${GROUP}/v1/watch/things`), WATCH('one', `/apis/${GROUP}/v1/watch/namespaces/$ns/things/a`), ...make(THINGS, thing('a'), thing('b')), SAW_BRIEF('w', 2), SAW_BRIEF('all', 2), SAW_BRIEF('one', 1)]),
  s('watch-errors', 'errors of a watch of a custom kind', [GET(q(THINGS, { watch: '1', resourceVersion: 'x' })), GET(q(THINGS, { watch: '1', fieldSelector: 'spec.color=red' })), GET(q(THINGS, { watch: '1', resourceVersionMatch: 'Exact' })), GET(q(THINGS, { watch: '1' }), { headers: { accept: 'application/yaml' } }), GET(q(THINGS, { watch: '1' }), { headers: { accept: 'application/vnd.kubernetes.protobuf' } })]),
  s('watch-bookmark', 'a bookmark of a custom kind', [...make(THINGS, thing('a')), SLEEP(200), WATCH('w', q(THINGS, { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: '5', labelSelector: 'none=x', resourceVersion: '${made_a.metadata.resourceVersion}' })), ...make(THINGS, thing('b')), ENDED('w', { ms: 8000, pick: (e) => e.slice(0, 1) })]),
  s('watch-partial', 'a custom kind watched as PartialObjectMetadata', [...make(THINGS, thing('a', { l: 'x' }, { color: 'red' })), SLEEP(200), WATCH('w', q(THINGS, { watch: '1' }), { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }), SAW('w', 1)]),
  s('watch-too-old', 'a version older than the history of the kind: 200 with one ERROR event of status 410, and the stream ends', [...make(THINGS, thing('a')), SLEEP(300), WATCH('w', q(THINGS, { watch: '1', resourceVersion: '1' })), ENDED('w', { compareHeaders: ['content-type'] })]),
];
