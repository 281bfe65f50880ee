// What all kinds of patch have in common: media types, query parameters, permissions, dry run, objects that are being deleted.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { CM, DEP, POD, SECRET, cm, deployment, pod, widgets, widget, withWidgets, WIDGETS } from './kit/apply.mjs';

const made = POST(CM, cm('c', { a: '1' }), { compare: 'status' });
const kinds = [
  ['json', 'application/json-patch+json', [{ op: 'add', path: '/data/b', value: '2' }]],
  ['merge', 'application/merge-patch+json', { data: { b: '2' } }],
  ['strategic', 'application/strategic-merge-patch+json', { data: { b: '2' } }],
];
const one = (id, about, steps, section = '4.4') => scenario(`patch-request-${id}`, { section, about }, steps);

const mediaTypes = [
  one('no-content-type', 'a patch without a content type is 415', [made, PATCH(`${CM}/c`, undefined, { data: {} }, { headers: { 'content-type': '' } })]),
  ...['application/json', 'application/yaml', 'text/plain', 'application/merge-patch+yaml', 'application/apply-patch+json', 'application/apply-patch+cbor', 'application/strategic-merge-patch+yaml', 'Application/Merge-Patch+Json', 'application/vnd.kubernetes.protobuf']
    .map((type) => one(`content-type-${type.replace(/[^a-zA-Z]+/g, '-').toLowerCase()}${/[A-Z]/.test(type) ? '-capitals' : ''}`, `a patch as ${type} is 415`, [made, PATCH(`${CM}/c`, type, { data: { b: '2' } })])),
  one('content-type-parameters', 'parameters of the content type are ignored', [made, ...kinds.map(([, type, body]) => PATCH(`${CM}/c`, `${type}; charset=utf-8`, body))]),
  one('content-type-space', 'a space before the parameters makes the type unknown', [made, PATCH(`${CM}/c`, 'application/merge-patch+json ; charset=utf-8', { data: { b: '2' } })]),
  one('unknown-type-missing-object', 'the media type is checked before the object is looked for', [PATCH(`${CM}/none`, 'application/json', {})]),
  one('accept-unknown', 'an Accept header that cannot be met is 406', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { headers: { accept: 'image/png' } }), GET(`${CM}/c`)]),
  one('accept-yaml', 'the answer comes in YAML when asked for', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { headers: { accept: 'application/yaml' }, compareHeaders: ['content-type'], pick: (b) => b.replace(/resourceVersion: "\d+"/, 'resourceVersion: rv').replace(/time: "[^"]*"/g, 'time: t') })]),
  one('accept-table', 'the answer comes as a table when asked for', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: (b) => ({ kind: b.kind, names: b.columnDefinitions?.map((c) => c.name), object: b.rows?.[0]?.object?.kind, cells: b.rows?.[0]?.cells.slice(0, 2) }) })]),
  one('accept-partial', 'the answer comes as PartialObjectMetadata when asked for', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } })]),
  one('method-on-collection', 'a patch of a collection is 405', [PATCH(CM, 'merge', { data: {} })]),
];

