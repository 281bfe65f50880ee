// Which rules for metadata a kind's create and update run, and how often: kinds differ, and clients see it in the causes.
import { scenario, POST, PUT, PATCH } from '../steps.ts';

const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: pod };
const workload = { selector: { matchLabels: { a: 'b' } }, template };
const once = { ...template, spec: { ...pod, restartPolicy: 'Never' } };
const rule = { operations: ['CREATE'], apiGroups: ['$ns.example.com'], apiVersions: ['v1'], resources: ['widgets'] };
const csr = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0JBZ0VBTUI4eEREQUtCZ05WQkFvTUEyUmxkakVQTUEwR0ExVUVBd3dHYjNKaFkyeGxNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFOGdvZ0pRSkQzMTVtQ1lKYUFZUnhpOVMyVzFVeG5VRlhnN2dEClVlRXE0cks5dFZOa3A4VU1ncUNZTWtFdWZEZk1ZbEtRalFKamM0MDNpZjlCcW9SNjI2QUFNQW9HQ0NxR1NNNDkKQkFNQ0Ewa0FNRVlDSVFDbjBwU2FpeXliOW11SGIvdHlocDhsaDMvQWxjU0JMTzhVSnlZTG5mSVpzZ0loQU04QwpDWXZ5MkFnWVcxMzZSZFozc2NnTmU3UHhLZmJiRzVJaThaWHNSSitCCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

