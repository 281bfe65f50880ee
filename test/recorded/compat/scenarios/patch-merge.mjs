// JSON Merge Patch (RFC 7386) as PATCH with application/merge-patch+json.
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { CM, POD, DEP, SVC, SECRET, cm, pod, deployment, service, box } from './kit/apply.mjs';

const mp = (path, body, o) => PATCH(path, 'merge', body, o);
const made = POST(CM, cm('c', { a: '1', b: '2' }, { labels: { x: 'y' }, annotations: { n: 'o' } }), { compare: 'status' });
const onMap = (id, about, ...patches) => scenario(`patch-merge-${id}`, { section: '4.7', about }, [made, ...patches.map((p) => mp(`${CM}/c`, p, { compareHeaders: ['warning'] }))]);
const onDeployment = (id, about, podSpec, patch, pick) => scenario(`patch-merge-${id}`, { section: '4.7', about }, [
  POST(DEP, deployment('d', {}, podSpec), { compare: 'status' }), mp(`${DEP}/d`, patch, { pick: (b) => (b.kind === 'Status' ? b : pick(b)) }),
]);

const maps = [
  onMap('adds-key', 'a key that is absent is added, the others stay', { data: { c: '3' } }),
  onMap('replaces-key', 'a key that exists gets the new value', { data: { a: 'new' } }),
  onMap('null-removes-key', 'null removes a key', { data: { a: null } }),
  onMap('null-removes-absent-key', 'null for an absent key changes nothing', { data: { zz: null } }),
  onMap('null-removes-map', 'null removes a whole map', { data: null, metadata: { labels: null } }),
  onMap('null-and-value', 'keys removed and added in one patch', { data: { a: null, b: 'new', c: '3' } }),
  onMap('empty-object', 'an empty patch changes nothing', {}),
  onMap('empty-map', 'an empty map inside the patch changes nothing', { data: {} }),
  onMap('creates-map', 'a map that is absent is created without its null entries', { binaryData: { x: 'aGk=', y: null } }),
  onMap('map-by-scalar', 'a map replaced by a string is 422', { data: 'x' }),
  onMap('map-by-list', 'a map replaced by a list is 422', { data: ['x'] }),
  onMap('scalar-by-map', 'a string replaced by a map is 422', { data: { a: { deep: 'x' } } }),
  onMap('scalar-by-number', 'a string replaced by a number is 422', { data: { a: 1 } }),
  onMap('scalar-by-boolean', 'a string replaced by a boolean is 422', { data: { a: true } }),
  onMap('labels', 'labels merge key by key', { metadata: { labels: { x: null, z: 'new' } } }),
  onMap('boolean-field', 'a boolean field set, then changed from true to false is forbidden (immutable)', { immutable: true }, { immutable: false }),
  onMap('null-for-scalar-field', 'null resets a pointer field', { immutable: false }, { immutable: null }),
];

const documents = [
  ['not-json', 'a body that is not JSON is 400', '{"data":'],
  ['list', 'a body that is a list is 400', ['x']],
  ['string', 'a body that is a string is 400', '"x"'],
  ['number', 'a body that is a number is 400', '5'],
  ['null', 'a body that is null is 400', 'null'],
  ['empty', 'an empty body is 400', ''],
  ['trailing', 'data after the object is 400', '{"data":{"c":"3"}} {}'],
  ['yaml', 'YAML is not accepted', 'data:\n  c: "3"\n'],
  ['duplicate-key', 'a duplicate key warns and the last one counts', '{"data":{"c":"3","c":"4"}}'],
].map(([id, about, body]) => scenario(`patch-merge-body-${id}`, { section: '4.7', about }, [made, mp(`${CM}/c`, body, { compareHeaders: ['warning'] })]));

