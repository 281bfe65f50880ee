// Server-side apply: associative lists (one key, two keys, defaulted keys), sets, atomic lists and structs, the order of items.
import { scenario, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { CM, DEP, POD, SVC, cm, deployment, pod, box, service, owners } from './kit/apply.mjs';

const one = (id, about, steps) => scenario(`apply-lists-${id}`, { section: '2.9', about }, steps);
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
const failed = (b) => b.kind === 'Status' && b.status === 'Failure';
/** Of a deployment: the entries of managedFields and the part of the pod template that the scenario is about. */
const see = (get) => ({ pick: (b) => (failed(b) ? b : { managedFields: b.metadata.managedFields, seen: get(b.spec.template.spec) ?? null }) });
const containers = see((t) => t.containers);
const dep = (podSpec) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { template: { spec: podSpec } } });
const base = (...boxes) => deployment('d', {}, { containers: boxes });
const apply = (manager, podSpec, get, o) => APPLY(`${DEP}/d`, manager, dep(podSpec), { ...see(get), ...o });
const status = { pick: (b) => (failed(b) ? b : { managedFields: b.metadata.managedFields, seen: b.status }) };
const names = (l) => l?.map((x) => x.name);

const maps = [
  one('item-added-by-other', 'a second manager adds an item', [APPLY(`${DEP}/d`, 'm1', base(box('a')), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [box('b')] }), containers)]),
  one('item-removed', 'an item that its only owner leaves out is removed', [APPLY(`${DEP}/d`, 'm', base(box('a'), box('b')), quiet), APPLY(`${DEP}/d`, 'm', base(box('a')), containers)]),
  one('item-shared-stays', 'an item of two managers stays when one leaves it out; fields of the leaver go', [
    APPLY(`${DEP}/d`, 'm1', base(box('a'), box('b', { args: ['x'] })), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'b', image: 'example.com/web:1' }] }), quiet), APPLY(`${DEP}/d`, 'm1', base(box('a')), containers),
  ]),
  one('item-field-of-other', 'a field in an item of another manager is added and given up again', [
    APPLY(`${DEP}/d`, 'm1', base(box('a')), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', stdin: true }] }), containers), APPLY(`${DEP}/d`, 'm2', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }, containers),
  ]),
  one('item-owner-leaves-field-owner-stays', 'the owner of an item leaves it out while another manager owns one of its fields: the item stays without its image: 422', [
    APPLY(`${DEP}/d`, 'm1', base(box('a'), box('b')), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'b', stdin: true }] }), quiet), APPLY(`${DEP}/d`, 'm1', base(box('a')), containers),
  ]),
  one('item-of-update-stays', 'items of an Update manager stay when an applier adds and removes its own', [
    POST(DEP, base(box('u')), by('u', quiet)), APPLY(`${DEP}/d`, 'm', dep({ containers: [box('a')] }), containers), APPLY(`${DEP}/d`, 'm', dep({ containers: [] }), containers),
  ]),
  one('item-removed-by-update', 'an update that removes an item of an applier removes it from its entry', [APPLY(`${DEP}/d`, 'm', base(box('a'), box('b')), quiet), PATCH(`${DEP}/d`, 'strategic', dep({ containers: [{ $patch: 'delete', name: 'b' }] }), { ...containers, query: { fieldManager: 'u' } })]),
  one('item-replaced-by-put', 'a PUT with other items', [APPLY(`${DEP}/d`, 'm', base(box('a')), quiet), PUT(`${DEP}/d`, base(box('b')), { ...containers, query: { fieldManager: 'u' } })]),
  one('item-only-key', 'an item with nothing but its key', [APPLY(`${DEP}/d`, 'm1', base(box('a', { env: [{ name: 'A' }] })), containers), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a' }] }), containers)]),
  one('two-keys', 'container ports are told apart by port and protocol', [
    APPLY(`${DEP}/d`, 'm1', base(box('a', { ports: [{ containerPort: 53, protocol: 'TCP' }, { containerPort: 53, protocol: 'UDP' }] })), containers),
    APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }, { containerPort: 54, protocol: 'SCTP' }] }] }), containers),
  ]),
  one('defaulted-key', 'a key that is left out takes its default and is not owned itself', [
    APPLY(`${DEP}/d`, 'm1', base(box('a', { ports: [{ containerPort: 80 }] })), containers),
    APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', ports: [{ containerPort: 80, protocol: 'TCP', name: 'http' }] }] }), containers),
    APPLY(`${DEP}/d`, 'm1', base(box('a', { ports: [{ containerPort: 80, protocol: 'UDP' }] })), containers),
  ]),
  one('service-ports', 'ports of a service are told apart by port and protocol', [
    APPLY(`${SVC}/s`, 'm1', service('s', { selector: { a: 'b' }, ports: [{ port: 53, name: 'tcp' }, { port: 53, protocol: 'UDP', name: 'udp' }] })),
    APPLY(`${SVC}/s`, 'm2', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80, name: 'http' }] } }),
    APPLY(`${SVC}/s`, 'm1', service('s', { selector: { a: 'b' }, ports: [{ port: 53, protocol: 'UDP', name: 'udp' }] })),
  ]),
  one('env', 'environment variables of two managers', [
    APPLY(`${DEP}/d`, 'm1', base(box('a', { env: [{ name: 'A', value: '1' }, { name: 'B', value: '1' }] })), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', env: [{ name: 'C', value: '1' }, { name: 'B', value: '1' }] }] }), containers),
    APPLY(`${DEP}/d`, 'm1', base(box('a')), containers),
  ]),
  one('env-value-from', 'valueFrom of a variable: fieldRef and secretKeyRef are atomic', [
    APPLY(`${DEP}/d`, 'm', base(box('a', { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }, { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }, { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] })), containers),
  ]),
  one('env-duplicate-live', 'the same variable twice in the live object: the applier replaces both', [
    POST(DEP, base(box('a', { env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }, { name: 'B', value: '1' }] })), by('u', { ...containers })),
    APPLY(`${DEP}/d`, 'm', dep({ containers: [{ name: 'a', env: [{ name: 'A', value: '3' }] }] }), containers),
    APPLY(`${DEP}/d`, 'm', dep({ containers: [{ name: 'a', env: [{ name: 'A', value: '3' }] }] }), { ...containers, force: true }),
  ]),
  one('env-duplicate-live-untouched', 'the same variable twice in the live object, not applied: both stay', [
    POST(DEP, base(box('a', { env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] })), by('u', quiet)), APPLY(`${DEP}/d`, 'm', dep({ containers: [{ name: 'a', env: [{ name: 'B', value: '3' }] }] }), containers),
  ]),
  one('volumes-and-mounts', 'volumes by name, mounts by path', [
    APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { volumes: [{ name: 'v', emptyDir: {} }], containers: [box('a', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })] }), see((t) => [t.volumes, t.containers[0].volumeMounts])),
    APPLY(`${DEP}/d`, 'm2', dep({ volumes: [{ name: 'w', configMap: { name: 'c', items: [{ key: 'k', path: 'p' }] } }], containers: [{ name: 'a', volumeMounts: [{ name: 'w', mountPath: '/w' }, { name: 'v', mountPath: '/v' }] }] }), see((t) => [t.volumes, t.containers[0].volumeMounts])),
  ]),
  one('init-containers', 'init containers by name', [APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { initContainers: [box('i')] }), see((t) => t.initContainers)), apply('m2', { initContainers: [box('j')] }, (t) => names(t.initContainers))]),
  one('image-pull-secrets', 'image pull secrets by name, items atomic', [APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { imagePullSecrets: [{ name: 'a' }] }), see((t) => t.imagePullSecrets)), apply('m2', { imagePullSecrets: [{ name: 'b' }] }, (t) => t.imagePullSecrets)]),
  one('host-aliases', 'host aliases by ip', [APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { hostAliases: [{ ip: '10.1.1.1', hostnames: ['a', 'b'] }] }), see((t) => t.hostAliases)), apply('m2', { hostAliases: [{ ip: '10.1.1.1', hostnames: ['b'] }] }, (t) => t.hostAliases), apply('m2', { hostAliases: [{ ip: '10.1.1.2', hostnames: ['b'] }] }, (t) => t.hostAliases)]),
  one('topology-spread', 'topology spread constraints by key and reaction', [
    APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }), see((t) => t.topologySpreadConstraints)),
    apply('m2', { topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' }] }, (t) => t.topologySpreadConstraints),
  ]),
  one('conditions', 'conditions of a pod by type', [
    POST(POD, pod('p'), by('u', quiet)),
    APPLY(`${POD}/p/status`, 'm1', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { conditions: [{ type: 'Own', status: 'True' }] } }, status),
    APPLY(`${POD}/p/status`, 'm2', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: { conditions: [{ type: 'Other', status: 'True' }] } }, status),
    APPLY(`${POD}/p/status`, 'm1', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, status: {} }, status),
  ]),
];

