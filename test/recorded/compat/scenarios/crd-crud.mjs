// Custom resources through the ordinary verbs: create, read, update, patch, apply, delete, list, watch, selectors, metadata.
import { GET, POST, PUT, PATCH, DELETE, APPLY, WATCH, WATCHED } from '../steps.ts';
import { GROUP, crd, at, widget, object, string, integer, number, boolean, list, map, anything, withCrd, content, sortedCauses } from './kit/crd.mjs';

const section = '4.7';
const spec = object({ a: string(), n: integer(), f: number(), b: boolean(), l: list(string()), o: object({ x: string(), y: integer() }), m: map(string()), any: anything() });
const on = (id, about, steps, definition = crd({ spec }), more = {}) => withCrd(`crd-crud-${id}`, { section, about, ...more }, definition, steps);
const made = (name = 'w', body = { spec: { a: 'x', n: 1 } }, metadata = {}) => POST(at(), widget(name, body, { metadata }), { id: name, compare: 'status' });
const cluster = crd({ spec, scope: 'Cluster' });
const c = (name) => at(name, { cluster: true });

const basics = [
  on('create-get-delete', 'a resource is created, read and deleted', [
    POST(at(), widget('w', { spec: { a: 'x', n: 1 } }), { compareHeaders: ['content-type'] }), GET(at('w')), DELETE(at('w')), GET(at('w')), DELETE(at('w')),
  ]),
  on('cluster-scoped', 'a resource without a namespace', [
    POST(c(), widget('w', { spec: { a: 'x' } })), GET(c('w'), { pick: content }), GET(c()), DELETE(c('w')),
  ], cluster),
  on('cluster-scoped-with-namespace', 'a namespace in a cluster-scoped resource, or in its path', [
    POST(c(), widget('w', {}, { metadata: { namespace: 'default' } })), POST(at(), widget('w')), GET(at('w')),
  ], cluster),
  on('namespace-mismatch', 'the namespace of the object is that of the path', [POST(at(), widget('w', {}, { metadata: { namespace: 'other' } }))]),
  on('post-without-namespace', 'a namespaced resource cannot be created at the cluster-wide path', [POST(c(), widget('w')), GET(c('w'))]),
  on('namespace-missing', 'creating in a namespace that does not exist', [POST(`/apis/${GROUP}/v1/namespaces/$ns-missing/widgets`, widget('w'))]),
  on('list-empty', 'an empty list', [GET(at()), GET(c())]),
  on('list', 'a list carries kind and apiVersion of each item', [made('a'), made('b'), GET(at(), { pick: (b) => ({ ...b, items: b.items.map(content) }) })]),
  on('list-kind', 'the list kind of the definition', [GET(at(), { pick: (b) => [b.kind, b.apiVersion] })], crd({ spec, names: { listKind: 'WidgetCollection' } })),
  on('list-pages', 'a list in pages', [made('a'), made('b'), made('c'), GET(at(), { query: { limit: '2' }, id: 'p1', pick: (b) => [b.metadata.remainingItemCount, b.items.map((i) => i.metadata.name)] }), GET(at(), { query: { limit: '2', continue: '${p1.metadata.continue}' }, pick: (b) => [b.metadata.remainingItemCount ?? null, b.items.map((i) => i.metadata.name)] })]),
  on('already-exists', 'creating a name twice', [made(), POST(at(), widget('w'))]),
  on('generate-name', 'a name made by the server', [POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { generateName: 'w-' } }, { pick: (b) => ({ ...content(b), metadata: { ...content(b).metadata, name: b.metadata?.name.replace(/^w-[a-z0-9]{5}$/, 'w-<suffix>') } }) })]),
  on('no-name', 'neither name nor generateName', [POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', spec: {} })]),
  on('no-metadata', 'metadata that is missing, null, or no object', [
    POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: null }), POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: 'x' }), POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: [] }),
  ]),
  on('empty-object', 'an object with only a name', [POST(at(), widget('w'))]),
  on('dry-run', 'a dry run stores nothing', [POST(at(), widget('w', { spec: { a: 'x' } }), { query: { dryRun: 'All' }, pick: content }), GET(at('w'), { compare: 'status' })]),
];