const options = [
  ...kinds.map(([id, type, body]) => one(`dry-run-${id}`, `dryRun=All answers with the result of a ${id} patch and stores nothing`, [
    POST(CM, cm('c', { a: '1' })), PATCH(`${CM}/c`, type, body, { query: { dryRun: 'All' } }), GET(`${CM}/c`),
  ], '4.8')),
  ...kinds.map(([id, type, body]) => one(`force-${id}`, `force is not allowed with a ${id} patch`, [made, PATCH(`${CM}/c`, type, body, { query: { force: 'true' } }), PATCH(`${CM}/c`, type, body, { query: { force: 'false' } })], '4.3')),
  ...kinds.map(([id, type, body]) => one(`field-manager-${id}`, `fieldManager names the entry of a ${id} patch`, [made, PATCH(`${CM}/c`, type, body, { query: { fieldManager: 'somebody' } })], '2.3')),
  one('dry-run-bad-value', 'a dryRun value other than All is 422', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { dryRun: 'Some' } }), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { dryRun: '' } })], '4.8'),
  one('dry-run-missing-object', 'dryRun of a patch of an absent object is 404', [PATCH(`${CM}/none`, 'merge', {}, { query: { dryRun: 'All' } })], '4.8'),
  one('dry-run-invalid', 'dryRun still validates', [made, PATCH(`${CM}/c`, 'merge', { data: { 'bad key': 'x' } }, { query: { dryRun: 'All' } })], '4.8'),
  one('dry-run-no-effect', 'dryRun of a patch without effect keeps the resourceVersion', [POST(CM, cm('c', { a: '1' })), PATCH(`${CM}/c`, 'merge', { data: { a: '1' } }, { query: { dryRun: 'All' } })], '4.8'),
  one('force-not-boolean', 'a force that is no boolean counts as true', [made, PATCH(`${CM}/c`, 'merge', {}, { query: { force: 'maybe' } })], '4.3'),
  one('field-manager-too-long', 'a fieldManager longer than 128 bytes is 422', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { fieldManager: 'm'.repeat(129) } }), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { fieldManager: 'm'.repeat(128) } })], '4.3'),
  one('field-manager-not-printable', 'a fieldManager with characters that cannot be printed is 422', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { fieldManager: 'a\tb' } }), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { fieldManager: 'mit Leerzeichen und ü' } })], '4.3'),
  one('several-errors', 'all errors of the options come together', [made, PATCH(`${CM}/c`, 'merge', {}, { query: { fieldManager: 'm'.repeat(129), force: 'true', dryRun: 'x', fieldValidation: 'y' } })], '4.3'),
  one('unknown-parameter', 'a query parameter that is unknown is ignored', [made, PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, { query: { nope: '1' } })], '4.3'),
];

const rights = [
  one('forbidden', 'a patch without the right is 403 and names the verb patch', [made, ...kinds.map(([, type, body]) => PATCH(`${CM}/c`, type, body, { as: 'alice' }))], '7'),
  one('forbidden-status', 'the right is asked for the subresource', [POST(POD, pod('p'), { compare: 'status' }), PATCH(`${POD}/p/status`, 'merge', {}, { as: 'alice' })], '7'),
  one('forbidden-before-media-type', 'the right is checked before the media type', [made, PATCH(`${CM}/c`, 'text/plain', 'x', { as: 'alice' })], '7'),
];

const state = [
  one('being-deleted', 'an object that is being deleted can be patched; no finalizer may be added', [
    POST(CM, cm('c', { a: '1' }, { finalizers: ['example.com/a', 'example.com/b'] }), { compare: 'status' }),
    DELETE(`${CM}/c`, undefined, { compare: 'status' }),
    PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }),
    PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } }),
    PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: ['example.com/b'] } }),
    PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }),
    GET(`${CM}/c`),
  ], '3.1'),
  one('last-finalizer-with-change', 'the patch that removes the last finalizer answers with the object and deletes it', [
    POST(CM, cm('c', { a: '1' }, { finalizers: ['example.com/a'] }), { compare: 'status' }),
    DELETE(`${CM}/c`, undefined, { compare: 'status' }),
    PATCH(`${CM}/c`, 'json-patch', [{ op: 'remove', path: '/metadata/finalizers' }, { op: 'add', path: '/data/b', value: '2' }]),
    GET(`${CM}/c`),
  ], '3.1'),
  one('generation', 'a patch of the spec or (for a deployment) of annotations increments the generation, one of labels or status does not', [
    POST(DEP, deployment('d'), { compare: 'status' }),
    ...[['d', { metadata: { labels: { a: 'b' } } }], ['d', { spec: { replicas: 2 } }], ['d/status', { status: { replicas: 1 } }], ['d', { metadata: { annotations: { a: 'b' } } }], ['d', { metadata: { generation: 9 } }]]
      .map(([path, body]) => PATCH(`${DEP}/${path}`, 'merge', body, { pick: (b) => b.metadata.generation })),
  ], '4.7'),
  one('create-namespace-absent', 'a patch in a namespace that is absent is 404 for the object', [PATCH('/api/v1/namespaces/$ns-none/configmaps/c', 'merge', {})], '4.7'),
  one('unknown-resource', 'a patch of an unknown resource is 404', [PATCH('/api/v1/namespaces/$ns/nothings/c', 'merge', {}), PATCH('/apis/nothing.example.com/v1/namespaces/$ns/nothings/c', 'merge', {})], '4.1'),
  one('unknown-subresource', 'a patch of an unknown subresource is 404', [made, PATCH(`${CM}/c/nothing`, 'merge', {}), PATCH(`${CM}/c/status`, 'merge', {})], '4.1'),
  one('subresource-without-patch', 'a subresource that cannot be patched is 405', [POST(POD, pod('p'), { compare: 'status' }), PATCH(`${POD}/p/log`, 'merge', {}), PATCH(`${POD}/p/binding`, 'merge', {}), PATCH(`${POD}/p/eviction`, 'merge', {})], '4.2'),
  one('secret-type-immutable', 'a patch of the type of a secret is 422', [POST(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, { compare: 'status' }), PATCH(`${SECRET}/s`, 'merge', { type: 'other' })], '4.7'),
  one('namespace-object', 'a namespace can be patched like any object', [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { own: 'yes' } } }, { ignore: ['metadata.managedFields'] })], '4.7'),
];