const order = [
  ['same', ['a', 'b', 'c'], ['c', 'a', 'b'], 'the applied order counts for items that both have'],
  ['new-first', ['a', 'b'], ['n', 'a'], 'a new item in front'],
  ['new-last', ['a', 'b'], ['a', 'n'], 'a new item behind one that exists'],
  ['new-between', ['a', 'b'], ['a', 'n', 'b'], 'a new item between two'],
  ['new-only', ['a', 'b'], ['n', 'o'], 'new items alone'],
  ['partial-reversed', ['a', 'b', 'c', 'd'], ['d', 'b'], 'two of four items in reverse order'],
  ['interleaved', ['a', 'b', 'c', 'd'], ['c', 'n', 'a', 'o'], 'old and new items mixed'],
  ['swap-ends', ['a', 'b', 'c'], ['c', 'a'], 'the ends swapped'],
  ['middle-only', ['a', 'b', 'c'], ['b'], 'only the middle item'],
  ['last-then-new-then-first', ['a', 'b', 'c'], ['c', 'n', 'a'], 'the last, a new one, the first'],
].flatMap(([id, live, applied, about]) => [
  one(`order-map-${id}`, `order of an associative list: ${about}`, [POST(DEP, base(...live.map((n) => box(n))), by('u', quiet)), APPLY(`${DEP}/d`, 'm', dep({ containers: applied.map((n) => box(n)) }), { pick: (b) => (failed(b) ? b : names(b.spec.template.spec.containers)) })]),
  one(`order-set-${id}`, `order of a set: ${about}`, [
    POST(CM, cm('c', undefined, { finalizers: live.map((n) => `x.io/${n}`) }), by('u', quiet)),
    APPLY(`${CM}/c`, 'm', cm('c', undefined, { finalizers: applied.map((n) => `x.io/${n}`) }), { pick: (b) => (failed(b) ? b : b.metadata.finalizers) }),
    PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }, quiet),
  ]),
]);