const bodies = [
  on('wrong-kind', 'the kind in the body must be the kind of the path', [POST(at(), { ...widget('w'), kind: 'Gadget' }), POST(at(), { ...widget('w'), kind: 'widget' })]),
  on('wrong-api-version', 'the apiVersion in the body must be that of the path', [POST(at(), { ...widget('w'), apiVersion: `${GROUP}/v2` }), POST(at(), { ...widget('w'), apiVersion: 'v1' }), POST(at(), { ...widget('w'), apiVersion: 'other.example.com/v1' })]),
  on('missing-kind', 'kind or apiVersion missing', [POST(at(), { apiVersion: `${GROUP}/v1`, metadata: { name: 'w' } }, { pick: (b) => ({ ...b, message: b.message?.replace(/oracle-[0-9a-f]+ \.\.\./, 'oracle-<start> ...') }) }), POST(at(), { kind: 'Widget', metadata: { name: 'w' } }), POST(at(), { metadata: { name: 'w' } })]),
  on('bad-json', 'a body that is no JSON', [POST(at(), '{"kind":', { type: 'application/json' }), POST(at(), '[]', { type: 'application/json' }), POST(at(), '', { type: 'application/json' }), POST(at(), '"x"', { type: 'application/json' })]),
  on('yaml', 'a body in YAML', [POST(at(), 'apiVersion: $ns.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {a: x, b: true, f: 2}\n', { type: 'application/yaml', pick: content })]),
  on('yaml-1.1', 'YAML 1.1: an unquoted n is a boolean, also as a key; unquoted on and yes are booleans', [POST(at(), 'apiVersion: $ns.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {any: {n: 3, k: on, l: yes, q: "yes", z: 0o17, o: 017, x: 0x1f, t: 2020-01-01, f: .5, e: 1e3, u: ~}}\n', { type: 'application/yaml', pick: (b) => b?.spec ?? b })]),
  on('yaml-bad', 'a body that is no YAML', [POST(at(), 'a: b: c', { type: 'application/yaml' }), POST(at(), '- a', { type: 'application/yaml' })]),
  on('protobuf', 'protobuf is not served for custom resources', [GET(at(), { headers: { accept: 'application/vnd.kubernetes.protobuf' }, compare: 'status' }), GET(at(), { headers: { accept: 'application/vnd.kubernetes.protobuf,application/json' }, compareHeaders: ['content-type'] })]),
  on('unknown-content-type', 'a body of an unknown media type', [POST(at(), 'x', { type: 'text/plain' })]),
  on('put-wrong-kind', 'a PUT with another kind or name', [made(), PUT(at('w'), { ...widget('w', {}, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), kind: 'Gadget' }), PUT(at('w'), { ...widget('v'), metadata: { name: 'v', resourceVersion: '${w.metadata.resourceVersion}' } })]),
  on('top-level-fields', 'fields next to spec that are not in the schema are dropped', [POST(at(), { ...widget('w', { spec: { a: 'x' } }), data: { q: 1 }, status: { ok: true } }, { pick: content })]),
];

