// The tables (what kubectl get shows) of the kinds outside the core group: columns, and the cells of telling objects.
import { scenario, POST, PATCH } from '../steps.ts';
import { table } from './kit/kinds-groups.mjs';

const t = (minute) => `2020-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
const condition = (type, status = 'True') => ({ type, status, lastProbeTime: t(0), lastTransitionTime: t(0), reason: 'R', message: 'm' });
const labels = { app: 'a', tier: 'b' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }, { name: 'd', image: 'j' }] } };
const workload = { selector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'c'] }] }, template };
const once = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
const rule = { operations: ['CREATE'], apiGroups: ['$ns.example.com'], apiVersions: ['v1'], resources: ['widgets'] };
const webhook = { name: 'w.example.com', clientConfig: { url: 'https://localhost:1/x' }, sideEffects: 'None', admissionReviewVersions: ['v1'], rules: [rule] };
const csr = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIYk1JR0JBZ0VBTUI4eEREQUtCZ05WQkFvTUEyUmxkakVQTUEwR0ExVUVBd3dHYjNKaFkyeGxNRmt3RXdZSApLb1pJemowQ0FRWUlLb1pJemowREFRY0RRZ0FFOGdvZ0pRSkQzMTVtQ1lKYUFZUnhpOVMyVzFVeG5VRlhnN2dEClVlRXE0cks5dFZOa3A4VU1ncUNZTWtFdWZEZk1ZbEtRalFKamM0MDNpZjlCcW9SNjI2QUFNQW9HQ0NxR1NNNDkKQkFNQ0Ewa0FNRVlDSVFDbjBwU2FpeXliOW11SGIvdHlocDhsaDMvQWxjU0JMTzhVSnlZTG5mSVpzZ0loQU04QwpDWXZ5MkFnWVcxMzZSZFozc2NnTmU3UHhLZmJiRzVJaThaWHNSSitCCi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=';

/** [id, path of the collection, kind, objects by name: [object without name, status, subresource of the status]] */
const namespaced = [
  ['deployments', 'apps/v1', 'Deployment', { a: [{ spec: workload }], b: [{ spec: { ...workload, replicas: 3 } }, { replicas: 3, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 1 }] }],
  ['replicasets', 'apps/v1', 'ReplicaSet', { a: [{ spec: { ...workload, replicas: 0 } }], b: [{ spec: workload }, { replicas: 3, readyReplicas: 2 }] }],
  ['daemonsets', 'apps/v1', 'DaemonSet', { a: [{ spec: workload }], b: [{ spec: { ...workload, template: { ...template, spec: { ...template.spec, nodeSelector: { z: '1', y: '2' } } } } }, { desiredNumberScheduled: 1, currentNumberScheduled: 2, numberReady: 3, updatedNumberScheduled: 4, numberAvailable: 5 }] }],
  ['statefulsets', 'apps/v1', 'StatefulSet', { a: [{ spec: workload }], b: [{ spec: { ...workload, replicas: 4 } }, { replicas: 3, readyReplicas: 2 }] }],
  ['controllerrevisions', 'apps/v1', 'ControllerRevision', { a: [{ data: {}, revision: 3 }], b: [{ data: {}, revision: 4, metadata: { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true }] } }] }],
  ['jobs', 'batch/v1', 'Job', {
    a: [{ spec: { template: once } }], b: [{ spec: { template: once, parallelism: 3 } }, { active: 1, succeeded: 1 }], c: [{ spec: { template: once, suspend: true } }, { conditions: [condition('Suspended')] }],
    d: [{ spec: { template: once } }, { startTime: t(0), completionTime: t(5), succeeded: 1, conditions: [condition('SuccessCriteriaMet'), condition('Complete')] }], e: [{ spec: { template: once } }, { conditions: [condition('FailureTarget')] }], f: [{ spec: { template: once, completions: 4, parallelism: 2 } }],
  }],
  ['cronjobs', 'batch/v1', 'CronJob', { a: [{ spec: { schedule: '@daily', jobTemplate: { spec: { template: once } } } }], b: [{ spec: { schedule: '0 0 * * *', timeZone: 'Europe/Berlin', suspend: true, jobTemplate: { spec: { template: once } } } }, { active: [{ name: 'j' }, { name: 'k' }], lastScheduleTime: t(1) }] }],
  ['horizontalpodautoscalers', 'autoscaling/v2', 'HorizontalPodAutoscaler', {
    a: [{ spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 } }],
    b: [{ spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 2, maxReplicas: 3, metrics: [{ type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } }, { type: 'External', external: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } } }, { type: 'Pods', pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '5' } } }] } }, { currentReplicas: 2, desiredReplicas: 2, currentMetrics: [{ type: 'Resource', resource: { name: 'memory', current: { averageValue: '512Mi' } } }, { type: 'External', external: { metric: { name: 'm' }, current: { averageValue: '3' } } }] }],
  }],
  ['horizontalpodautoscalers', 'autoscaling/v1', 'HorizontalPodAutoscaler', { a: [{ spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, targetCPUUtilizationPercentage: 50 } }, { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 7 }] }],
  ['ingresses', 'networking.k8s.io/v1', 'Ingress', { a: [{ spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }], b: [{ spec: { ingressClassName: 'c', tls: [{}], rules: ['h1', 'h2', 'h3', 'h4'].map((host) => ({ host })) } }, { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'lb.example.com' }] } }] }],
  ['networkpolicies', 'networking.k8s.io/v1', 'NetworkPolicy', { a: [{ spec: { podSelector: {} } }], b: [{ spec: { podSelector: { matchLabels: labels } } }] }],
  ['poddisruptionbudgets', 'policy/v1', 'PodDisruptionBudget', { a: [{ spec: {} }], b: [{ spec: { minAvailable: '50%' } }, { disruptionsAllowed: 1, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }], c: [{ spec: { maxUnavailable: 1 } }] }],
  ['roles', 'rbac.authorization.k8s.io/v1', 'Role', { a: [{}] }],
  ['rolebindings', 'rbac.authorization.k8s.io/v1', 'RoleBinding', { a: [{ roleRef: { kind: 'Role', name: 'r' } }], b: [{ roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'User', name: 'u' }, { kind: 'User', name: 'v' }, { kind: 'Group', name: 'g' }, { kind: 'ServiceAccount', name: 's', namespace: 'n' }] }] }],
  ['csistoragecapacities', 'storage.k8s.io/v1', 'CSIStorageCapacity', { a: [{ storageClassName: 'fast', capacity: '1Gi' }] }],
  ['leases', 'coordination.k8s.io/v1', 'Lease', { a: [{}], b: [{ spec: { holderIdentity: 'h' } }] }],
  ['endpointslices', 'discovery.k8s.io/v1', 'EndpointSlice', { a: [{ addressType: 'IPv4', endpoints: [] }], b: [{ addressType: 'IPv4', endpoints: ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((a) => ({ addresses: [a] })), ports: [{ name: 'a', port: 80 }, { name: 'b' }, { name: 'c', port: 82 }, { name: 'd', port: 83 }] }] }],
  ['events', 'events.k8s.io/v1', 'Event', { a: [{ eventTime: '2020-01-01T00:00:00.000000Z', reportingController: 'c', reportingInstance: 'i', action: 'A', reason: 'R', type: 'Normal', note: 'n', regarding: { kind: 'Pod', namespace: '$ns', name: 'p', fieldPath: 'spec.x' }, series: { count: 3, lastObservedTime: '2020-01-01T00:05:00.000000Z' } }] }],
];
const clustered = [
  ['ingressclasses', 'networking.k8s.io/v1', 'IngressClass', { a: [{ spec: { controller: 'example.com/c' } }], b: [{ spec: { controller: 'example.com/c', parameters: { apiGroup: 'g.example.com', kind: 'K', name: 'n' } } }], c: [{ spec: { controller: 'example.com/c', parameters: { kind: 'K', name: 'n' } } }] }],
  ['clusterroles', 'rbac.authorization.k8s.io/v1', 'ClusterRole', { a: [{}] }],
  ['clusterrolebindings', 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', { a: [{ roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'User', name: '$ns-u' }, { kind: 'Group', name: '$ns-g' }] }] }],
  ['storageclasses', 'storage.k8s.io/v1', 'StorageClass', { a: [{ provisioner: 'p' }], b: [{ provisioner: 'p', reclaimPolicy: 'Retain', volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true }] }],
  ['csidrivers', 'storage.k8s.io/v1', 'CSIDriver', { a: [{ spec: {} }], b: [{ spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral', 'Persistent'], tokenRequests: [{ audience: 'a' }, { audience: 'b' }] } }] }],
  ['csinodes', 'storage.k8s.io/v1', 'CSINode', { a: [{ spec: { drivers: [{ name: 'd', nodeID: 'n' }] } }] }],
  ['volumeattachments', 'storage.k8s.io/v1', 'VolumeAttachment', { a: [{ spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }], b: [{ spec: { attacher: 'd', nodeName: 'n', source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' } } } } }, { attached: true }] }],
  ['priorityclasses', 'scheduling.k8s.io/v1', 'PriorityClass', { a: [{ value: 7 }], b: [{ value: -7, preemptionPolicy: 'Never' }] }],
  ['runtimeclasses', 'node.k8s.io/v1', 'RuntimeClass', { a: [{ handler: 'h' }] }],
  ['certificatesigningrequests', 'certificates.k8s.io/v1', 'CertificateSigningRequest', {
    a: [{ spec: { request: csr, signerName: 'example.com/s', usages: ['any'] } }], b: [{ spec: { request: csr, signerName: 'example.com/s', usages: ['any'], expirationSeconds: 7200 } }, { conditions: [condition('Approved')] }, 'approval'], c: [{ spec: { request: csr, signerName: 'example.com/s', usages: ['any'] } }, { conditions: [condition('Failed')] }],
  }],
  ['validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', { a: [{ webhooks: [webhook] }] }],
  ['mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', { a: [{}] }],
  ['validatingadmissionpolicies', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', { a: [{ spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }, { expression: 'true' }] } }], b: [{ spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } }] }],
  ['validatingadmissionpolicybindings', 'admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', { a: [{ spec: { policyName: '$ns-p', validationActions: ['Deny'] } }], b: [{ spec: { policyName: '$ns-p', validationActions: ['Deny'], paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Deny' } } }], c: [{ spec: { policyName: '$ns-p', validationActions: ['Deny'], paramRef: { selector: {}, parameterNotFoundAction: 'Deny' } } }] }],
  ['prioritylevelconfigurations', 'flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', { a: [{ spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } }], b: [{ spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Queue', queuing: {} } } } }] }],
];

const steps = (list, apiVersion, kind, objects, prefix) => Object.entries(objects).flatMap(([n, [object, status, via = 'status']]) => [
  POST(list, { apiVersion, kind, ...object, metadata: { name: `${prefix}${n}`, ...object.metadata } }, { compare: 'status' }),
  ...(status ? [PATCH(`${list}/${prefix}${n}/${via}`, 'merge', { status }, { compare: 'status' })] : []),
]);

export default [
  ...namespaced.map(([resource, apiVersion, kind, objects]) => {
    const list = `/apis/${apiVersion}/namespaces/$ns/${resource}`;
    return scenario(`table-of-${resource}${apiVersion === 'autoscaling/v1' ? '-v1' : ''}`, { section: '2.6', about: `${kind}: columns and cells of the table` }, [...steps(list, apiVersion, kind, objects, ''), table(list)]);
  }),
  ...clustered.map(([resource, apiVersion, kind, objects]) => {
    const list = `/apis/${apiVersion}/${resource}`;
    return scenario(`table-of-${resource}`, { section: '2.6', about: `${kind}: columns and cells of the table`, namespace: false, cleanup: Object.keys(objects).map((n) => `${list}/$ns-${n}`) }, [...steps(list, apiVersion, kind, objects, '$ns-'), ...Object.keys(objects).map((n) => table(`${list}/$ns-${n}`))]);
  }),
  scenario('table-of-standing-objects', { section: '2.6', about: 'Tables of kinds of which the server itself has objects', namespace: false }, [
    table('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/exempt'), table('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/service-accounts'), table('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt'),
    table('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps'), table('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical'), table('/apis/rbac.authorization.k8s.io/v1/clusterroles/admin'),
    { ...table('/apis/networking.k8s.io/v1/servicecidrs/kubernetes'), pick: (b) => b.columnDefinitions?.map(({ description, ...c }) => c) },
  ]),
  scenario('table-of-ipaddresses', { section: '2.6', about: 'IPAddress: columns and cells of the table', namespace: false, cleanup: ['/apis/networking.k8s.io/v1/ipaddresses/198.51.100.30'] }, [
    POST('/apis/networking.k8s.io/v1/ipaddresses', { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', metadata: { name: '198.51.100.30' }, spec: { parentRef: { group: 'example.com', resource: 'gateways', namespace: 'n', name: 'g' } } }, { compare: 'status' }),
    table('/apis/networking.k8s.io/v1/ipaddresses/198.51.100.30'),
  ]),
  scenario('table-of-scale', { section: '2.6', about: 'Scale: columns and cells of the table' }, [
    POST('/apis/apps/v1/namespaces/$ns/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { ...workload, replicas: 3 } }, { compare: 'status' }),
    table('/apis/apps/v1/namespaces/$ns/deployments/d/scale'),
  ]),
];