const validation = ['Strict', 'Warn', 'Ignore', 'bogus', ''].map((level) =>
  scenario(`patch-merge-field-validation-${level.toLowerCase() || 'empty'}`, { section: '4.9', about: `unknown and duplicate fields with fieldValidation=${level}` }, [
    made,
    mp(`${CM}/c`, { nope: 1, metadata: { nix: { deep: true } }, data: { c: '3' } }, { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
    mp(`${CM}/c`, '{"data":{"d":"4","d":"5"},"data":{"e":"6"}}', { query: { fieldValidation: level }, compareHeaders: ['warning'] }),
  ]));

const lists = [
  onDeployment('list-replaced', 'lists are replaced as a whole, also lists with merge keys', { containers: [box('a'), box('b')] },
    { spec: { template: { spec: { containers: [{ name: 'b', image: 'example.com/b:2' }] } } } }, (b) => b.spec.template.spec.containers),
  onDeployment('list-null', 'null removes a list: here the containers are required', {}, { spec: { template: { spec: { containers: null } } } }, (b) => b),
  onDeployment('list-empty', 'an empty list stays an empty list: here the containers are required', {}, { spec: { template: { spec: { containers: [] } } } }, (b) => b),
  onDeployment('list-of-null', 'null inside a list stays an item', { containers: [box('a', { args: ['x'] })] }, { spec: { template: { spec: { containers: [{ name: 'a', image: 'i', args: ['x', null, 'y'] }] } } } }, (b) => b.spec.template.spec.containers),
  onDeployment('null-inside-list-item', 'null members of objects in a list mean absent', {}, { spec: { template: { spec: { containers: [{ name: 'web', image: 'i', args: null, env: [{ name: 'A', value: null }] }] } } } }, (b) => b.spec.template.spec.containers),
  onDeployment('defaults-again', 'a field removed by null gets its default again', {}, { spec: { replicas: null, revisionHistoryLimit: null, strategy: null } }, (b) => b.spec),
  onDeployment('int-or-string', 'an int-or-string field changes its type', {}, { spec: { strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: '10%' } } } }, (b) => b.spec.strategy),
  onDeployment('union-not-cleared', 'the type of a strategy is changed but its old settings stay: 422', {}, { spec: { strategy: { type: 'Recreate' } } }, (b) => b),
  onDeployment('quantity', 'a quantity is written in its canonical form', {}, { spec: { template: { spec: { containers: [box('web', { resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } } })] } } } }, (b) => b.spec.template.spec.containers[0].resources),
];