const free = PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }, quiet);
const fin = (...names) => cm('c', undefined, { finalizers: names.map((n) => `x.io/${n}`) });
const sets = [
  one('set-shared', 'values of a set belong to those who apply them', [APPLY(`${CM}/c`, 'm1', fin('a', 'b')), APPLY(`${CM}/c`, 'm2', fin('b', 'c')), APPLY(`${CM}/c`, 'm1', fin('a')), APPLY(`${CM}/c`, 'm2', fin()), free]),
  one('set-of-update', 'values of an Update manager stay when the applier gives up its own', [POST(CM, fin('u', 'v'), by('u', quiet)), APPLY(`${CM}/c`, 'm', fin('v', 'w')), APPLY(`${CM}/c`, 'm', fin('w')), APPLY(`${CM}/c`, 'm', cm('c')), free]),
  one('set-empty', 'an empty set owns nothing', [APPLY(`${CM}/c`, 'm', fin()), APPLY(`${CM}/c`, 'm', { ...fin(), metadata: { name: 'c', finalizers: null } })]),
  one('set-duplicate-live', 'a value twice in the live set', [POST(CM, fin('a', 'a', 'b'), by('u')), APPLY(`${CM}/c`, 'm', fin('a', 'c')), free]),
  one('set-removed-by-update', 'an update that removes a value of an applier', [APPLY(`${CM}/c`, 'm', fin('a', 'b'), quiet), PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: ['x.io/b', 'x.io/c'] } }, by('u')), free]),
  one('set-reordered-by-update', 'an update that only reorders a set changes the object and no owner', [APPLY(`${CM}/c`, 'm', fin('a', 'b')), PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: ['x.io/b', 'x.io/a'] } }, by('u')), free]),
  one('atomic-external-ips', 'external IPs of a service are an atomic list', [POST(SVC, service('s', { selector: { a: 'b' }, ports: [{ port: 80 }], externalIPs: ['10.9.9.9', '10.9.9.8'] }), by('u', { pick: owners }))]),
];