const updates = [
  on('put', 'a PUT replaces, and raises the generation if spec changed', [
    made(), PUT(at('w'), widget('w', { spec: { a: 'y' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } })),
  ]),
  on('put-unchanged', 'a PUT that changes nothing keeps resource version and generation', [
    made(), PUT(at('w'), widget('w', { spec: { a: 'x', n: 1 } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { pick: (b) => [b.metadata.generation, b.metadata.resourceVersion] }), GET(at('w'), { pick: (b) => b.metadata.resourceVersion }),
  ]),
  on('put-metadata-only', 'a change of metadata keeps the generation', [
    made(), PUT(at('w'), widget('w', { spec: { a: 'x', n: 1 } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}', labels: { l: '1' }, annotations: { a: '2' } } }), { pick: content }),
  ]),
  on('put-no-resource-version', 'a PUT needs the resource version', [made(), PUT(at('w'), widget('w', { spec: {} }))]),
  on('put-conflict', 'a PUT with an old resource version', [made(), PATCH(at('w'), 'merge', { spec: { a: 'z' } }, { compare: 'status' }), PUT(at('w'), widget('w', {}, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }))]),
  on('put-creates-not', 'a PUT does not create', [PUT(at('w'), widget('w')), PUT(at('w'), widget('w', {}, { metadata: { resourceVersion: '1' } }))]),
  on('put-uid', 'a PUT with another uid', [made(), PUT(at('w'), widget('w', {}, { metadata: { resourceVersion: '${w.metadata.resourceVersion}', uid: '00000000-0000-4000-8000-000000000000' } }))]),
  on('put-generation-ignored', 'generation and creationTimestamp in a PUT', [made(), PUT(at('w'), widget('w', { spec: { a: 'q' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}', generation: 77, creationTimestamp: '2001-01-01T00:00:00Z' } }), { pick: (b) => [b.metadata?.generation, b.metadata?.creationTimestamp, b.message] })]),
  on('create-generation-ignored', 'server-set metadata in a create is ignored', [POST(at(), widget('w', {}, { metadata: { generation: 77, uid: '00000000-0000-4000-8000-000000000000', creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' } }))]),
  on('create-resource-version', 'a resource version in a create is refused', [POST(at(), widget('w', {}, { metadata: { resourceVersion: '5' } }))]),
];

const patches = [
  on('merge-patch', 'a merge patch sets, merges and removes', [made('w', { spec: { a: 'x', n: 1, o: { x: '1', y: 2 }, m: { k: 'v' }, l: ['1', '2'] } }), PATCH(at('w'), 'merge', { spec: { a: null, n: 2, o: { x: 'new' }, m: { k2: 'v2' }, l: ['3'] } })]),
  on('merge-patch-null-nested', 'nulls inside a new object of a merge patch are dropped', [made('w', {}), PATCH(at('w'), 'merge', { spec: { o: { x: 'y', y: null } } }, { pick: content })]),
  on('merge-patch-not-object', 'a merge patch that is no object', [made(), PATCH(at('w'), 'merge', '[]'), PATCH(at('w'), 'merge', '"x"'), PATCH(at('w'), 'merge', '{'), PATCH(at('w'), 'merge', 'null')]),
  on('merge-patch-to-non-object', 'a merge patch that replaces spec by a string', [made(), PATCH(at('w'), 'merge', { spec: 'x' })]),
  on('merge-patch-name', 'a merge patch of name, kind or apiVersion', [made(), PATCH(at('w'), 'merge', { metadata: { name: 'v' } }), PATCH(at('w'), 'merge', { kind: 'Gadget' }), PATCH(at('w'), 'merge', { apiVersion: 'v9' })]),
  on('merge-patch-unchanged', 'a merge patch that changes nothing', [made(), PATCH(at('w'), 'merge', { spec: { a: 'x' } }, { pick: (b) => [b.metadata.generation, b.metadata.resourceVersion] }), GET(at('w'), { pick: (b) => b.metadata.resourceVersion })]),
  on('merge-patch-resource-version', 'a merge patch with an old resource version', [made(), PATCH(at('w'), 'merge', { metadata: { resourceVersion: '1' } })]),
  on('json-patch', 'a JSON patch', [made('w', { spec: { a: 'x', l: ['1', '2'] } }), PATCH(at('w'), 'json-patch', [{ op: 'test', path: '/spec/a', value: 'x' }, { op: 'add', path: '/spec/l/1', value: 'mid' }, { op: 'remove', path: '/spec/a' }, { op: 'add', path: '/spec/m', value: { 'a/b': 'c' } }, { op: 'replace', path: '/spec/m/a~1b', value: 'd' }, { op: 'copy', from: '/spec/l/0', path: '/spec/l/-' }], { pick: content })]),
  on('json-patch-errors', 'JSON patches that fail', [made(), PATCH(at('w'), 'json-patch', [{ op: 'test', path: '/spec/a', value: 'z' }]), PATCH(at('w'), 'json-patch', [{ op: 'remove', path: '/spec/zz' }]), PATCH(at('w'), 'json-patch', [{ op: 'jump', path: '/spec/a' }]), PATCH(at('w'), 'json-patch', { a: 1 })]),
  on('strategic-patch', 'strategic merge patches are not supported', [made(), PATCH(at('w'), 'strategic', { spec: { a: 'y' } }, { compareHeaders: ['accept-patch'] })]),
  on('patch-missing', 'a patch of what does not exist', [PATCH(at('w'), 'merge', { spec: { a: 'y' } }), PATCH(at('w'), 'json-patch', [])]),
  on('patch-invalid-result', 'a patch whose result is invalid', [made(), PATCH(at('w'), 'merge', { spec: { n: 'x' } }), PATCH(at('w'), 'json-patch', [{ op: 'add', path: '/spec/n', value: 1.5 }])]),
];

const applies = [
  on('apply-create', 'apply creates', [APPLY(at('w'), 'me', widget('w', { spec: { a: 'x', o: { x: '1' } } }))]),
  on('apply-update', 'apply changes and removes what it owned', [APPLY(at('w'), 'me', widget('w', { spec: { a: 'x', n: 1 } }), { compare: 'status' }), APPLY(at('w'), 'me', widget('w', { spec: { a: 'y' } }))]),
  on('apply-conflict', 'apply conflicts with another manager, unless forced', [made(), APPLY(at('w'), 'me', widget('w', { spec: { a: 'y' } })), APPLY(at('w'), 'me', widget('w', { spec: { a: 'y' } }), { force: true })]),
  on('apply-atomic-list', 'lists without a list type are atomic', [APPLY(at('w'), 'one', widget('w', { spec: { l: ['a'] } }), { compare: 'status' }), APPLY(at('w'), 'two', widget('w', { spec: { l: ['a', 'b'] } })), APPLY(at('w'), 'two', widget('w', { spec: { l: ['a'] } }))]),
  on('apply-unknown-field', 'apply of a field that is not in the schema', [APPLY(at('w'), 'me', widget('w', { spec: { zz: 1 } })), APPLY(at('w'), 'me', widget('w', { spec: { zz: 1 } }), { query: { fieldValidation: 'Strict' } })]),
  on('apply-wrong-kind', 'apply with another kind, name or version', [APPLY(at('w'), 'me', { ...widget('w'), kind: 'Gadget' }), APPLY(at('w'), 'me', widget('v')), APPLY(at('w'), 'me', { ...widget('w'), apiVersion: `${GROUP}/v9` }), APPLY(at('w'), 'me', { metadata: { name: 'w' } })]),
  on('apply-preserved-fields', 'fields of a subtree that preserves unknown fields are owned one by one', [APPLY(at('w'), 'me', widget('w', { spec: { any: { deep: { x: 1 }, l: [1, 2] } } }))]),
  on('apply-wrong-type', 'apply of a value of the wrong type', [APPLY(at('w'), 'me', widget('w', { spec: { o: 'x' } })), APPLY(at('w'), 'me', widget('w', { spec: { n: 'x' } })), APPLY(at('w'), 'me', widget('w', { spec: { l: { a: 1 } } }))]),
  on('apply-keyed-list', 'items of a keyed list belong to their managers', [
    APPLY(at('w'), 'one', widget('w', { spec: { k: [{ name: 'a', v: '1' }] } }), { compare: 'status' }),
    APPLY(at('w'), 'two', widget('w', { spec: { k: [{ name: 'b', v: '2' }] } })),
    APPLY(at('w'), 'one', widget('w', { spec: { k: [] } }), { pick: (b) => b?.spec ?? b }),
  ], crd({ spec: object({ k: list(object({ name: string(), v: string() }, { required: ['name'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }) }) })),
  on('apply-set', 'items of a set belong to their managers', [
    APPLY(at('w'), 'one', widget('w', { spec: { s: ['a', 'b'] } }), { compare: 'status' }),
    APPLY(at('w'), 'two', widget('w', { spec: { s: ['b', 'c'] } })),
    APPLY(at('w'), 'one', widget('w', { spec: {} }), { pick: (b) => b?.spec ?? b }),
    APPLY(at('w'), 'one', widget('w', { spec: { s: ['x', 'x'] } })),
  ], crd({ spec: object({ s: list(string(), { 'x-kubernetes-list-type': 'set' }) }) })),
  on('apply-atomic-map', 'an atomic object belongs to one manager', [
    APPLY(at('w'), 'one', widget('w', { spec: { m: { a: '1' } } }), { compare: 'status' }),
    APPLY(at('w'), 'two', widget('w', { spec: { m: { b: '2' } } })),
    APPLY(at('w'), 'two', widget('w', { spec: { m: { b: '2' } } }), { force: true }),
  ], crd({ spec: object({ m: map(string(), { 'x-kubernetes-map-type': 'atomic' }) }) })),
];

const deletes = [
  on('delete-answers', 'what a deletion answers', [made(), DELETE(at('w'))]),
  on('delete-finalizer', 'a resource with a finalizer stays until it is removed', [
    made('w', {}, { finalizers: ['example.com/f'] }), DELETE(at('w')), GET(at('w'), { pick: (b) => [b.metadata.generation, b.metadata.deletionTimestamp, b.metadata.deletionGracePeriodSeconds] }),
    PATCH(at('w'), 'merge', { metadata: { finalizers: ['example.com/f', 'example.com/g'] } }), PATCH(at('w'), 'merge', { metadata: { finalizers: null } }, { pick: content }), GET(at('w'), { compare: 'status' }),
  ]),
  on('finalizer-warning', 'finalizers that are not qualified give a warning', [POST(at(), widget('w', {}, { metadata: { finalizers: ['plain', 'has.dot', 'example.com/good', 'orphan'] } }), { compareHeaders: ['warning'], pick: (b) => b.metadata?.finalizers ?? b }), PATCH(at('w'), 'merge', { metadata: { finalizers: ['plain', 'other'] } }, { compareHeaders: ['warning'], pick: (b) => b.metadata?.finalizers ?? b }), PATCH(at('w'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' })]),
  on('delete-options', 'deletion with options', [made(), DELETE(at('w'), { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { resourceVersion: '1' } }), DELETE(at('w'), { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' }), PATCH(at('w'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' })]),
  on('delete-options-in-group', 'DeleteOptions in the group of the resource', [made(), DELETE(at('w'), { kind: 'DeleteOptions', apiVersion: `${GROUP}/v1` })]),
  on('delete-collection', 'deletion by label', [made('a', {}, { labels: { k: '1' } }), made('b', {}, { labels: { k: '2' } }), DELETE(at(), undefined, { query: { labelSelector: 'k=1' }, pick: (b) => ({ ...b, items: b.items?.map(content) }) }), GET(at(), { pick: (b) => b.items.map((i) => i.metadata.name) })]),
  on('delete-collection-cluster-wide', 'the collection of all namespaces cannot be deleted', [DELETE(c(), undefined)]),
];

const reads = [
  on('label-selector', 'lists by label', [made('a', {}, { labels: { k: '1' } }), made('b', {}, { labels: { k: '2' } }), made('c', {}), ...['k=1', 'k!=1', 'k in (1,2)', '!k', 'k'].map((labelSelector) => GET(at(), { query: { labelSelector }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }))]),
  on('field-selector', 'only name and namespace can be selected by default', [made('a'), made('b'), GET(at(), { query: { fieldSelector: 'metadata.name=a' }, pick: (b) => b.items?.map((i) => i.metadata.name) }), GET(at(), { query: { fieldSelector: 'metadata.namespace!=$ns' }, pick: (b) => b.items }), GET(at(), { query: { fieldSelector: 'spec.a=x' } })]),
  on('selectable-fields', 'fields made selectable by the definition', [
    made('a', { spec: { a: 'x', n: 1, b: true } }), made('b', { spec: { a: 'y', n: 10, b: false } }), made('c', { spec: {} }),
    ...['spec.a=x', 'spec.a!=x', 'spec.a=', 'spec.n=10', 'spec.n=010', 'spec.b=true', 'spec.a=x,spec.n=1', 'metadata.name=b,spec.a=y', 'spec.o.x=1'].map((fieldSelector) => GET(at(), { query: { fieldSelector }, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b })),
  ], crd({ spec, selectableFields: ['.spec.a', '.spec.n', '.spec.b'].map((jsonPath) => ({ jsonPath })) })),
  on('selectable-fields-delete-watch', 'selectable fields in watches and deletions of collections', [
    made('a', { spec: { a: 'x' } }), made('b', { spec: { a: 'y' } }),
    WATCH('ws', at(), { query: { watch: 'true', fieldSelector: 'spec.a=x' } }),
    PATCH(at('b'), 'merge', { spec: { a: 'x' } }, { compare: 'status' }), PATCH(at('a'), 'merge', { spec: { a: 'z' } }, { compare: 'status' }),
    DELETE(at(), undefined, { query: { fieldSelector: 'spec.a=x' }, compare: 'status' }),
    WATCHED('ws', { events: 4, pick: (es) => es.map((e) => [e.type, e.object.metadata.name, e.object.spec]) }), GET(at(), { pick: (b) => b.items.map((i) => i.metadata.name) }),
  ], crd({ spec, selectableFields: [{ jsonPath: '.spec.a' }] })),
  on('watch', 'the events of a resource', [
    WATCH('ws', at(), { query: { watch: 'true' } }), made('w', { spec: { a: 'x' } }), PATCH(at('w'), 'merge', { spec: { a: 'y' } }, { compare: 'status' }), DELETE(at('w'), undefined, { compare: 'status' }),
    WATCHED('ws', { events: 3, pick: (es) => es.map((e) => [e.type, content(e.object)]) }),
  ]),
  on('watch-one', 'a watch of one name, from a resource version', [
    made('w'), PATCH(at('w'), 'merge', { spec: { a: 'y' } }, { compare: 'status' }), WATCH('ws', at(), { query: { watch: 'true', fieldSelector: 'metadata.name=w', resourceVersion: '${w.metadata.resourceVersion}' } }), WATCHED('ws', { events: 1, pick: (es) => es.map((e) => [e.type, e.object.spec]) }),
  ]),
  on('watch-bookmark', 'initial events and the bookmark that ends them', [
    made('w'), WATCH('ws', at(), { query: { watch: 'true', sendInitialEvents: 'true', allowWatchBookmarks: 'true', resourceVersionMatch: 'NotOlderThan' } }), WATCHED('ws', { events: 2, pick: (es) => es.map((e) => (e.type ? [e.type, e.object.kind, e.object.metadata.name ?? null, e.object.metadata.annotations ?? null] : e)) }),
  ]),
  on('partial-metadata', 'only the metadata', [made('w', { spec: { a: 'x' } }, { labels: { k: 'v' } }), GET(at('w'), { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } }), GET(at(), { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }, pick: (b) => ({ ...b, items: b.items.map(content) }) })]),
  on('unknown-subresource', 'subresources that the definition does not have', [made(), GET(at('w/status')), PUT(at('w/status'), widget('w')), GET(at('w/scale')), GET(at('w/log'))]),
  on('unknown-verb', 'methods that are not served', [made(), POST(at('w'), widget('w')), PUT(at(), widget('w')), PATCH(at(), 'merge', {})]),
  on('not-found', 'names that do not exist', [GET(at('none')), PUT(at('none'), widget('none', {}, { metadata: { resourceVersion: '5' } })), PATCH(at('none'), 'merge', {}), DELETE(at('none'))]),
  on('unserved-version', 'paths of a version that the definition does not have', [GET(at('', { v: 'v9' })), GET(`/apis/${GROUP}/v1/gadgets`), GET(`/apis/${GROUP}/v9`)]),
];

const bad = (id, about, metadata, o) => on(`metadata-${id}`, about, [POST(at(), { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'w', ...metadata } }, o)]);
const metadata = [
  bad('name', 'a name is a DNS subdomain', { name: 'Not_Good' }),
  bad('name-too-long', 'a name is at most 253 characters', { name: 'a'.repeat(254) }),
  bad('name-slash', 'a name has no slash', { name: 'a/b' }),
  bad('name-number', 'a name is a string', { name: 5 }),
  bad('labels', 'labels are validated', { labels: { 'bad key!': 'v', good: 'bad value!' } }, { pick: sortedCauses }),
  bad('labels-type', 'labels are strings', { labels: { a: 1 } }),
  bad('labels-list', 'labels are a map', { labels: ['a'] }),
  bad('annotations', 'annotation keys are validated', { annotations: { 'bad key!': 'v' } }),
  bad('annotations-type', 'annotations are strings', { annotations: { a: true } }),
  bad('finalizers-type', 'finalizers are strings', { finalizers: [1] }),
  bad('finalizers', 'finalizers are qualified names', { finalizers: ['bad!name'] }),
  bad('owner-references', 'owner references are complete', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }),
  bad('owner-references-two-controllers', 'one owner is the controller', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'a', controller: true }, { apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'b', controller: true }] }),
  bad('unknown-field', 'unknown metadata is dropped', { color: 'red', clusterName: 'x' }),
  bad('creation-timestamp', 'times are strings', { creationTimestamp: 5 }),
  bad('null-values', 'nulls in metadata', { labels: null, annotations: null, finalizers: null, ownerReferences: null }),
  bad('empty-maps', 'empty maps in metadata', { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] }),
  bad('null-label', 'a null label', { labels: { a: null } }),
  on('metadata-name-schema', 'a schema of metadata.name', [POST(at(), widget('w')), POST(at(), widget('a-w'), { compare: 'status' })], crd({ schema: object({ metadata: object({ name: string({ pattern: '^a-', maxLength: 5 }) }) }) })),
  on('metadata-unknown-strict', 'unknown metadata with Strict', [POST(at(), widget('w', {}, { metadata: { color: 'red' } }), { query: { fieldValidation: 'Strict' } }), POST(at(), widget('w', {}, { metadata: { color: 'red' } }), { compareHeaders: ['warning'], pick: content })]),
];

const values = [
  on('numbers', 'how numbers come back', [
    POST(at(), '{"apiVersion":"$ns.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"n":9007199254740993,"f":1.0,"any":{"big":12345678901234567890,"exp":1e3,"small":1e-7,"neg":-0.0,"int":5,"frac":5.50,"max":9223372036854775807}}}', { pick: content }),
    GET(at('w'), { headers: { accept: 'application/yaml' }, pick: (t) => String(t).slice(String(t).indexOf('\nspec:') + 1) }),
  ]),
  on('unicode', 'strings with special characters', [POST(at(), widget('w', { spec: { a: 'é\u0000\u2028<>&"\\ 😀' } }), { pick: (b) => b?.spec ?? b })]),
  on('null-values', 'nulls in fields that are not nullable', [POST(at(), widget('w', { spec: { a: null, o: null } })), POST(at(), widget('v', { spec: { any: { x: null } } }), { pick: content }), POST(at(), widget('u', { spec: null }))]),
  on('empty-values', 'empty values are kept', [POST(at(), widget('w', { spec: { a: '', n: 0, b: false, l: [], o: {}, m: {}, any: {} } }), { pick: content })]),
  on('duplicate-keys', 'keys given twice', [
    POST(at(), '{"apiVersion":"$ns.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":"1","a":"2","o":{"x":"1","x":"2"}}}', { compareHeaders: ['warning'], pick: content }),
    POST(at(), '{"apiVersion":"$ns.example.com/v1","kind":"Widget","metadata":{"name":"v","name":"u"},"spec":{"a":"1","a":"2"},"spec":{}}', { query: { fieldValidation: 'Strict' } }),
  ]),
];

export default [...basics, ...bodies, ...updates, ...patches, ...applies, ...deletes, ...reads, ...metadata, ...values];
