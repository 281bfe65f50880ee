// Server-side apply: what a request must look like, and what it answers.
import { scenario, GET, POST, PUT, PATCH, APPLY, DELETE, WATCH, WATCHED, SLEEP } from '../steps.ts';
import { CM, DEP, POD, SVC, cm, deployment, pod, box, service } from './kit/apply.mjs';

const one = (id, about, steps, o = {}) => scenario(`apply-request-${id}`, { section: '4.7', about, ...o }, steps);
const made = POST(CM, cm('c', { a: '1' }), { compare: 'status' });
const raw = (path, body, query = { fieldManager: 'm' }, o = {}) => PATCH(path, 'apply-yaml', body, { query, ...o });

const outcome = [
  one('creates', 'apply of an absent object creates it: 201', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compareHeaders: ['content-type', 'location'] }), GET(`${CM}/c`)]),
  one('updates', 'apply of an object that exists changes it: 200', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2', b: '3' }))]),
  one('no-change', 'the same apply again changes nothing: same resourceVersion, same time', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), SLEEP(1100), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), GET(`${CM}/c`),
  ], { times: true }),
  one('no-change-deployment', 'the same apply of a deployment again changes nothing, defaults notwithstanding', [
    APPLY(`${DEP}/d`, 'm', deployment('d')), SLEEP(1100), APPLY(`${DEP}/d`, 'm', deployment('d')),
  ], { times: true }),
  one('no-change-no-event', 'an apply without effect sends no watch event', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }),
    WATCH('w', `${CM}?watch=true&fieldSelector=metadata.name%3Dc`),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }), { compare: 'status' }),
    WATCHED('w', { events: 2, quiet: 300, pick: (events) => events.map((e) => [e.type, e.object.data]) }),
  ]),
  one('second-manager-same-value', 'another manager that applies the same values is a change: a new resourceVersion', [APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' })), APPLY(`${CM}/c`, 'm2', cm('c', { a: '1' }))]),
  one('time-of-entry', 'the time of an entry is that of its last change; other entries keep theirs', [
    APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' })), SLEEP(1100), APPLY(`${CM}/c`, 'm2', cm('c', { b: '2' })), SLEEP(1100), APPLY(`${CM}/c`, 'm1', cm('c', { a: '3' })),
  ], { times: true }),
  one('order-of-entries', 'entries are ordered by operation, then time, then manager', [
    POST(CM, cm('c', { z: '0' }), { query: { fieldManager: 'zz-update' }, compare: 'status' }), SLEEP(1100),
    APPLY(`${CM}/c`, 'zz-apply', cm('c', { a: '1' }), { compare: 'status' }), SLEEP(1100),
    PATCH(`${CM}/c`, 'merge', { data: { y: '1' } }, { query: { fieldManager: 'aa-update' }, compare: 'status' }), SLEEP(1100),
    APPLY(`${CM}/c`, 'aa-apply', cm('c', { b: '1' })),
  ], { times: true }),
  one('time-only-value-change', 'a new value of a field that the manager owns already renews the time of its entry', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), SLEEP(1100), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' })),
  ], { times: true }),
  one('update-time', 'an update without effect keeps the time; one with effect renews it', [
    POST(CM, cm('c', { a: '1' })), SLEEP(1100), PATCH(`${CM}/c`, 'merge', { data: { a: '1' } }), SLEEP(1100), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }),
  ], { times: true }),
  one('without-metadata-name', 'to create, the name must be in the body; to change, it may be left out', [raw(`${CM}/c`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { a: '1' } }), raw(`${CM}/c`, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } }), made, raw(`${CM}/c`, { apiVersion: 'v1', kind: 'ConfigMap', data: { b: '2' } })]),
  one('only-identity', 'a body with nothing but the identity creates an empty object without managed fields', [APPLY(`${CM}/c`, 'm', cm('c')), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), APPLY(`${CM}/c`, 'm', cm('c'))]),
  one('yaml', 'the body may be YAML', [raw(`${CM}/c`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels: {"x": "y"}\ndata:\n  text: |\n    two\n    lines\n  folded: >-\n    one\n    line\n  quoted: "5"\n  anchor: &a text\n  alias: *a\n')]),
  one('yaml-1-1', 'the YAML is version 1.1: y, yes and on are booleans, as values and as keys', [
    raw(`${CM}/c`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  labels: {x: y}\n'),
    raw(`${CM}/c`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  yes: "1"\n  5: "2"\n  1.50: "3"\n'),
    raw(`${CM}/c`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: 0o17\n'),
  ]),
  one('yaml-control-characters', 'which characters may stand in YAML: controls may not, but for tabs and line ends', ['\u0001', '\u0008', '\t', '\u000b', '\u001f', '\u007e', '\u007f', '\u0080', '\u0084', '\u0086', '\u009f', '\u00a0', '\u2028', '\ufeff', '\ufffd', '\ufffe', '\uffff', '\u{1f600}', '\u{10ffff}'].map((character) =>
    raw(`${CM}/c`, `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: "b${character}c"\n`, undefined, { query: { fieldManager: 'm', dryRun: 'All' }, pick: (b) => (b.kind === 'Status' ? b : b.data) }))),
  one('json-control-characters', 'JSON is read as YAML: what may not stand in that may not stand in its strings', ['\u0009', '\u007e', '\u007f', '\u0080', '\u009f', '\u00a0', '\u2028', '\ufffd', '\ufffe', '\uffff', '\u{1f600}'].map((character) =>
    raw(`${CM}/c`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"b${character}c"}}`, undefined, { query: { fieldManager: 'm', dryRun: 'All' }, pick: (b) => (b.kind === 'Status' ? b : b.data) }))),
  one('yaml-merge-key', 'YAML merge keys work', [raw(`${CM}/c`, 'apiVersion: v1\nkind: ConfigMap\nmetadata: &m\n  name: c\n  labels: &l {a: "1"}\n  annotations:\n    <<: *l\n    b: "2"\n')]),
  one('namespace-in-body', 'the namespace may be repeated in the body', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { namespace: '$ns' }))]),
  one('accept-partial', 'the answer as PartialObjectMetadata', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } })]),
];

const options = [
  one('no-field-manager', 'fieldManager is required and may not be empty', [raw(`${CM}/c`, cm('c'), {}), raw(`${CM}/c`, cm('c'), { fieldManager: '' })]),
  one('field-manager-too-long', 'fieldManager has at most 128 bytes', [APPLY(`${CM}/c`, 'm'.repeat(129), cm('c', { a: '1' })), APPLY(`${CM}/c`, 'm'.repeat(128), cm('c', { a: '1' }))]),
  one('field-manager-bytes', 'the limit of fieldManager counts bytes, not characters', [APPLY(`${CM}/c`, 'ü'.repeat(65), cm('c', { a: '1' })), APPLY(`${CM}/c`, 'ü'.repeat(64), cm('c', { a: '1' }))]),
  one('field-manager-not-printable', 'fieldManager must be printable', [APPLY(`${CM}/c`, 'a\u0007b', cm('c', { a: '1' }))]),
  one('field-manager-space', 'fieldManager may hold spaces and capitals', [APPLY(`${CM}/c`, 'My Manager/1.0 ü', cm('c', { a: '1' }))]),
  one('force-values', 'force takes a boolean; anything but false and 0 is true', [
    APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' }), { compare: 'status' }),
    ...['false', '0', '', 'no', 'True'].map((force) => APPLY(`${CM}/c`, `m-${force || 'empty'}`, cm('c', { a: force || 'e' }), { query: { force } })),
  ]),
  one('dry-run-create', 'dryRun=All of an apply that would create: 201 and nothing stored', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { query: { dryRun: 'All' } }), GET(`${CM}/c`),
  ], { section: '4.8' }),
  one('dry-run-update', 'dryRun=All of an apply that would change: 200 and nothing stored', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }), { query: { dryRun: 'All' } }), GET(`${CM}/c`),
  ], { section: '4.8' }),
  one('dry-run-conflict', 'dryRun=All finds conflicts, and force settles them without storing', [
    APPLY(`${CM}/c`, 'm1', cm('c', { a: '1' }), { compare: 'status' }),
    APPLY(`${CM}/c`, 'm2', cm('c', { a: '2' }), { query: { dryRun: 'All' } }),
    APPLY(`${CM}/c`, 'm2', cm('c', { a: '2' }), { query: { dryRun: 'All' }, force: true }), GET(`${CM}/c`),
  ], { section: '4.8' }),
  ...['Strict', 'Warn', 'Ignore'].map((level) => one(`unknown-field-${level.toLowerCase()}`, `a field that the schema does not know is an error whatever fieldValidation says (${level})`, [
    APPLY(`${CM}/c`, 'm', { ...cm('c', { a: '1' }), nope: 1 }, { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { nix: 'x' }), { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
    APPLY(`${DEP}/d`, 'm', deployment('d', {}, { containers: [box('web', { nope: 1 })] }), { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ], { section: '4.9' })),
  ...['Strict', 'Warn', 'Ignore'].map((level) => one(`duplicate-field-${level.toLowerCase()}`, `a key that stands twice in the body with fieldValidation=${level}`, [
    raw(`${CM}/c`, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","a":"2"}}', { fieldManager: 'm', fieldValidation: level }, { compareHeaders: ['warning'] }),
    raw(`${CM}/d`, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d\ndata:\n  a: "1"\n  a: "2"\ndata:\n  b: "3"\n', { fieldManager: 'm', fieldValidation: level }, { compareHeaders: ['warning'] }),
  ], { section: '4.9' })),
];

const bodies = [
  ['empty', 'an empty body', ''],
  ['null', 'a body that is null', 'null'],
  ['not-yaml', 'a body that is no YAML', '{"apiVersion": "v1", '],
  ['bad-indent', 'YAML with a broken indentation', 'apiVersion: v1\n kind: ConfigMap\n'],
  ['tab', 'YAML with a tab', 'apiVersion: v1\nkind:\tConfigMap\n\tmetadata: {}\n'],
  ['string', 'a body that is a string', '"x"'],
  ['list', 'a body that is a list', '[]'],
  ['number', 'a body that is a number', '5'],
  ['empty-object', 'a body that is an empty object', '{}'],
  ['no-kind', 'a body without kind', { apiVersion: 'v1', metadata: { name: 'c' } }],
  ['no-api-version', 'a body without apiVersion', { kind: 'ConfigMap', metadata: { name: 'c' } }],
  ['other-kind', 'a body of another kind', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } }],
  ['unknown-kind', 'a body of an unknown kind', { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'c' } }],
  ['other-group', 'a body of another group', { apiVersion: 'apps/v1', kind: 'ConfigMap', metadata: { name: 'c' } }],
  ['other-version', 'a body of another version of the group', { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'c' } }],
  ['bad-api-version', 'an apiVersion with two slashes', { apiVersion: 'a/b/c', kind: 'ConfigMap', metadata: { name: 'c' } }],
  ['api-version-number', 'an apiVersion that is a number', { apiVersion: 1, kind: 'ConfigMap', metadata: { name: 'c' } }],
  ['kind-number', 'a kind that is a number', { apiVersion: 'v1', kind: 1, metadata: { name: 'c' } }],
  ['metadata-string', 'a metadata that is a string', { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'x' }],
  ['metadata-null', 'a metadata that is null', { apiVersion: 'v1', kind: 'ConfigMap', metadata: null, data: { a: '1' } }],
  ['other-name', 'a body with another name', cm('other', { a: '1' })],
  ['other-namespace', 'a body with another namespace', cm('c', { a: '1' }, { namespace: 'other' })],
  ['name-number', 'a name that is a number', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 1 } }],
  ['generate-name', 'a body with generateName', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' }, data: { a: '1' } }],
  ['managed-fields', 'a body with managedFields', cm('c', { a: '1' }, { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }] })],
  ['managed-fields-empty', 'a body with an empty list of managedFields', cm('c', { a: '1' }, { managedFields: [] })],
  ['managed-fields-reset', 'a body with managedFields [{}]', cm('c', { a: '1' }, { managedFields: [{}] })],
  ['managed-fields-null', 'a body with managedFields null', cm('c', { a: '1' }, { managedFields: null })],
  ['wrong-type-map', 'a map given as a string', cm('c', 'x')],
  ['wrong-type-value', 'a number in a map of strings', cm('c', { a: 1 })],
  ['wrong-type-list', 'a list in a map of strings', cm('c', { a: ['x'] })],
  ['two-documents', 'two YAML documents', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d\n'],
  ['list-kind', 'a List', { apiVersion: 'v1', kind: 'List', items: [] }],
].flatMap(([id, about, body]) => [
  one(`body-${id}`, `${about}, of an object that is absent and of one that exists`, [raw(`${CM}/c`, body), GET(`${CM}/c`), POST(CM, cm('c', { z: '0' }), { compare: 'status' }), raw(`${CM}/c`, body)]),
]);

const typed = [
  ['replicas-string', 'a number given as a string', deployment('d', { replicas: '3' })],
  ['replicas-float', 'a fraction for an integer', deployment('d', { replicas: 1.5 })],
  ['replicas-boolean', 'a boolean for an integer', deployment('d', { replicas: true })],
  ['paused-string', 'a string for a boolean', deployment('d', { paused: 'true' })],
  ['template-list', 'a list for a struct', deployment('d', { template: [] })],
  ['containers-map', 'a map for a list', deployment('d', {}, { containers: { name: 'web' } })],
  ['containers-strings', 'strings in a list of structs', deployment('d', {}, { containers: ['web'] })],
  ['containers-no-name', 'an item without its key', deployment('d', {}, { containers: [{ image: 'i' }] })],
  ['containers-null-name', 'an item whose key is null', deployment('d', {}, { containers: [{ name: null, image: 'i' }] })],
  ['containers-number-name', 'an item whose key is a number', deployment('d', {}, { containers: [{ name: 5, image: 'i' }] })],
  ['containers-null-item', 'an item that is null', deployment('d', {}, { containers: [null] })],
  ['containers-duplicate', 'two items with the same key', deployment('d', {}, { containers: [box('web'), box('web')] })],
  ['ports-no-port', 'an item without one of its two keys', deployment('d', {}, { containers: [box('web', { ports: [{ protocol: 'TCP' }] })] })],
  ['ports-duplicate', 'two items with the same two keys', deployment('d', {}, { containers: [box('web', { ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'TCP', name: 'x' }] })] })],
  ['env-duplicate', 'the same variable twice', deployment('d', {}, { containers: [box('web', { env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] })] })],
  ['finalizers-duplicate', 'the same value twice in a set', deployment('d', {}, {}, { finalizers: ['x.io/a', 'x.io/a'] })],
  ['finalizers-number', 'a number in a set of strings', deployment('d', {}, {}, { finalizers: [1] })],
  ['finalizers-null', 'null in a set', deployment('d', {}, {}, { finalizers: [null] })],
  ['labels-null-value', 'null as the value of a label', deployment('d', {}, {}, { labels: { a: null } })],
  ['two-items', 'errors in two items of a list are listed', deployment('d', {}, { containers: [box('web', { env: [{ name: 'A', value: 1 }, { name: 'B', value: true }] })] })],
  ['int-or-string', 'a boolean for an int-or-string', deployment('d', { strategy: { rollingUpdate: { maxSurge: true } } })],
  ['quantity-bad', 'a quantity that does not parse', deployment('d', {}, { containers: [box('web', { resources: { limits: { cpu: 'abc' } } })] })],
  ['quantity-number', 'a quantity given as a number', deployment('d', {}, { containers: [box('web', { resources: { limits: { cpu: 2 } } })] })],
  ['time-bad', 'a time that does not parse', deployment('d', {}, {}, { creationTimestamp: 'yesterday' })],
  ['time-null', 'creationTimestamp null, as clients like to send it', deployment('d', {}, {}, { creationTimestamp: null })],
  ['missing-required', 'a result that fails validation', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: {} }],
].map(([id, about, body]) => one(`typed-${id}`, about, [APPLY(`${DEP}/d`, 'm', body)]));

const identity = [
  one('resource-version-current', 'a current resourceVersion in the body is accepted', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { id: 'c' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { resourceVersion: '${c.metadata.resourceVersion}' }))]),
  one('resource-version-stale', 'a stale resourceVersion in the body is 409', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { id: 'c' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }), { compare: 'status' }),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '3' }, { resourceVersion: '${c.metadata.resourceVersion}' })),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '3' }, { resourceVersion: '${c.metadata.resourceVersion}' }), { force: true }),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { resourceVersion: '${c.metadata.resourceVersion}' })),
  ]),
  one('resource-version-absent-object', 'a resourceVersion for an object that is absent is ignored: it is created', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { resourceVersion: '1' })), GET(`${CM}/c`)]),
  one('resource-version-special', 'resourceVersion 0 and empty are no precondition; garbage is 500', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }), ...['0', '', 'abc'].map((resourceVersion) => APPLY(`${CM}/c`, 'm', cm('c', { a: `x${resourceVersion}` }, { resourceVersion })))]),
  one('uid-matches', 'the uid of the object in the body is accepted', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { id: 'c' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { uid: '${c.metadata.uid}' }))]),
  one('uid-differs', 'another uid is 422', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { uid: '11111111-2222-3333-4444-555555555555' }))]),
  one('uid-absent-object', 'a uid for an object that is absent is 409', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { uid: '11111111-2222-3333-4444-555555555555' })), GET(`${CM}/c`)]),
  one('forbidden-create', 'apply of an absent object needs the right to create', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { as: 'alice' })], { section: '7' }),
  one('create-right-missing', 'with the right to patch but not to create, an absent object is 403 and an existing one is changed', [
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] }] }, { compare: 'status' }),
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }] }, { compare: 'status' }),
    made, SLEEP(500),
    APPLY(`${CM}/c`, 'm', cm('c', { b: '2' }), { as: 'bob' }),
    APPLY(`${CM}/absent`, 'm', cm('absent', { b: '2' }), { as: 'bob' }),
  ], { section: '7' }),
  one('namespace-absent', 'apply in a namespace that is absent is 404', [APPLY('/api/v1/namespaces/$ns-none/configmaps/c', 'm', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } })]),
  one('invalid-name', 'apply with a name that is not valid', [APPLY(`${CM}/Not_Valid`, 'm', cm('Not_Valid', {}))]),
  one('being-deleted', 'an object that is being deleted can be applied to, and giving up the last finalizer ends it', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { finalizers: ['example.com/f'] }), { compare: 'status' }),
    DELETE(`${CM}/c`, undefined, { compare: 'status' }),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { finalizers: ['example.com/f'] })),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }, { finalizers: ['example.com/f', 'example.com/g'] })),
    APPLY(`${CM}/c`, 'm', cm('c', { a: '2' })), GET(`${CM}/c`),
  ], { section: '3.1' }),
  one('recreate', 'apply after deletion creates the object anew: 201', [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), { compare: 'status' }), DELETE(`${CM}/c`, undefined, { compare: 'status' }), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' })),
  ]),
  one('not-on-collection', 'apply on a collection is 405', [raw(CM, cm('c', {}))]),
  one('media-type-parameters', 'parameters of the media type are ignored', [PATCH(`${CM}/c`, 'application/apply-patch+yaml; charset=utf-8', cm('c', { a: '1' }), { query: { fieldManager: 'm' } })]),
  one('put-creates-nothing', 'unlike apply, PUT and the other patches do not create', [PUT(`${CM}/c`, cm('c', { a: '1' })), PATCH(`${CM}/c`, 'merge', cm('c', { a: '1' }))]),
  one('immutable-field', 'apply of another value for an immutable field is 422', [APPLY(`${DEP}/d`, 'm', deployment('d'), { compare: 'status' }), APPLY(`${DEP}/d`, 'm', deployment('d', { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [box()] } } }))]),
  one('pod-spec-immutable', 'apply that adds a container to a pod is 422', [APPLY(`${POD}/p`, 'm', pod('p'), { compare: 'status' }), APPLY(`${POD}/p`, 'm', pod('p', { containers: [box(), box('two')] }), { pick: (b) => ({ reason: b.reason, message: b.message?.split('\n')[0] }) })]),
  one('service-create', 'apply creates a service', [APPLY(`${SVC}/s`, 'm', service('s', { selector: { a: 'b' }, ports: [{ port: 80 }] }))]),
];

export default [...outcome, ...options, ...bodies, ...typed, ...identity];
