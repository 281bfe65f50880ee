// Strategic merge patch: lists with a merge key, directives ($patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList).
import { scenario, GET, POST, PATCH } from '../steps.ts';
import { CM, POD, DEP, SVC, SECRET, cm, pod, deployment, service, box, widgets, widget, withWidgets, WIDGETS } from './kit/apply.mjs';

const sm = (path, body, o) => PATCH(path, 'strategic', body, o);
const about = (text) => ({ section: '4.7', about: text });
/** The message ends in a dump of the two pod specs in Go syntax, spaced at random. */
const withoutDump = (b) => ({ ...b, message: b.message.split('\n')[0], details: { ...b.details, causes: b.details.causes.map((c) => ({ ...c, message: c.message.split('\n')[0] })) } });
const template = (spec) => ({ spec: { template: { spec } } });
const orStatus = (pick) => (b) => (b.kind === 'Status' ? b : pick(b));
const containers = orStatus((b) => b.spec.template.spec.containers);
const first = orStatus((b) => b.spec.template.spec.containers[0]);
const podSpec = orStatus((b) => b.spec.template.spec);

/** Creates a deployment with that pod spec and patches its pod template. */
const onTemplate = (id, text, before, patch, pick = podSpec) => scenario(`patch-strategic-${id}`, about(text), [
  POST(DEP, deployment('d', {}, before), { compare: 'status' }), sm(`${DEP}/d`, template(patch), { pick }),
]);
const onContainer = (id, text, before, patch) => onTemplate(id, text, { containers: [box('web', before)] }, { containers: [{ name: 'web', ...patch }] }, first);
const made = POST(CM, cm('c', { a: '1', b: '2' }, { labels: { x: 'y' } }), { compare: 'status' });
const onMap = (id, text, ...patches) => scenario(`patch-strategic-${id}`, about(text), [made, ...patches.map((p) => sm(`${CM}/c`, p, { compareHeaders: ['warning'] }))]);

