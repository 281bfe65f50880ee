// The other built-in plugins that are on by default, by what they do to objects; and some that are not on.
import { scenario, GET, POST, PUT, PATCH, DELETE, SLEEP } from '../steps.ts';
import { PODS, DEPLOYMENTS, CM, cm, pod, deployment, quiet, dry, only, REG } from './kit/admission.mjs';
import { personRequest, nodeRequest, mastersRequest } from './kit/csr.mjs';

const within = (id, about, steps, o = {}) => scenario(`admission-${id}`, { section: '7', about, ...o }, steps);
const either = (shown) => ({ pick: (b) => (b.kind === 'Status' ? b : shown(b)) });

// --- Priority ---
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const priorityClass = (name, value, more = {}) => POST(CLASSES, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, ...more }, quiet);
const priority = only('spec.priority', 'spec.priorityClassName', 'spec.preemptionPolicy');
/** A class that was just made is known a little later. */
const knownClass = (name) => ({ ...POST(PODS, pod('probe', { priorityClassName: name }), { ...dry, ...quiet, note: 'until the class is known' }), kind: 'poll', ms: 8000, until: (_, s) => s === 201 });
const withClass = (id, about, value, more, steps) => within(`priority-${id}`, about, [priorityClass('$ns-p', value, more), knownClass('$ns-p'), ...steps], { cleanup: [`${CLASSES}/$ns-p`] });
const named = { priorityClassName: '$ns-p' };
const priorities = [
  within('priority-none', 'no class: priority 0', [POST(PODS, pod(), priority)]),
  withClass('class', 'a class gives its value', 1000, {}, [POST(PODS, pod('a', named), priority)]),
  withClass('never', 'a class that does not preempt', 5, { preemptionPolicy: 'Never' }, [POST(PODS, pod('a', named), priority)]),
  withClass('negative', 'a class with a negative value', -10, {}, [POST(PODS, pod('a', named), priority)]),
  within('priority-unknown', 'a class that does not exist', [POST(PODS, pod('a', { priorityClassName: '$ns-nope' }))]),
  ...['system-cluster-critical', 'system-node-critical'].map((name) => within(`priority-${name}`, `the class ${name}, in any namespace`, [POST(PODS, pod('a', { priorityClassName: name }), priority)])),
  withClass('given-same', 'a priority that fits the class', 1000, {}, [POST(PODS, pod('a', { ...named, priority: 1000 }), priority)]),
  withClass('given-other', 'a priority that does not fit the class', 1000, {}, [POST(PODS, pod('a', { ...named, priority: 7 }))]),
  within('priority-given-alone', 'a priority without a class', [POST(PODS, pod('a', { priority: 7 })), POST(PODS, pod('b', { priority: 0 }), priority)]),
  withClass('preemption-same', 'a preemption policy that fits', 1, { preemptionPolicy: 'Never' }, [POST(PODS, pod('a', { ...named, preemptionPolicy: 'Never' }), priority)]),
  withClass('preemption-other', 'a preemption policy that does not fit', 1, {}, [POST(PODS, pod('a', { ...named, preemptionPolicy: 'Never' }))]),
  within('priority-preemption-alone', 'a preemption policy without a class', [POST(PODS, pod('a', { preemptionPolicy: 'Never' })), POST(PODS, pod('b', { preemptionPolicy: 'PreemptLowerPriority' }), priority)]),
  withClass('update', 'updates keep what was filled in', 1000, {}, [POST(PODS, pod('a', named), quiet), PATCH(`${PODS}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, priority), PATCH(`${PODS}/a`, 'merge', { spec: { priority: null, priorityClassName: '$ns-p' } }, priority)]),
  withClass('update-put', 'a PUT without the priority keeps it', 1000, {}, [POST(PODS, pod('a', named), { id: 'a', ...quiet }), PUT(`${PODS}/a`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { x: 'y' } }, spec: { ...pod('a', named).spec, tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }, { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }] } }, priority)]),
  withClass('class-deleted', 'a pod outlives its class', 1000, {}, [POST(PODS, pod('a', named), quiet), DELETE(`${CLASSES}/$ns-p`, undefined, quiet), SLEEP(700), PATCH(`${PODS}/a`, 'merge', { metadata: { labels: { a: 'b' } } }, priority), POST(PODS, pod('b', named))]),
  within('priority-workload', 'a workload is left alone', [POST(DEPLOYMENTS, deployment('d', { template: { metadata: { labels: { app: 'a' } }, spec: { priorityClassName: '$ns-nope', containers: [{ name: 'c', image: 'img' }] } } }), only('spec.template.spec.priority', 'spec.template.spec.priorityClassName'))]),
  within('priority-class-default-taken', 'the system classes cannot be imitated', [POST(CLASSES, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'system-$ns' }, value: 1 }, dry), POST(CLASSES, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-q' }, value: 2000000000 }, dry)]),
];

// --- DefaultTolerationSeconds ---
const tolerations = only('spec.tolerations');
const notReady = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable' };
const tolerationCases = [
  ['none', 'no tolerations: two are added', undefined],
  ['own', 'others are kept, in front', [{ key: 'k', operator: 'Exists' }]],
  ['not-ready', 'one for not-ready is there', [{ ...notReady, tolerationSeconds: 10 }]],
  ['unreachable', 'one for unreachable is there', [{ ...unreachable, tolerationSeconds: 10 }]],
  ['both', 'both are there', [notReady, unreachable]],
  ['other-effect', 'one for another effect does not count', [{ ...notReady, effect: 'NoSchedule' }]],
  ['any-effect', 'one without effect counts', [{ key: notReady.key, operator: 'Exists' }]],
  ['any-key', 'one for any key counts for both', [{ operator: 'Exists' }]],
  ['any-key-effect', 'one for any key but another effect does not', [{ operator: 'Exists', effect: 'NoSchedule' }]],
  ['value', 'one with a value counts', [{ key: notReady.key, operator: 'Equal', value: 'x', effect: 'NoExecute' }]],
].map(([id, about, list]) => within(`toleration-${id}`, `DefaultTolerationSeconds: ${about}`, [POST(PODS, pod('p', list ? { tolerations: list } : {}), tolerations)]));
const tolerationMore = [
  within('toleration-update', 'DefaultTolerationSeconds: an update adds them as well', [POST(PODS, pod(), quiet), PATCH(`${PODS}/p`, 'json-patch', [{ op: 'add', path: '/spec/tolerations/-', value: { key: 'k', operator: 'Exists' } }], tolerations), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, tolerations)]),
  within('toleration-put', 'DefaultTolerationSeconds: a PUT without tolerations', [POST(PODS, pod(), quiet), PUT(`${PODS}/p`, pod('p', {}, { labels: { a: 'b' } }), tolerations)]),
  within('toleration-managed', 'DefaultTolerationSeconds: what was added belongs to nobody', [POST(PODS, pod(), { pick: (b) => b.metadata?.managedFields?.map((m) => Object.keys(m.fieldsV1['f:spec'])) })]),
];

// --- RuntimeClass ---
const RUNTIMES = '/apis/node.k8s.io/v1/runtimeclasses';
const runtime = (more = {}) => POST(RUNTIMES, { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-r' }, handler: 'h', ...more }, quiet);
const withRuntime = (id, about, more, steps) => within(`runtime-${id}`, `RuntimeClass: ${about}`, [runtime(more), ...steps], { cleanup: [`${RUNTIMES}/$ns-r`] });
const run = { runtimeClassName: '$ns-r' };
const scheduled = only('spec.runtimeClassName', 'spec.overhead', 'spec.nodeSelector', 'spec.tolerations');
const runtimes = [
  withRuntime('plain', 'a plain class changes nothing', {}, [POST(PODS, pod('p', run), scheduled)]),
  withRuntime('overhead', 'the overhead is filled in', { overhead: { podFixed: { cpu: '100m', memory: '10Mi' } } }, [POST(PODS, pod('p', run), scheduled)]),
  withRuntime('overhead-same', 'an overhead that fits is accepted', { overhead: { podFixed: { cpu: '100m' } } }, [POST(PODS, pod('p', { ...run, overhead: { cpu: '0.1' } }), scheduled)]),
  withRuntime('overhead-other', 'one that does not is refused', { overhead: { podFixed: { cpu: '100m' } } }, [POST(PODS, pod('p', { ...run, overhead: { cpu: '200m' } }))]),
  withRuntime('overhead-none', 'an overhead for a class without', {}, [POST(PODS, pod('p', { ...run, overhead: { cpu: '200m' } }))]),
  within('runtime-overhead-no-class', 'RuntimeClass: an overhead without a class', [POST(PODS, pod('p', { overhead: { cpu: '200m' } }))]),
  within('runtime-missing', 'RuntimeClass: a class that does not exist', [POST(PODS, pod('p', { runtimeClassName: '$ns-nope' }))]),
  withRuntime('node-selector', 'the node selector is merged', { scheduling: { nodeSelector: { a: 'b' } } }, [POST(PODS, pod('p', { ...run, nodeSelector: { c: 'd' } }), scheduled), POST(PODS, pod('q', { ...run, nodeSelector: { a: 'b' } }), only('spec.nodeSelector'))]),
  withRuntime('node-selector-conflict', 'a node selector that conflicts', { scheduling: { nodeSelector: { a: 'b' } } }, [POST(PODS, pod('p', { ...run, nodeSelector: { a: 'c' } }))]),
  withRuntime('tolerations', 'tolerations are merged', { scheduling: { tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }] } }, [POST(PODS, pod('p', { ...run, tolerations: [{ key: 'mine', operator: 'Exists' }, { key: 'k', operator: 'Exists', effect: 'NoSchedule' }] }), scheduled)]),
  withRuntime('update', 'an update of the pod is not looked at', { overhead: { podFixed: { cpu: '100m' } } }, [POST(PODS, pod('p', run), quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'b' } } }, only('spec.overhead')), DELETE(`${RUNTIMES}/$ns-r`, undefined, quiet), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { a: 'c' } } }, quiet)]),
];

// --- storage ---
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims', VOLUMES = '/api/v1/persistentvolumes';
const claim = (name = 'v', spec = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, ...metadata }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } });
const volume = (metadata = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: '$ns-v', ...metadata }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } } });
const held = only('metadata.finalizers');
const storage = [
  within('storage-protection-claim', 'StorageObjectInUseProtection: a claim is held', [POST(CLAIMS, claim('a'), held), POST(CLAIMS, claim('b', {}, { finalizers: ['kubernetes.io/pvc-protection'] }), held), POST(CLAIMS, claim('c', {}, { finalizers: ['example.com/x'] }), held), PATCH(`${CLAIMS}/a`, 'merge', { metadata: { finalizers: null } }, held)]),
  within('storage-protection-volume', 'StorageObjectInUseProtection: a volume is held', [POST(VOLUMES, volume({ finalizers: ['example.com/x'] }), held), PATCH(`${VOLUMES}/$ns-v`, 'merge', { metadata: { finalizers: null } }, held)], { cleanup: [`${VOLUMES}/$ns-v`] }),
  within('storage-class-none', 'DefaultStorageClass: without a default class the claim stays without', [POST(CLAIMS, claim(), only('spec.storageClassName')), POST(CLAIMS, claim('w', { storageClassName: '' }), only('spec.storageClassName')), POST(CLAIMS, claim('x', { storageClassName: 'gold' }), only('spec.storageClassName'))]),
];

// --- DefaultIngressClass ---
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/$ns/ingresses';
const ingress = (spec = {}, metadata = {}) => ({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i', ...metadata }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec } });
const ingresses = [
  within('ingress-class-none', 'DefaultIngressClass: without a default class none is set', [POST(INGRESSES, ingress(), only('spec.ingressClassName')), POST(INGRESSES, ingress({}, { name: 'j', annotations: { 'kubernetes.io/ingress.class': 'x' } }), only('spec.ingressClassName', 'metadata.annotations'))]),
];

// --- nodes ---
const NODES = '/api/v1/nodes';
const node = (spec = {}, name = '$ns-n') => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec });
const taints = only('spec.taints');
const asNode = (name = '$ns-n') => ({ headers: { 'impersonate-user': `system:node:${name}`, 'impersonate-group': ['system:nodes'] } });
const nodes = [
  within('taint-new-node', 'TaintNodesByCondition: a new node is tainted', [POST(NODES, node(), taints)], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  within('taint-own', 'TaintNodesByCondition: beside its own taints', [POST(NODES, node({ taints: [{ key: 'k', effect: 'NoExecute' }] }), taints)], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  within('taint-there', 'TaintNodesByCondition: not twice', [POST(NODES, node({ taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }), taints)], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  within('taint-update', 'TaintNodesByCondition: an update may remove it', [POST(NODES, node(), quiet), PATCH(`${NODES}/$ns-n`, 'merge', { spec: { taints: null } }, taints)], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  within('node-restriction-off', 'NodeRestriction is not on by default: a node may change another node', [POST(NODES, node({}, '$ns-n'), quiet), POST(NODES, node({}, '$ns-m'), quiet), PATCH(`${NODES}/$ns-m`, 'merge', { metadata: { labels: { a: 'b' } } }, { ...asNode(), ...quiet }), PATCH(`${NODES}/$ns-m/status`, 'merge', { status: { phase: 'Running' } }, { ...asNode(), ...quiet })], { namespace: false, cleanup: [`${NODES}/$ns-n`, `${NODES}/$ns-m`] }),
];

// --- certificates ---
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const csr = (request, signerName, usages = ['client auth']) => POST(CSRS, { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-r' }, spec: { request, signerName, usages } }, either((b) => b.spec.signerName));
const certificates = [
  ...['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving', 'example.com/s'].map((signer) => within(`certificate-masters-${signer.split('/')[1]}`, `CertificateSubjectRestriction: system:masters from ${signer}`, [csr(mastersRequest, signer)], { namespace: false, cleanup: [`${CSRS}/$ns-r`] })),
  within('certificate-person', 'CertificateSubjectRestriction: others are fine', [csr(personRequest, 'kubernetes.io/kube-apiserver-client')], { namespace: false, cleanup: [`${CSRS}/$ns-r`] }),
  within('certificate-node', 'CertificateSubjectRestriction: nodes are fine', [csr(nodeRequest, 'kubernetes.io/kube-apiserver-client-kubelet', ['client auth', 'digital signature', 'key encipherment'])], { namespace: false, cleanup: [`${CSRS}/$ns-r`] }),
];
const bundles = [
  within('trust-bundle-off', 'ClusterTrustBundle is not served, so its plugin has nothing to do', [GET('/apis/certificates.k8s.io/v1alpha1/clustertrustbundles', quiet), GET('/apis/certificates.k8s.io/v1beta1/clustertrustbundles', quiet)], { namespace: false }),
];

// --- what is not on ---
const off = [
  within('mutating-policies-off', 'MutatingAdmissionPolicy is not served', [
    GET('/apis/admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies'), GET('/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies'), GET(`${REG}/mutatingadmissionpolicies`),
    POST(`${REG}/mutatingadmissionpolicies`, { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingAdmissionPolicy', metadata: { name: 'x' } }), GET('/apis/admissionregistration.k8s.io', { pick: (b) => b.versions?.map((v) => v.version) }), GET(REG, { pick: (b) => b.resources?.map((r) => r.name) }),
  ], { namespace: false }),
  within('namespace-provision-off', 'NamespaceAutoProvision is off: a missing namespace is not made', [POST('/api/v1/namespaces/$ns-none/configmaps', cm())], { namespace: false }),
  within('pull-policy-off', 'AlwaysPullImages is off', [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'Never' }] }), { pick: (b) => b.spec?.containers[0].imagePullPolicy })]),
  within('node-selector-off', 'PodNodeSelector is off: the annotation of the namespace does nothing', [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { annotations: { 'scheduler.alpha.kubernetes.io/node-selector': 'a=b', 'scheduler.alpha.kubernetes.io/defaultTolerations': '[{"key":"z"}]' } } }, quiet), SLEEP(400), POST(PODS, pod(), only('spec.nodeSelector', 'spec.tolerations'))]),
  within('external-ips-off', 'DenyServiceExternalIPs is off', [POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', externalIPs: ['1.2.3.4'], ports: [{ port: 80 }] } }, only('spec.externalIPs'))]),
  within('anti-affinity-off', 'LimitPodHardAntiAffinityTopology is off', [POST(PODS, pod('p', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack', labelSelector: { matchLabels: { a: 'b' } } }] } } }), quiet)]),
  within('owner-permission-off', 'OwnerReferencesPermissionEnforcement is off', [
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }] }, quiet),
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, quiet),
    { ...POST(CM, cm('c', {}, { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'x', blockOwnerDeletion: true }] }), { ...quiet, ...dry, headers: { 'impersonate-user': '$ns-u' } }), kind: 'poll', ms: 8000, until: (_, s) => s === 201 },
  ]),
  within('extended-toleration-off', 'ExtendedResourceToleration is off', [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img', resources: { limits: { 'example.com/gpu': '1' } } }] }), tolerations)]),
  within('service-account-off', 'ServiceAccount is off on the server that was recorded: a missing account does not matter, and no token is mounted', [POST(PODS, pod('p', { serviceAccountName: 'nope' }), only('spec.serviceAccountName', 'spec.volumes'))]),
];

export default [...priorities, ...tolerationCases, ...tolerationMore, ...runtimes, ...storage, ...ingresses, ...nodes, ...certificates, ...bundles, ...off];
