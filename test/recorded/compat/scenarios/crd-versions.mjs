// Several versions of a custom resource with conversion strategy None, storage versions, deprecated versions.
import { GET, POST, PUT, PATCH, DELETE, APPLY, WATCH, WATCHED } from '../steps.ts';
import { GROUP, crd, crdPath, at, widget, version, object, string, integer, anything, withCrd, content, settled } from './kit/crd.mjs';

const section = '9.1';
const spec = object({ a: string(), b: string() });
const two = crd({ versions: [version('v1', { spec }), version('v2', { spec: object({ a: string(), c: string() }), storage: false })] });
const same = crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false })] });
const on = (id, about, definition, steps) => withCrd(`crd-versions-${id}`, { section, about }, definition, steps);
const v2 = (name) => at(name, { v: 'v2' });
const parts = (b) => (b?.kind === 'Status' ? b : { apiVersion: b?.apiVersion, generation: b?.metadata?.generation, spec: b?.spec });
const made = (spec_ = { a: '1', b: '2' }) => POST(at(), widget('w', { spec: spec_ }), { id: 'w', compare: 'status' });
const wide = (name, body, more = {}) => widget(name, body, { v: 'v2', ...more });

const none = [
  on('read', 'a resource read in another version: only apiVersion changes', same, [made(), GET(v2('w'), { pick: content }), GET(v2(), { pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, items: b.items.map(parts) }) })]),
  on('read-pruned', 'reading in another version prunes by which schema', two, [made({ a: '1', b: '2' }), GET(v2('w'), { pick: parts }), GET(at('w'), { pick: parts })]),
  on('write-other', 'a resource written in a version that is not stored', two, [POST(v2(), wide('w', { spec: { a: '1', b: '2', c: '3' } }), { compareHeaders: ['warning'], pick: parts }), GET(at('w'), { pick: parts }), GET(v2('w'), { pick: parts })]),
  on('write-wrong-version', 'the apiVersion in the body must be that of the path', two, [POST(v2(), widget('w')), POST(at(), wide('w', {}))]),
  on('update-other', 'an update through the other version', same, [made(), PUT(v2('w'), wide('w', { spec: { a: 'new' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { pick: parts }), PATCH(v2('w'), 'merge', { spec: { b: 'patched' } }, { pick: parts }), GET(at('w'), { pick: parts })]),
  on('watch', 'watches in both versions', same, [WATCH('one', at(), { query: { watch: 'true' } }), WATCH('two', v2(), { query: { watch: 'true' } }), made(), PATCH(v2('w'), 'merge', { spec: { a: 'x' } }, { compare: 'status' }), ...['one', 'two'].map((i) => WATCHED(i, { events: 2, pick: (es) => es.map((e) => [e.type, parts(e.object)]) }))]),
  on('managed-fields', 'managed fields name the version of the request', same, [made(), PATCH(v2('w'), 'merge', { spec: { a: 'x' } }, { query: { fieldManager: 'second' }, pick: (b) => b.metadata.managedFields.map((m) => [m.manager, m.apiVersion, m.fieldsV1]).sort() }), GET(at('w'), { pick: (b) => b.metadata.managedFields.map((m) => [m.manager, m.apiVersion]).sort() })]),
  on('apply', 'apply in two versions', same, [APPLY(at('w'), 'me', widget('w', { spec: { a: '1', b: '2' } }), { compare: 'status' }), APPLY(v2('w'), 'me', wide('w', { spec: { a: '1' } }), { pick: (b) => [parts(b), b.metadata?.managedFields?.map((m) => [m.manager, m.apiVersion, m.fieldsV1])] })]),
  on('delete', 'deletion through the other version', same, [made(), DELETE(v2('w')), GET(at('w'), { compare: 'status' })]),
  on('validated-by-request-version', 'the version of the request validates', crd({ versions: [version('v1', { spec: object({ n: integer({ maximum: 5 }) }) }), version('v2', { spec: object({ n: integer({ maximum: 50 }) }), storage: false })] }), [
    POST(at(), widget('w', { spec: { n: 9 } })), POST(v2(), wide('w', { spec: { n: 9 } }), { pick: parts }), GET(at('w'), { pick: parts }), PATCH(at('w'), 'merge', { metadata: { labels: { l: '1' } } }, { pick: parts }), PATCH(at('w'), 'merge', { spec: { n: 10 } }, { pick: parts }),
  ]),
  on('subresource-per-version', 'a subresource of one version only', crd({ versions: [version('v1', { spec, status: object({ p: string() }), subresources: { status: {} } }), version('v2', { spec, status: object({ p: string() }), storage: false })] }), [made(), GET(at('w/status'), { pick: parts }), GET(v2('w/status')), PATCH(v2('w'), 'merge', { status: { p: 'x' } }, { pick: (b) => b.status ?? b }), PATCH(at('w'), 'merge', { status: { p: 'y' } }, { pick: (b) => b.status ?? b })]),
  on('selectable-per-version', 'selectable fields of one version only', crd({ versions: [version('v1', { spec, selectableFields: [{ jsonPath: '.spec.a' }] }), version('v2', { spec: object({ a: string() }), storage: false })] }), [made(), GET(at(), { query: { fieldSelector: 'spec.a=1' }, pick: (b) => b.items?.length }), GET(v2(), { query: { fieldSelector: 'spec.a=1' } })]),
  on('unserved', 'a version that is no longer served', same, [made(), PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/1/served', value: false }], { compare: 'status' }), ...settled(), GET(v2('w')), GET(at('w'), { pick: parts })]),
  on('unserved-storage', 'the storage version need not be served', crd({ versions: [version('v1', { spec, served: false }), version('v2', { spec, storage: false })] }), [POST(v2(), wide('w', { spec: { a: '1' } }), { pick: parts }), GET(v2('w'), { pick: parts }), GET(at('w'))]),
  on('storage-migration', 'a new storage version: old objects read on, and move when written', same, [
    made(), PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/storage', value: false }, { op: 'replace', path: '/spec/versions/1/storage', value: true }], { pick: (b) => b?.status?.storedVersions ?? b }), ...settled(),
    GET(at('w'), { pick: (b) => [b.metadata.resourceVersion, parts(b)] }), PUT(at('w'), widget('w', { spec: { a: '1', b: '2' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { pick: (b) => [b.metadata?.resourceVersion, parts(b)] }), GET(v2('w'), { pick: (b) => [b.metadata.resourceVersion, parts(b)] }),
  ]),
  on('added-version', 'a version added later serves what is stored', crd({ spec }), [
    made(), PATCH(crdPath(), 'json-patch', [{ op: 'add', path: '/spec/versions/-', value: version('v2', { spec: anything(), storage: false }) }], { compare: 'status' }), ...settled({ v: 'v2' }), GET(v2('w'), { pick: parts }), POST(v2(), wide('x', { spec: { a: '1', q: '2' } }), { pick: parts }),
  ]),
  on('preserved-by-storage', 'fields that only the other version knows are lost unless the storage version keeps them', crd({ versions: [version('v1', { spec: anything() }), version('v2', { spec: object({ c: string() }), storage: false })] }), [POST(v2(), wide('w', { spec: { c: '3', d: '4' } }), { compareHeaders: ['warning'], pick: parts }), GET(at('w'), { pick: parts }), PATCH(at('w'), 'merge', { spec: { d: '5' } }, { pick: parts }), GET(v2('w'), { pick: parts })]),
];

const warned = { compareHeaders: ['warning'], pick: parts };
const verbs = [made({ a: '1' }), GET(at('w'), warned), GET(at(), { compareHeaders: ['warning'], compare: 'status' }), PATCH(at('w'), 'merge', { spec: { a: '2' } }, warned), DELETE(at('w'), undefined, { ...warned, pick: (b) => b.status })];
const deprecation = [
  on('deprecated', 'a deprecated version names its successor in a warning', crd({ versions: [version('v1', { spec, deprecated: true }), version('v2', { spec, storage: false })] }), [POST(at(), widget('x'), warned), ...verbs, GET(v2(), { compareHeaders: ['warning'], compare: 'status' })]),
  on('deprecated-own-warning', 'a deprecated version with its own warning', crd({ spec, deprecated: true, deprecationWarning: 'please use something "else", é' }), [GET(at(), { compareHeaders: ['warning'], compare: 'status' })]),
  on('deprecated-alone', 'a deprecated version without a successor', crd({ spec, deprecated: true }), [GET(at(), { compareHeaders: ['warning'], compare: 'status' })]),
  on('deprecated-newer', 'a lower version is no successor of a higher one', crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false, deprecated: true })] }), [GET(v2(), { compareHeaders: ['warning'], compare: 'status' })]),
  on('deprecated-stability', 'a beta version is no successor of a stable one, a stable one is of a beta', crd({ versions: [version('v1', { spec, deprecated: true }), version('v2beta1', { spec, storage: false }), version('v1beta1', { spec, storage: false, deprecated: true }), version('v3', { spec, storage: false }), version('v4', { spec, storage: false, served: false })] }), [...['v1', 'v1beta1', 'v2beta1'].map((v) => GET(at('', { v }), { compareHeaders: ['warning'], compare: 'status' }))]),
  on('deprecated-subresource', 'warnings for subresources of a deprecated version, and none for missing paths', crd({ spec, deprecated: true, status: object({ p: string() }), subresources: { status: {} } }), [made({ a: '1' }), GET(at('w/status'), { compareHeaders: ['warning'], compare: 'status' }), GET(at('none'), { compareHeaders: ['warning'] }), GET(at('w/nothing'), { compareHeaders: ['warning'] })]),
];

export default [...none, ...deprecation];