const two = { containers: [box('a'), box('b')] };
const lists = [
  onTemplate('containers-by-name', 'containers merge by name: one is changed, the other stays', two, { containers: [{ name: 'b', image: 'example.com/b:2' }] }, containers),
  onTemplate('containers-added', 'a container with a new name goes in front of the ones that exist', two, { containers: [box('c')] }, containers),
  onTemplate('containers-several-added', 'new and known containers stand in the order of the patch, the untouched ones behind', two, { containers: [box('z'), { name: 'a', image: 'example.com/a:2' }, box('c')] }, containers),
  onTemplate('init-containers', 'init containers merge by name', { initContainers: [box('i')] }, { initContainers: [{ name: 'i', args: ['x'] }, box('j')] }, orStatus((b) => b.spec.template.spec.initContainers)),
  onContainer('ports-by-container-port', 'container ports merge by containerPort alone, whatever the protocol', { ports: [{ containerPort: 80, name: 'http' }, { containerPort: 81 }] }, { ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 82 }] }),
  onContainer('env-by-name', 'environment variables merge by name', { env: [{ name: 'A', value: '1' }, { name: 'B', value: '2' }] }, { env: [{ name: 'B', value: 'new' }, { name: 'C', value: '3' }] }),
  onContainer('env-value-to-value-from', 'a variable that gets valueFrom must lose its value by null', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', value: null, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
  onContainer('env-value-and-value-from', 'a variable that gets valueFrom and keeps its value is 422', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
  onContainer('env-from-atomic', 'envFrom has no merge key and is replaced', { envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: { name: 's' } }] }, { envFrom: [{ configMapRef: { name: 'b' } }] }),
  onTemplate('volume-mounts-by-path', 'volume mounts merge by mountPath', { volumes: [{ name: 'v', emptyDir: {} }], containers: [box('web', { volumeMounts: [{ name: 'v', mountPath: '/a' }, { name: 'v', mountPath: '/b' }] })] }, { containers: [{ name: 'web', volumeMounts: [{ mountPath: '/b', readOnly: true }, { mountPath: '/c', name: 'v' }] }] }, first),
  onContainer('args-replaced', 'args have no merge key and are replaced', { args: ['a', 'b'] }, { args: ['c'] }),
  onContainer('resources-merged', 'limits and requests merge key by key', { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } }, { resources: { limits: { cpu: '2' }, requests: null } }),
  onContainer('capabilities', 'capabilities add and drop are replaced', { securityContext: { capabilities: { add: ['A', 'B'], drop: ['C'] } } }, { securityContext: { capabilities: { add: ['D'] } } }),
  onTemplate('volumes-by-name', 'volumes merge by name, and a new one is added', { volumes: [{ name: 'v', configMap: { name: 'c' } }] }, { volumes: [{ name: 'v', configMap: { optional: true } }, { name: 'w', emptyDir: {} }] }, orStatus((b) => b.spec.template.spec.volumes)),
  onTemplate('volume-source-changed', 'a volume that gets another source and no $retainKeys is 422', { volumes: [{ name: 'v', emptyDir: {} }] }, { volumes: [{ name: 'v', hostPath: { path: '/x' } }] }),
  onTemplate('tolerations-replaced', 'tolerations have no merge key and are replaced', { tolerations: [{ key: 'a', operator: 'Exists' }, { key: 'b', operator: 'Exists' }] }, { tolerations: [{ key: 'c', operator: 'Exists' }] }, orStatus((b) => b.spec.template.spec.tolerations)),
  onTemplate('node-selector', 'the node selector merges key by key', { nodeSelector: { a: '1', b: '2' } }, { nodeSelector: { a: null, c: '3' } }, orStatus((b) => b.spec.template.spec.nodeSelector)),
  onTemplate('image-pull-secrets', 'image pull secrets merge by name', { imagePullSecrets: [{ name: 'a' }] }, { imagePullSecrets: [{ name: 'b' }] }, orStatus((b) => b.spec.template.spec.imagePullSecrets)),
  onTemplate('host-aliases', 'host aliases merge by ip', { hostAliases: [{ ip: '10.1.1.1', hostnames: ['a'] }] }, { hostAliases: [{ ip: '10.1.1.1', hostnames: ['b'] }, { ip: '10.1.1.2', hostnames: ['c'] }] }, orStatus((b) => b.spec.template.spec.hostAliases)),
  onTemplate('topology-spread', 'topology spread constraints merge by topologyKey', { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }, { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2 }, { topologyKey: 'host', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }] }, orStatus((b) => b.spec.template.spec.topologySpreadConstraints)),
  onTemplate('list-null', 'null removes a list', { volumes: [{ name: 'v', emptyDir: {} }], nodeSelector: { a: 'b' } }, { volumes: null, nodeSelector: null }),
  onTemplate('list-empty', 'an empty list changes nothing in a list with a merge key', { volumes: [{ name: 'v', emptyDir: {} }] }, { volumes: [] }),
  onContainer('list-empty-atomic', 'an empty list empties a list without merge key', { args: ['a'] }, { args: [] }),
  onContainer('duplicate-key-in-patch', 'two items of the patch with the same key: the last one counts', { env: [{ name: 'A', value: '1' }] }, { env: [{ name: 'A', value: '2' }, { name: 'A', value: '3' }] }),
  scenario('patch-strategic-service-ports', about('ports of a service merge by port'), [
    POST(SVC, service('s', { selector: { a: 'b' }, ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] }), { compare: 'status' }),
    sm(`${SVC}/s`, { spec: { ports: [{ port: 81, targetPort: 'web' }, { name: 'c', port: 82 }] } }),
  ]),
  scenario('patch-strategic-int-or-string', about('an int-or-string field changes its type'), [
    POST(DEP, deployment('d'), { compare: 'status' }),
    sm(`${DEP}/d`, { spec: { strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: '10%' } } } }, { pick: orStatus((b) => b.spec.strategy) }),
  ]),
  scenario('patch-strategic-conditions', about('conditions in the status of a pod merge by type'), [
    POST(POD, pod('p'), { compare: 'status' }),
    sm(`${POD}/p/status`, { status: { conditions: [{ type: 'Ready', status: 'False' }, { type: 'Own', status: 'True' }] } }, { pick: orStatus((b) => b.status) }),
    sm(`${POD}/p/status`, { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Now' }] } }, { pick: orStatus((b) => b.status) }),
    sm(`${POD}/p/status`, { status: { conditions: [{ $patch: 'delete', type: 'Own' }] } }, { pick: orStatus((b) => b.status) }),
  ]),
];

const maps = [
  onMap('adds-key', 'a map merges key by key', { data: { c: '3' } }),
  onMap('null-removes-key', 'null removes a key and an absent one is ignored', { data: { a: null, zz: null } }),
  onMap('null-removes-map', 'null removes a map', { data: null }),
  onMap('empty', 'an empty patch changes nothing', {}),
  onMap('null-in-new-map', 'null entries of a map that is new are left out', { metadata: { annotations: { a: 'x', b: null } } }),
  onMap('wrong-type', 'a map replaced by a string is 422 and quotes the patch, not the object', { data: 'x' }),
  onMap('number-for-string', 'a number in a map of strings is 422', { data: { a: 1 } }),
  onMap('map-for-string', 'a map in a map of strings is 422', { data: { a: { b: 'c' } } }),
  onMap('list-for-map', 'a list for a map is 422', { data: ['x'] }),
  onMap('name-mismatch', 'a patch that changes the name is 400', { metadata: { name: 'other' } }),
  onMap('namespace-mismatch', 'a patch that changes the namespace is 400', { metadata: { namespace: 'other' } }),
  onMap('kind-mismatch', 'a patch that changes the kind is accepted and the kind ignored', { kind: 'Pod' }),
  onMap('api-version-mismatch', 'a patch that changes the apiVersion is accepted and the apiVersion ignored', { apiVersion: 'v2' }),
  onMap('uid-mismatch', 'a patch that changes the uid is 422', { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }),
  onMap('unknown-field', 'an unknown field warns', { nope: { deep: 1 }, data: { c: '3' } }),
  onMap('case-of-field', 'field names are case sensitive', { Data: { c: '3' } }),
];

const bodies = [
  ['not-json', 'a body that is not JSON is 400', '{"data":'],
  ['list', 'a body that is a list is 400', ['x']],
  ['string', 'a body that is a string is 400', '"x"'],
  ['null', 'a body that is null is an empty patch', 'null'],
  ['empty', 'an empty body is 400', ''],
  ['duplicate-key', 'a duplicate key warns', '{"data":{"c":"3","c":"4"}}'],
].map(([id, text, body]) => scenario(`patch-strategic-body-${id}`, about(text), [made, sm(`${CM}/c`, body, { compareHeaders: ['warning'] })]));

const validation = ['Strict', 'Warn', 'Ignore'].map((level) => scenario(`patch-strategic-field-validation-${level.toLowerCase()}`, { section: '4.9', about: `unknown and duplicate fields with fieldValidation=${level}` }, [
  POST(DEP, deployment('d'), { compare: 'status' }),
  sm(`${DEP}/d`, { spec: { nope: 1, template: { spec: { containers: [{ name: 'web', nix: true }] } } } }, { query: { fieldValidation: level }, compareHeaders: ['warning'], pick: orStatus((b) => b.spec) }),
  sm(`${DEP}/d`, '{"spec":{"replicas":2,"replicas":3}}', { query: { fieldValidation: level }, compareHeaders: ['warning'], pick: orStatus((b) => b.spec.replicas) }),
]));

const directives = [
  onTemplate('delete-item', '$patch: delete removes an item by its key', two, { containers: [{ $patch: 'delete', name: 'a' }] }, containers),
  onTemplate('delete-item-absent', '$patch: delete of an item that is absent changes nothing', two, { containers: [{ $patch: 'delete', name: 'zz' }] }, containers),
  onTemplate('delete-all-items', 'deleting every container is 422', {}, { containers: [{ $patch: 'delete', name: 'web' }] }, containers),
  onTemplate('delete-and-change', 'one item deleted, one changed, one added', two, { containers: [{ $patch: 'delete', name: 'a' }, { name: 'b', image: 'example.com/b:2' }, box('c')] }, containers),
  onTemplate('delete-without-key', '$patch: delete without the merge key is 500', two, { containers: [{ $patch: 'delete' }] }, containers),
  onTemplate('delete-with-more-fields', '$patch: delete only looks at the merge key', two, { containers: [{ $patch: 'delete', name: 'a', image: 'whatever' }] }, containers),
  onTemplate('replace-list', '$patch: replace in a list replaces the list by the other items', two, { containers: [{ $patch: 'replace' }, box('only')] }, containers),
  onTemplate('replace-list-first-or-last', '$patch: replace may stand anywhere in the list', two, { containers: [box('x'), box('y'), { $patch: 'replace' }] }, containers),
  onTemplate('replace-list-by-nothing', '$patch: replace alone empties a list', { volumes: [{ name: 'v', emptyDir: {} }] }, { volumes: [{ $patch: 'replace' }] }),
  onTemplate('replace-inside-item', '$patch: replace in an item with a key drops that item and replaces the list by the rest: here nothing', two, { containers: [{ $patch: 'replace', name: 'a', image: 'example.com/only:1' }] }, containers),
  onTemplate('merge-in-list', '$patch: merge in an item of a list is 500', two, { containers: [{ $patch: 'merge', name: 'a', image: 'x' }] }, containers),
  onTemplate('unknown-in-list', 'an unknown directive in an item of a list is 500', two, { containers: [{ $patch: 'bogus', name: 'a' }] }, containers),
  onTemplate('no-merge-key', 'an item without the merge key is 500', two, { containers: [{ image: 'x' }] }, containers),
  onTemplate('item-not-object', 'an item that is no object is 500', two, { containers: ['x'] }, containers),
  onTemplate('list-not-list', 'an object in place of a list is 422', two, { containers: { name: 'a' } }, containers),
  onTemplate('null-item', 'an item that is null is 500', two, { containers: [null] }, containers),
  onTemplate('merge-key-null', 'a merge key that is null makes an item without the key: 422', two, { containers: [{ name: null, image: 'x' }] }, containers),
  onMap('replace-map', '$patch: replace in a map replaces the map', { data: { $patch: 'replace', only: 'this' } }),
  onMap('delete-map', '$patch: delete in a map empties it', { data: { $patch: 'delete' } }),
  onMap('delete-map-with-keys', '$patch: delete in a map ignores the other keys of the patch', { data: { $patch: 'delete', a: 'x' } }),
  onMap('merge-map', '$patch: merge in a map is 500', { data: { $patch: 'merge', c: '3' } }),
  onMap('unknown-map', 'an unknown directive in a map is 500', { data: { $patch: 'bogus' } }),
  onMap('directive-not-string', 'a directive that is no string is 500', { data: { $patch: 1 } }),
  onMap('replace-root', '$patch: replace at the root replaces the object: name and kind are needed', { $patch: 'replace', apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { only: 'this' } }),
  onMap('replace-root-without-name', '$patch: replace at the root without a name is 400', { $patch: 'replace', data: { only: 'this' } }),
  onMap('delete-root', '$patch: delete at the root leaves no name: 400', { $patch: 'delete' }),
  onMap('replace-labels', '$patch: replace in the labels', { metadata: { labels: { $patch: 'replace', new: 'one' } } }),
];

const finalizers = (id, text, ...patches) => scenario(`patch-strategic-${id}`, about(text), [
  POST(CM, cm('c', {}, { finalizers: ['x.io/a', 'x.io/b', 'x.io/c'] }), { compare: 'status' }),
  ...patches.map((p) => sm(`${CM}/c`, { metadata: p }, { pick: orStatus((b) => b.metadata.finalizers ?? null) })),
  sm(`${CM}/c`, { metadata: { finalizers: null } }, { compare: 'status' }),
]);
const primitives = [
  finalizers('finalizers-merge', 'finalizers are a set: new ones are added, the ones there stay', { finalizers: ['x.io/d', 'x.io/a'] }),
  finalizers('finalizers-empty', 'an empty list changes nothing', { finalizers: [] }),
  finalizers('finalizers-delete', '$deleteFromPrimitiveList removes values', { '$deleteFromPrimitiveList/finalizers': ['x.io/b'] }),
  finalizers('finalizers-delete-absent', '$deleteFromPrimitiveList of an absent value changes nothing', { '$deleteFromPrimitiveList/finalizers': ['x.io/zz'] }),
  finalizers('finalizers-delete-and-add', 'values removed and added in one patch', { '$deleteFromPrimitiveList/finalizers': ['x.io/b'], finalizers: ['x.io/d'] }),
  finalizers('finalizers-delete-all', 'all values removed', { '$deleteFromPrimitiveList/finalizers': ['x.io/a', 'x.io/b', 'x.io/c'] }),
  finalizers('finalizers-order', '$setElementOrder orders the values', { '$setElementOrder/finalizers': ['x.io/c', 'x.io/a', 'x.io/b'] }),
  finalizers('finalizers-order-with-new', '$setElementOrder places a new value', { '$setElementOrder/finalizers': ['x.io/c', 'x.io/d', 'x.io/a', 'x.io/b'], finalizers: ['x.io/d'] }),
  finalizers('finalizers-order-partial', 'values that $setElementOrder does not name keep their relative place', { '$setElementOrder/finalizers': ['x.io/c', 'x.io/a'] }),
  finalizers('finalizers-order-mismatch', 'a value of the patch that the order does not name is 500', { '$setElementOrder/finalizers': ['x.io/a'], finalizers: ['x.io/d'] }),
  finalizers('finalizers-order-wrong', 'a patch list in another order than $setElementOrder is 500', { '$setElementOrder/finalizers': ['x.io/e', 'x.io/d'], finalizers: ['x.io/d', 'x.io/e'] }),
  finalizers('finalizers-delete-not-list', '$deleteFromPrimitiveList that is no list is ignored', { '$deleteFromPrimitiveList/finalizers': 'x.io/a' }),
  finalizers('finalizers-order-not-list', '$setElementOrder that is no list is 500', { '$setElementOrder/finalizers': 'x.io/a' }),
  finalizers('finalizers-delete-no-name', '$deleteFromPrimitiveList without a field name is 400', { $deleteFromPrimitiveList: ['x.io/a'] }),
  finalizers('finalizers-null', 'null removes all values', { finalizers: null }),
  finalizers('finalizers-duplicates-in-patch', 'duplicates in the patch are added once', { finalizers: ['x.io/d', 'x.io/d'] }),
];

const ordered = { containers: [box('a'), box('b'), box('c')] };
const order = [
  onTemplate('order-items', '$setElementOrder orders the items', ordered, { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }, { name: 'b' }] }, containers),
  onTemplate('order-items-with-new', '$setElementOrder places a new item', ordered, { '$setElementOrder/containers': [{ name: 'a' }, { name: 'n' }, { name: 'b' }, { name: 'c' }], containers: [box('n')] }, containers),
  onTemplate('order-items-partial', 'items that $setElementOrder does not name keep their place relative to the others', ordered, { '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }] }, containers),
  onTemplate('order-items-absent', '$setElementOrder may name items that do not exist', ordered, { '$setElementOrder/containers': [{ name: 'zz' }, { name: 'b' }, { name: 'a' }, { name: 'c' }] }, containers),
  onTemplate('order-items-with-delete', '$setElementOrder with an item deleted', ordered, { '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }], containers: [{ $patch: 'delete', name: 'b' }] }, containers),
  onTemplate('order-items-mismatch', 'an item of the patch that the order does not name is 500', ordered, { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b', image: 'x' }] }, containers),
  onTemplate('order-items-wrong', 'items of the patch in another order than $setElementOrder are 500', ordered, { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }], containers: [{ name: 'a', image: 'x' }, { name: 'b', image: 'y' }] }, containers),
  onTemplate('order-items-no-key', '$setElementOrder with an item that lacks the merge key is 500', ordered, { '$setElementOrder/containers': [{ image: 'x' }] }, containers),
  onTemplate('order-items-scalars', '$setElementOrder of a list of objects with scalars is 500', ordered, { '$setElementOrder/containers': ['a', 'b'] }, containers),
  onTemplate('order-unknown-list', '$setElementOrder for a field that does not exist is 500', ordered, { '$setElementOrder/nope': [{ name: 'a' }] }, containers),
];

const strategy = (id, text, patch) => scenario(`patch-strategic-${id}`, about(text), [POST(DEP, deployment('d'), { compare: 'status' }), sm(`${DEP}/d`, { spec: { strategy: patch } }, { pick: orStatus((b) => b.spec.strategy) })]);
const retain = [
  onTemplate('retain-keys-volume', '$retainKeys clears the other source of a volume', { volumes: [{ name: 'v', emptyDir: {} }] }, { volumes: [{ name: 'v', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/x' } }] }, orStatus((b) => b.spec.template.spec.volumes)),
  strategy('retain-keys-strategy', '$retainKeys clears the settings of the old strategy', { $retainKeys: ['type'], type: 'Recreate' }),
  strategy('retain-keys-keeps', '$retainKeys keeps the keys it names even when the patch does not set them', { $retainKeys: ['type', 'rollingUpdate'], type: 'RollingUpdate' }),
  strategy('retain-keys-mismatch', 'a key of the patch that $retainKeys does not name is 400', { $retainKeys: ['type'], type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }),
  strategy('retain-keys-not-list', '$retainKeys that is no list is 400', { $retainKeys: 'type', type: 'Recreate' }),
  strategy('retain-keys-not-strings', '$retainKeys with an item that is no string is 400', { $retainKeys: [1], type: 'Recreate' }),
  strategy('retain-keys-empty', '$retainKeys that is empty clears everything, and the defaults come back', { $retainKeys: [] }),
  onMap('retain-keys-plain-map', '$retainKeys in a plain map drops the keys it does not name', { data: { $retainKeys: ['a'], a: 'x' } }),
];

const unsupported = [
  scenario('patch-strategic-custom-resource', withWidgets('4.7', 'custom resources do not know strategic merge patch: 415'), [
    ...widgets({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    POST(WIDGETS, widget('w', { spec: { a: 1 } })), sm(`${WIDGETS}/w`, { spec: { a: 2 } }), PATCH(`${WIDGETS}/w`, 'merge', { spec: { a: 2 } }),
  ]),
  scenario('patch-strategic-missing-object', about('a patch of an absent object is 404'), [sm(`${CM}/none`, { data: {} })]),
  scenario('patch-strategic-resource-version', about('a stale resourceVersion is 409, the current one is accepted'), [
    POST(CM, cm('c', { a: '1' }), { id: 'c' }),
    sm(`${CM}/c`, { metadata: { resourceVersion: '${c.metadata.resourceVersion}' }, data: { b: '2' } }),
    sm(`${CM}/c`, { metadata: { resourceVersion: '${c.metadata.resourceVersion}' }, data: { b: '3' } }),
  ]),
  scenario('patch-strategic-no-effect', about('a patch that changes nothing keeps the resourceVersion'), [POST(CM, cm('c', { a: '1' })), sm(`${CM}/c`, { data: { a: '1' } }), GET(`${CM}/c`)]),
  scenario('patch-strategic-owner-references', about('owner references merge by uid'), [
    POST(CM, cm('c', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-2222-3333-4444-555555555555' }] }), { compare: 'status' }),
    sm(`${CM}/c`, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'q', uid: '11111111-2222-3333-4444-666666666666' }, { uid: '11111111-2222-3333-4444-555555555555', controller: true }] } }),
    sm(`${CM}/c`, { metadata: { ownerReferences: [{ $patch: 'delete', uid: '11111111-2222-3333-4444-555555555555' }] } }),
  ]),
  scenario('patch-strategic-secret', about('data and stringData of a secret'), [
    POST(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'MQ==' } }, { compare: 'status' }),
    sm(`${SECRET}/s`, { data: { a: null }, stringData: { b: 'two' } }), sm(`${SECRET}/s`, { data: { c: 'not base64!' } }),
  ]),
  scenario('patch-strategic-on-scale', about('/scale understands strategic merge patch'), [POST(DEP, deployment('d', { replicas: 1 }), { compare: 'status' }), sm(`${DEP}/d/scale`, { spec: { replicas: 2 } })]),
  scenario('patch-strategic-ephemeral-containers', about('ephemeral containers are added through their subresource'), [
    POST(POD, pod('p'), { compare: 'status' }),
    sm(`${POD}/p/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: 'debug', image: 'example.com/debug:1' }] } }),
    sm(`${POD}/p`, { spec: { ephemeralContainers: [{ name: 'two', image: 'example.com/debug:1' }] } }, { pick: withoutDump }),
  ]),
];

export default [...lists, ...maps, ...bodies, ...validation, ...directives, ...primitives, ...order, ...retain, ...unsupported];