/** [resource, apiVersion, kind, the rest of an object] */
const namespaced = [
  ['configmaps', 'v1', 'ConfigMap', {}],
  ['endpoints', 'v1', 'Endpoints', {}],
  ['events', 'v1', 'Event', { involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' } }],
  ['limitranges', 'v1', 'LimitRange', { spec: { limits: [] } }],
  ['persistentvolumeclaims', 'v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  ['pods', 'v1', 'Pod', { spec: pod }],
  ['podtemplates', 'v1', 'PodTemplate', { template }],
  ['replicationcontrollers', 'v1', 'ReplicationController', { spec: { selector: { a: 'b' }, template } }],
  ['resourcequotas', 'v1', 'ResourceQuota', { spec: { hard: { pods: '900' } } }],
  ['secrets', 'v1', 'Secret', {}],
  ['serviceaccounts', 'v1', 'ServiceAccount', {}],
  ['services', 'v1', 'Service', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }],
  ['controllerrevisions', 'apps/v1', 'ControllerRevision', { data: {}, revision: 1 }],
  ['daemonsets', 'apps/v1', 'DaemonSet', { spec: workload }],
  ['deployments', 'apps/v1', 'Deployment', { spec: workload }],
  ['replicasets', 'apps/v1', 'ReplicaSet', { spec: workload }],
  ['statefulsets', 'apps/v1', 'StatefulSet', { spec: workload }],
  ['cronjobs', 'batch/v1', 'CronJob', { spec: { schedule: '@daily', jobTemplate: { spec: { template: once } } } }],
  ['jobs', 'batch/v1', 'Job', { spec: { template: once } }],
  ['horizontalpodautoscalers', 'autoscaling/v2', 'HorizontalPodAutoscaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 } }],
  ['horizontalpodautoscalers', 'autoscaling/v1', 'HorizontalPodAutoscaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 } }],
  ['ingresses', 'networking.k8s.io/v1', 'Ingress', { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }],
  ['networkpolicies', 'networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }],
  ['poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget', { spec: {} }],
  ['roles', 'rbac.authorization.k8s.io/v1', 'Role', {}],
  ['rolebindings', 'rbac.authorization.k8s.io/v1', 'RoleBinding', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }],
  ['csistoragecapacities', 'storage.k8s.io/v1', 'CSIStorageCapacity', { storageClassName: 'fast' }],
  ['leases', 'coordination.k8s.io/v1', 'Lease', {}],
  ['endpointslices', 'discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [] }],
  ['events', 'events.k8s.io/v1', 'Event', { eventTime: '2020-01-01T00:00:00.000000Z', reportingController: 'c', reportingInstance: 'i', action: 'A', reason: 'R', type: 'Normal', regarding: { kind: 'Pod', namespace: '$ns', name: 'p' } }],
];
const clustered = [
  ['namespaces', 'v1', 'Namespace', {}],
  ['nodes', 'v1', 'Node', {}],
  ['persistentvolumes', 'v1', 'PersistentVolume', { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } } }],
  ['ingressclasses', 'networking.k8s.io/v1', 'IngressClass', { spec: { controller: 'example.com/c' } }],
  ['servicecidrs', 'networking.k8s.io/v1', 'ServiceCIDR', { spec: { cidrs: ['10.98.0.0/24'] } }],
  ['clusterroles', 'rbac.authorization.k8s.io/v1', 'ClusterRole', {}],
  ['clusterrolebindings', 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' } }],
  ['storageclasses', 'storage.k8s.io/v1', 'StorageClass', { provisioner: 'p' }],
  ['csidrivers', 'storage.k8s.io/v1', 'CSIDriver', { spec: {} }],
  ['csinodes', 'storage.k8s.io/v1', 'CSINode', { spec: { drivers: [] } }],
  ['volumeattachments', 'storage.k8s.io/v1', 'VolumeAttachment', { spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }],
  ['priorityclasses', 'scheduling.k8s.io/v1', 'PriorityClass', { value: 7 }],
  ['runtimeclasses', 'node.k8s.io/v1', 'RuntimeClass', { handler: 'h' }],
  ['certificatesigningrequests', 'certificates.k8s.io/v1', 'CertificateSigningRequest', { spec: { request: csr, signerName: 'example.com/s', usages: ['any'] } }],
  ['validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {}],
  ['mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', {}],
  ['validatingadmissionpolicies', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } }],
  ['validatingadmissionpolicybindings', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', { spec: { policyName: '$ns-p', validationActions: ['Deny'] } }],
  ['prioritylevelconfigurations', 'flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } }],
  ['flowschemas', 'flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', { spec: { matchingPrecedence: 900, priorityLevelConfiguration: { name: 'exempt' }, rules: [] } }],
  ['apiservices', 'apiregistration.k8s.io/v1', 'APIService', { spec: { group: '$ns.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 } }, 'v1.$ns.example.com'],
  ['customresourcedefinitions', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', { spec: { group: '$ns.example.com', scope: 'Cluster', names: { plural: 'things', kind: 'Thing' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }, 'things.$ns.example.com'],
];

/** The object itself is not what is asked about. */
const dry = { query: { dryRun: 'All' }, pick: (body) => body.details?.causes?.map(({ field, message }) => `${field}: ${message.slice(0, 70)}`) ?? body.message ?? 'accepted' };
/** What is wrong with metadata, each by itself. */
const faults = {
  'generate-name': { generateName: '-a' },
  'generate-name-dot': { generateName: '.' },
  finalizers: { finalizers: ['x'] },
  'finalizers-bad': { finalizers: ['a/b/c', '-'] },
  owners: { ownerReferences: [{ apiVersion: 'v1' }] },
  labels: { labels: { '-': '-' }, annotations: { '-': 'x' } },
};

const kinds = [...namespaced.map((row) => [true, ...row]), ...clustered.map((row) => [false, ...row])];
export default kinds.flatMap(([isNamespaced, resource, apiVersion, kind, rest, ownName]) => {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`;
  const path = `${root}${isNamespaced ? '/namespaces/$ns' : ''}/${resource}`;
  const name = ownName ?? (isNamespaced ? 'x' : '$ns-x');
  const object = (metadata = {}) => ({ apiVersion, kind, metadata: { name, ...metadata }, ...rest });
  const id = `meta-by-kind-${kind.toLowerCase()}${apiVersion.startsWith('events') || apiVersion === 'autoscaling/v1' ? `-${apiVersion.replace('/', '-').replaceAll('.', '-')}` : ''}`;
  return [
  scenario(`${id}-create`, { section: 'metadata' }, Object.entries(faults).map(([fault, metadata]) => POST(path, object(metadata), { ...dry, note: fault }))),
  scenario(`${id}-update`, { section: 'metadata', ...(isNamespaced ? {} : { cleanup: [`${path}/${name}`] }) }, [
    POST(path, object(), { id: 'made' }),
    ...Object.entries(faults).map(([fault, metadata]) => PATCH(`${path}/${name}`, 'merge', { metadata }, { ...dry, note: fault })),
    PATCH(`${path}/${name}`, 'merge', { metadata: { deletionTimestamp: '0001-01-01T00:00:00Z' } }, dry),
    PATCH(`${path}/${name}`, 'merge', { metadata: { deletionGracePeriodSeconds: 3, generation: 7 } }, dry),
    PUT(`${path}/${name}`, object({ deletionTimestamp: '0001-01-01T00:00:00Z', resourceVersion: '${made.metadata.resourceVersion}' }), { ...dry, compare: 'status' }),
  ])];
});
