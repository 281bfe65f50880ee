// What is stored when the plugins that are on by default are turned off; and --admission-control, which names exactly those that run.
import { scenario, GET, POST, PUT, PATCH, DELETE, SLEEP } from '../steps.ts';
import { CM, PODS, cm, pod, quiet, dry, only, webhook, mutating, validating, rule, deny, patch, add, policy, binding, pathOf, called } from './kit/admission.mjs';
import { personRequest, mastersRequest } from './kit/csr.mjs';

const needs = 'plugins-off';
const within = (id, about, steps, o = {}) => scenario(`plugins-off-${id}`, { section: '7', about, needs, ...o }, steps);
const as = { headers: { 'impersonate-user': '$ns-u' } };
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const granted = (...rules) => [
  POST(`${RBAC}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-r' }, rules }, quiet),
  POST(`${RBAC}/clusterrolebindings`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: '$ns-r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, quiet),
];
const rights = [`${RBAC}/clusterroles/$ns-r`, `${RBAC}/clusterrolebindings/$ns-r`];
const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const csr = (request, signerName, usages = ['client auth']) => ({ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest', metadata: { name: '$ns-r' }, spec: { request, signerName, usages } });
const BUNDLES = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
const NODES = '/api/v1/nodes';
const node = (labels = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', labels } });
const CLAIMS = '/api/v1/namespaces/$ns/persistentvolumeclaims';
const claim = (spec = {}) => ({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec } });
const STORAGE = '/apis/storage.k8s.io/v1/storageclasses';
const INGRESS = '/apis/networking.k8s.io/v1';
const byDefault = (kind, apiVersion, prefix, more) => ({ apiVersion, kind, metadata: { name: '$ns-c', annotations: { [`${prefix}.kubernetes.io/is-default-class`]: 'true' } }, ...more });
const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { configmaps: '0' } } };

const off = [
  within('lifecycle', 'NamespaceLifecycle: objects in a namespace that is not there', [POST('/api/v1/namespaces/$ns-none/configmaps', cm(), quiet), PATCH('/api/v1/namespaces/$ns-none/configmaps/c', 'merge', { data: { x: 'y' } }, quiet), DELETE('/api/v1/namespaces/$ns-none/configmaps/c', undefined, quiet)], { namespace: false }),
  within('lifecycle-terminating', 'NamespaceLifecycle: objects in one that is being deleted', [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-gone' } }, quiet), DELETE('/api/v1/namespaces/$ns-gone', undefined, quiet), POST('/api/v1/namespaces/$ns-gone/configmaps', cm(), quiet), PUT('/api/v1/namespaces/$ns-gone/finalize', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-gone' }, spec: { finalizers: [] } }, quiet)], { namespace: false }),
  within('lifecycle-immortal', 'NamespaceLifecycle: the namespaces of the system', [DELETE('/api/v1/namespaces/kube-system', undefined, { ...dry, ...quiet }), DELETE('/api/v1/namespaces/default', undefined, { ...dry, ...quiet })], { namespace: false }),
  within('limits', 'LimitRanger: neither defaults nor bounds', [POST('/api/v1/namespaces/$ns/limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' }, max: { cpu: '1' } }] } }, quiet), SLEEP(500), POST(PODS, pod(), only('spec.containers', 'metadata.annotations')), POST(PODS, pod('q', { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '9' } } }] }), quiet)]),
  within('accounts', 'ServiceAccount: neither account nor token', [POST(PODS, pod(), only('spec.serviceAccountName', 'spec.volumes', 'spec.automountServiceAccountToken'))]),
  within('taint', 'TaintNodesByCondition: a new node has no taint', [POST(NODES, node(), only('spec.taints'))], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  within('pod-security', 'PodSecurity: labels of a namespace are neither checked nor enforced', [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'nope' } } }, quiet), SLEEP(500), POST(PODS, pod('p', { hostNetwork: true }), { ...quiet, compareHeaders: ['warning'] })]),
  within('priority', 'Priority: a class is not looked up', [POST(PODS, pod('p', { priorityClassName: '$ns-nope' }), only('spec.priority', 'spec.priorityClassName', 'spec.preemptionPolicy')), POST(PODS, pod('q', { priority: 7 }), only('spec.priority')), POST(PODS, pod('r'), only('spec.priority', 'spec.preemptionPolicy'))]),
  within('tolerations', 'DefaultTolerationSeconds: none', [POST(PODS, pod(), only('spec.tolerations'))]),
  within('storage-class', 'DefaultStorageClass: none', [POST(STORAGE, byDefault('StorageClass', 'storage.k8s.io/v1', 'storageclass', { provisioner: 'example.com/p' }), quiet), SLEEP(500), POST(CLAIMS, claim(), only('spec.storageClassName'))], { cleanup: [`${STORAGE}/$ns-c`] }),
  within('storage-protection', 'StorageObjectInUseProtection: no finalizer', [POST(CLAIMS, claim(), only('metadata.finalizers')), DELETE(`${CLAIMS}/v`, undefined, quiet), GET(`${CLAIMS}/v`, quiet), POST('/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: '$ns-v' }, spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }, only('metadata.finalizers'))], { cleanup: ['/api/v1/persistentvolumes/$ns-v'] }),
  within('resize', 'PersistentVolumeClaimResize: any bound claim may grow', [POST(CLAIMS, claim({ storageClassName: 'none', volumeName: 'w' }), quiet), PATCH(`${CLAIMS}/v/status`, 'merge', { status: { phase: 'Bound', capacity: { storage: '1Gi' } } }, quiet), PATCH(`${CLAIMS}/v`, 'merge', { spec: { resources: { requests: { storage: '2Gi' } } } }, only('spec.resources'))]),
  within('runtime-class', 'RuntimeClass: a class is not looked up', [POST(PODS, pod('p', { runtimeClassName: '$ns-nope' }), only('spec.runtimeClassName', 'spec.overhead')), POST(PODS, pod('q', { overhead: { cpu: '1' } }), only('spec.overhead'))]),
  within('certificate-subject', 'CertificateSubjectRestriction: system:masters', [POST(CSRS, csr(mastersRequest, 'kubernetes.io/kube-apiserver-client'), only('spec.signerName'))], { namespace: false, cleanup: [`${CSRS}/$ns-r`] }),
  within('certificate-approval', 'CertificateApproval and CertificateSigning: whoever may write approval and status', [
    ...granted({ apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'], verbs: ['patch'] }), POST(CSRS, csr(personRequest, 'example.com/s'), quiet),
    { ...PATCH(`${CSRS}/$ns-r/approval`, 'merge', { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }] } }, { ...as, ...quiet }), kind: 'poll', ms: 8000, until: (_, s) => s === 200 },
    PATCH(`${CSRS}/$ns-r/status`, 'merge', { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }, { type: 'Failed', status: 'True', reason: 'R' }] } }, { ...as, ...only('status.conditions.1.type') }),
  ], { namespace: false, cleanup: [`${CSRS}/$ns-r`, ...rights] }),
  within('attest', 'ClusterTrustBundleAttest: whoever may create bundles', [...granted({ apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], verbs: ['create'] }), { ...POST(BUNDLES, { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name: 'example.com:s:$ns' }, spec: { signerName: 'example.com/s', trustBundle: 'nope' } }, { ...as, ...dry, ...only('reason') }), kind: 'poll', ms: 8000, until: (_, s) => s !== 403 }], { namespace: false, cleanup: rights }),
  within('ingress-class', 'DefaultIngressClass: none', [POST(`${INGRESS}/ingressclasses`, byDefault('IngressClass', 'networking.k8s.io/v1', 'ingressclass', { spec: { controller: 'example.com/c' } }), quiet), SLEEP(500), POST(`${INGRESS}/namespaces/$ns/ingresses`, { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }, only('spec.ingressClassName'))], { cleanup: [`${INGRESS}/ingressclasses/$ns-c`] }),
  within('topology', 'PodTopologyLabels: a pod gets no labels of its node, with the gate on', [POST(NODES, node({ 'topology.k8s.io/zone': 'z' }), quiet), SLEEP(500), POST(PODS, pod('p', { nodeName: '$ns-n' }), only('metadata.labels')), POST(PODS, pod('q'), quiet), POST(`${PODS}/q/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'q' }, target: { kind: 'Node', name: '$ns-n' } }, quiet), GET(`${PODS}/q`, only('metadata.labels'))], { cleanup: [`${NODES}/$ns-n`] }),
  within('webhooks', 'MutatingAdmissionWebhook, ValidatingAdmissionWebhook: stored, and nobody is called', [...[mutating(webhook('m')), validating(webhook('v'))].map((c) => POST(pathOf(c), c, quiet)), SLEEP(1500), POST(CM, cm(), only('data')), called('m'), called('v')], { hooks: { m: patch([add('/data/m', 'x')]), v: deny({ message: 'no' }) }, cleanup: [`${pathOf(mutating([]))}/$ns-x`, `${pathOf(validating([]))}/$ns-x`] }),
  within('policies', 'ValidatingAdmissionPolicy: stored, and nobody is refused', [...[policy({ validations: 'false' }), binding()].map((o) => POST(pathOf(o), o, quiet)), SLEEP(1500), POST(CM, cm(), only('data'))], { cleanup: [`${pathOf(binding())}/$ns-binding`, `${pathOf(policy())}/$ns-policy`] }),
  within('quota', 'ResourceQuota: nothing is counted', [POST(QUOTAS, quota, quiet), PUT(`${QUOTAS}/q/status`, { ...quota, status: { hard: { configmaps: '0' }, used: { configmaps: '0' } } }, quiet), SLEEP(500), POST(CM, cm(), quiet), GET(`${QUOTAS}/q`, only('status.used'))]),
];

const old = (id, about, steps) => scenario(`plugins-old-${id}`, { section: '7', about, needs: 'plugins-old' }, steps);
const named = [
  old('named', '--admission-control: those that it names run', [POST('/api/v1/namespaces/$ns-none/configmaps', cm()), POST(PODS, pod('p', { containers: [{ name: 'c', image: 'i:1' }], priorityClassName: '$ns-nope' })), POST(PODS, pod('p', { containers: [{ name: 'c', image: 'i:1' }] }), only('spec.containers', 'spec.priority'))]),
  old('others', '--admission-control: no others do', [POST(PODS, pod('p', { runtimeClassName: '$ns-nope' }), only('spec.tolerations', 'spec.serviceAccountName', 'spec.volumes')), POST(CLAIMS, claim(), only('metadata.finalizers'))]),
];

export default [...off, ...named];