const objects = [
  scenario('patch-merge-no-effect', { section: '4.7', about: 'a patch that changes nothing keeps the resourceVersion' }, [POST(CM, cm('c', { a: '1' })), mp(`${CM}/c`, { data: { a: '1' } }), GET(`${CM}/c`)]),
  scenario('patch-merge-no-effect-other-manager', { section: '3.2', about: 'a patch that changes nothing gives its manager no ownership' }, [POST(CM, cm('c', { a: '1' })), mp(`${CM}/c`, { data: { a: '1' } }, { query: { fieldManager: 'other' } })]),
  scenario('patch-merge-missing-object', { section: '4.7', about: 'a patch of an absent object is 404 and creates nothing' }, [mp(`${CM}/none`, cm('none', { a: '1' })), GET(`${CM}/none`)]),
  scenario('patch-merge-name-mismatch', { section: '4.7', about: 'a patch that changes the name is 400' }, [made, mp(`${CM}/c`, { metadata: { name: 'other' } })]),
  scenario('patch-merge-namespace-mismatch', { section: '4.7', about: 'a patch that changes the namespace is 400' }, [made, mp(`${CM}/c`, { metadata: { namespace: 'other' } })]),
  scenario('patch-merge-name-same', { section: '4.7', about: 'a patch may repeat name, namespace, kind and apiVersion' }, [made, mp(`${CM}/c`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: '$ns' }, data: { c: '3' } })]),
  scenario('patch-merge-kind-mismatch', { section: '4.7', about: 'a patch that changes the kind is 422' }, [made, mp(`${CM}/c`, { kind: 'Pod' })]),
  scenario('patch-merge-api-version-mismatch', { section: '4.7', about: 'a patch that changes the apiVersion is 422' }, [made, mp(`${CM}/c`, { apiVersion: 'v2' })]),
  scenario('patch-merge-uid-mismatch', { section: '4.7', about: 'a patch with another uid is 422' }, [made, mp(`${CM}/c`, { metadata: { uid: '11111111-2222-3333-4444-555555555555' } })]),
  scenario('patch-merge-resource-version-current', { section: '4.7', about: 'a patch with the current resourceVersion is accepted' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }), mp(`${CM}/c`, { metadata: { resourceVersion: '${c.metadata.resourceVersion}' }, data: { b: '2' } }),
  ]),
  scenario('patch-merge-resource-version-stale', { section: '4.7', about: 'a patch with a stale resourceVersion is 409' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }), mp(`${CM}/c`, { data: { b: '2' } }),
    mp(`${CM}/c`, { metadata: { resourceVersion: '${c.metadata.resourceVersion}' }, data: { c: '3' } }),
  ]),
  scenario('patch-merge-resource-version-stale-no-change', { section: '4.7', about: 'a stale resourceVersion is 409 even when nothing would change' }, [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }), mp(`${CM}/c`, { data: { b: '2' } }),
    mp(`${CM}/c`, { metadata: { resourceVersion: '${c.metadata.resourceVersion}' } }),
  ]),
  scenario('patch-merge-resource-version-zero', { section: '4.7', about: 'resourceVersion 0 or empty is no precondition' }, [made, mp(`${CM}/c`, { metadata: { resourceVersion: '0' }, data: { c: '3' } }), mp(`${CM}/c`, { metadata: { resourceVersion: '' }, data: { d: '4' } })]),
  scenario('patch-merge-immutable-field', { section: '4.7', about: 'a change of an immutable field is 422' }, [POST(DEP, deployment('d'), { compare: 'status' }), mp(`${DEP}/d`, { spec: { selector: { matchLabels: { app: 'other' } }, template: { metadata: { labels: { app: 'other' } } } } })]),
  scenario('patch-merge-secret-string-data', { section: '4.7', about: 'stringData in a patch goes into data' }, [
    POST(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'MQ==' } }, { compare: 'status' }),
    mp(`${SECRET}/s`, { stringData: { a: 'two', b: 'three' } }),
  ]),
  scenario('patch-merge-service-ports', { section: '4.7', about: 'ports of a service are replaced as a whole' }, [
    POST(SVC, service('s', { ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] }), { compare: 'status' }),
    mp(`${SVC}/s`, { spec: { ports: [{ name: 'b', port: 82 }] } }),
  ]),
  scenario('patch-merge-on-status', { section: '4.7', about: 'a patch of /status ignores the spec and keeps metadata changes' }, [
    POST(POD, pod('p'), { compare: 'status' }),
    mp(`${POD}/p/status`, { metadata: { labels: { l: 'v' } }, spec: { nodeName: 'n' }, status: { phase: 'Running', reason: 'R' } }),
  ]),
  scenario('patch-merge-status-through-main', { section: '4.7', about: 'a patch of the main resource ignores the status' }, [POST(POD, pod('p'), { compare: 'status' }), mp(`${POD}/p`, { status: { reason: 'R' } })]),
  scenario('patch-merge-on-scale', { section: '4.7', about: 'a patch of /scale changes the replicas' }, [POST(DEP, deployment('d', { replicas: 1 }), { compare: 'status' }), mp(`${DEP}/d/scale`, { spec: { replicas: 2 } }), mp(`${DEP}/d/scale`, { spec: { replicas: -1 } })]),
  scenario('patch-merge-finalizers', { section: '4.7', about: 'finalizers are a list and replaced as a whole' }, [
    POST(CM, cm('c', {}, { finalizers: ['example.com/a', 'example.com/b'] }), { compare: 'status' }),
    mp(`${CM}/c`, { metadata: { finalizers: ['example.com/c'] } }), mp(`${CM}/c`, { metadata: { finalizers: null } }),
  ]),
  scenario('patch-merge-owner-references-duplicate', { section: '4.7', about: 'duplicate owner references are removed with a warning' }, [
    made, mp(`${CM}/c`, { metadata: { ownerReferences: [1, 2].map(() => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-2222-3333-4444-555555555555' })) } }, { compareHeaders: ['warning'] }),
    mp(`${CM}/c`, { metadata: { finalizers: [] , ownerReferences: [] } }),
  ]),
  scenario('patch-merge-managed-fields-ignored-garbage', { section: '2.3', about: 'a managedFields list that does not decode is ignored: the stored one stays' }, [
    made, mp(`${CM}/c`, { metadata: { managedFields: [{ manager: 'x', operation: 'Bogus', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }] }, data: { c: '3' } }),
  ]),
];

export default [...maps, ...documents, ...validation, ...lists, ...objects];