const validated = { type: 'object', properties: { spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer', maximum: 5 }, mode: { type: 'string', default: 'auto' }, tags: { type: 'array', items: { type: 'string' } } } } } };
const custom = [
  ...['json', 'merge'].map((id) => scenario(`patch-request-custom-${id}`, withWidgets('4.7', `a ${id} patch of a custom resource: values, defaults, pruning, validation, wrong types`), [
    ...widgets(validated),
    POST(WIDGETS, widget('w', { spec: { size: 1, tags: ['a'] } }), { compare: 'status' }),
    ...[{ size: 2 }, { size: 9 }, { size: 'x' }, { nope: 1 }, { mode: null }, { size: null }].map((spec) => (id === 'merge'
      ? PATCH(`${WIDGETS}/w`, 'merge', { spec }, { compareHeaders: ['warning'] })
      : PATCH(`${WIDGETS}/w`, 'json-patch', Object.entries(spec).map(([k, v]) => (v === null ? { op: 'remove', path: `/spec/${k}` } : { op: 'add', path: `/spec/${k}`, value: v })), { compareHeaders: ['warning'] }))),
  ])),
  scenario('patch-request-custom-identity', withWidgets('4.7', 'a patch of a custom resource that changes kind, apiVersion, name or uid'), [
    ...widgets(validated),
    POST(WIDGETS, widget('w', { spec: { size: 1 } }), { compare: 'status' }),
    ...[{ kind: 'Gadget' }, { apiVersion: '$ns.example.com/v2' }, { metadata: { name: 'x' } }, { metadata: { namespace: 'x' } }, { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }, { metadata: null }, { kind: null }]
      .map((body) => PATCH(`${WIDGETS}/w`, 'merge', body)),
  ]),
  ...['Strict', 'Warn', 'Ignore'].map((level) => scenario(`patch-request-custom-field-validation-${level.toLowerCase()}`, withWidgets('4.9', `unknown and duplicate fields of a custom resource with fieldValidation=${level}`), [
    ...widgets(validated),
    POST(WIDGETS, widget('w', { spec: { size: 1 } }), { compare: 'status' }),
    PATCH(`${WIDGETS}/w`, 'merge', { nope: 1, spec: { nix: 1 }, metadata: { nada: 1 } }, { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
    PATCH(`${WIDGETS}/w`, 'merge', '{"spec":{"size":2,"size":3}}', { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ])),
  one('put-then-patch-managers', 'PUT and patch by the same manager share one entry', [
    POST(CM, cm('c', { a: '1' }), { compare: 'status' }), PUT(`${CM}/c`, cm('c', { a: '1', b: '2' })), PATCH(`${CM}/c`, 'merge', { data: { c: '3' } }),
  ], '2.3'),
];

export default [...mediaTypes, ...options, ...rights, ...state, ...custom];