const atomic = [
  one('atomic-list', 'args belong as a whole to the one who set them last', [
    APPLY(`${DEP}/d`, 'm1', base(box('a', { args: ['x', 'y'] })), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', args: ['x', 'y'] }] }), containers),
    APPLY(`${DEP}/d`, 'm1', base(box('a', { args: ['x'] })), containers), APPLY(`${DEP}/d`, 'm1', base(box('a')), containers), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a' }] }), containers),
  ]),
  one('atomic-list-reordered', 'another order of an atomic list is another value', [APPLY(`${DEP}/d`, 'm1', base(box('a', { args: ['x', 'y'] })), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', args: ['y', 'x'] }] }), containers)]),
  one('atomic-list-updated', 'an update of one item of an atomic list takes the list', [APPLY(`${DEP}/d`, 'm', base(box('a', { args: ['x', 'y'] })), quiet), PATCH(`${DEP}/d`, 'json-patch', [{ op: 'replace', path: '/spec/template/spec/containers/0/args/1', value: 'z' }], { ...containers, query: { fieldManager: 'u' } })]),
  one('atomic-map', 'the node selector belongs as a whole', [
    APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { nodeSelector: { a: '1' } }), see((t) => t.nodeSelector)), apply('m2', { nodeSelector: { b: '1' } }, (t) => t.nodeSelector), apply('m2', { nodeSelector: { b: '1' } }, (t) => t.nodeSelector, { force: true }), APPLY(`${DEP}/d`, 'm1', deployment('d'), see((t) => t.nodeSelector)),
  ]),
  one('atomic-map-other-manager-gives-up', 'the owner of an atomic map leaves it out: it goes as a whole', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { nodeSelector: { a: '1', b: '2' } }), quiet), APPLY(`${DEP}/d`, 'm', deployment('d'), see((t) => t.nodeSelector))]),
  one('tolerations', 'tolerations belong as a whole', [APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { tolerations: [{ key: 'a', operator: 'Exists' }] }), see((t) => t.tolerations)), apply('m2', { tolerations: [{ key: 'b', operator: 'Exists' }] }, (t) => t.tolerations), apply('m2', { tolerations: [{ key: 'b', operator: 'Exists' }] }, (t) => t.tolerations, { force: true })]),
  one('selector', 'the selector of a deployment is atomic, that of a service too', [
    APPLY(`${DEP}/d`, 'm', deployment('d', { selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'app', operator: 'Exists' }] } }), see((t) => names(t.containers))),
    APPLY(`${SVC}/s`, 'm', service('s', { selector: { a: 'b', c: 'd' }, ports: [{ port: 80 }] }), { pick: owners }),
  ]),
  one('local-object-reference', 'references to objects are atomic structs', [APPLY(`${DEP}/d`, 'm', deployment('d', {}, { volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }, { name: 'p', projected: { sources: [{ secret: { name: 's' } }] } }], containers: [box('a', { envFrom: [{ secretRef: { name: 's' } }] })] }), see((t) => [t.volumes, t.containers[0].envFrom]))]),
  one('granular-structs', 'security contexts, probes and affinity are granular', [
    APPLY(`${DEP}/d`, 'm1', deployment('d', {}, { securityContext: { runAsUser: 1, fsGroup: 2, supplementalGroups: [1, 2] }, containers: [box('a', { livenessProbe: { httpGet: { path: '/', port: 80 }, periodSeconds: 5 }, securityContext: { capabilities: { add: ['A'], drop: ['ALL'] } }, lifecycle: { preStop: { exec: { command: ['x'] } } } })] }), see((t) => t.securityContext)),
    apply('m2', { securityContext: { runAsGroup: 3 }, affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: { topologyKey: 'h' } }] } }, containers: [{ name: 'a', livenessProbe: { timeoutSeconds: 3 } }] }, (t) => t.containers[0].livenessProbe),
  ]),
  one('resources', 'limits and requests are granular maps', [
    APPLY(`${DEP}/d`, 'm1', base(box('a', { resources: { limits: { cpu: '1', memory: '1Gi' } } })), quiet), APPLY(`${DEP}/d`, 'm2', dep({ containers: [{ name: 'a', resources: { limits: { 'example.com/gpu': '1' }, requests: { cpu: '1' } } }] }), containers), APPLY(`${DEP}/d`, 'm1', base(box('a', { resources: { limits: { cpu: '1' } } })), containers),
  ]),
];

export default [...maps, ...order, ...sets, ...atomic];
