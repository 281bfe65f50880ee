// What fieldsV1 holds for many kinds: once created by POST (every field, with "." for maps and lists), once by apply (only what was said).
import { scenario, POST, APPLY, PATCH } from '../steps.ts';
import { CM, SECRET, box, cm, owners } from './kit/apply.mjs';

const template = { metadata: { labels: { app: 'web' }, annotations: { 'example.com/a': 'b' } }, spec: { containers: [box()] } };
const selector = { matchLabels: { app: 'web' } };
const meta = { labels: { 'example.com/l': 'v' }, annotations: { a: 'b' } };
const ref = { apiVersion: 'v1', kind: 'Pod', name: 'p' };
const ns = (gv) => (gv === 'v1' ? '/api/v1/namespaces/$ns' : `/apis/${gv}/namespaces/$ns`);
const all = (gv) => (gv === 'v1' ? '/api/v1' : `/apis/${gv}`);

/** id, apiVersion, kind, plural, body */
const namespaced = [
  ['pod', 'v1', 'Pod', 'pods', { spec: {
    initContainers: [box('init', { command: ['x'] })],
    containers: [box('web', {
      args: ['a'], env: [{ name: 'A', value: '1' }, { name: 'F', valueFrom: { configMapKeyRef: { name: 'c', key: 'k', optional: true } } }], envFrom: [{ prefix: 'p', configMapRef: { name: 'c' } }],
      ports: [{ containerPort: 80, name: 'http' }, { containerPort: 53, protocol: 'UDP' }], resources: { limits: { cpu: '1' }, requests: { cpu: '1', memory: '1Mi' } },
      livenessProbe: { exec: { command: ['x'] } }, readinessProbe: { httpGet: { port: 'http', httpHeaders: [{ name: 'h', value: 'v' }] } }, startupProbe: { tcpSocket: { port: 80 } },
      securityContext: { runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } }, volumeMounts: [{ name: 'v', mountPath: '/v' }], volumeDevices: [{ name: 'd', devicePath: '/d' }],
    })],
    volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, { name: 'd', persistentVolumeClaim: { claimName: 'c' } }, { name: 'x', projected: { sources: [{ downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.name' } }] } }] } }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }] } } },
    tolerations: [{ operator: 'Exists' }], nodeSelector: { a: 'b' }, imagePullSecrets: [{ name: 's' }], hostAliases: [{ ip: '10.1.1.1', hostnames: ['h'] }], dnsConfig: { nameservers: ['10.1.1.1'], searches: ['x'], options: [{ name: 'ndots', value: '2' }] },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector }], readinessGates: [{ conditionType: 'x.io/y' }], schedulingGates: [{ name: 'x.io/g' }], securityContext: { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }], supplementalGroups: [1] },
  } }],
  ['deployment', 'apps/v1', 'Deployment', 'deployments', { spec: { replicas: 2, selector, template, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } }],
  ['stateful-set', 'apps/v1', 'StatefulSet', 'statefulsets', { spec: { serviceName: 's', selector, template, updateStrategy: { rollingUpdate: { partition: 1 } }, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' }, volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }] } }],
  ['daemon-set', 'apps/v1', 'DaemonSet', 'daemonsets', { spec: { selector, template, updateStrategy: { type: 'OnDelete' } } }],
  ['replica-set', 'apps/v1', 'ReplicaSet', 'replicasets', { spec: { replicas: 1, selector, template } }],
  ['replication-controller', 'v1', 'ReplicationController', 'replicationcontrollers', { spec: { replicas: 1, selector: { app: 'web' }, template } }],
  ['job', 'batch/v1', 'Job', 'jobs', { spec: { backoffLimit: 2, template: { spec: { restartPolicy: 'Never', containers: [box()] } }, podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }] } } }],
  ['cron-job', 'batch/v1', 'CronJob', 'cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { restartPolicy: 'OnFailure', containers: [box()] } } } } } }],
  ['service', 'v1', 'Service', 'services', { spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ port: 80, name: 'http', targetPort: 'http' }, { port: 53, protocol: 'UDP', name: 'dns' }], sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } }],
  ['config-map', 'v1', 'ConfigMap', 'configmaps', { data: { 'a.b': '1', C_d: '2' }, binaryData: { x: 'aGk=' }, immutable: true }],
  ['secret', 'v1', 'Secret', 'secrets', { type: 'Opaque', data: { a: 'MQ==' }, stringData: { b: '2' }, immutable: false }],
  ['service-account', 'v1', 'ServiceAccount', 'serviceaccounts', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 's' }], secrets: [{ name: 'x' }] }],
  ['endpoints', 'v1', 'Endpoints', 'endpoints', { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }],
  ['endpoint-slice', 'discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'], conditions: { ready: true } }], ports: [{ name: 'http', port: 80 }] }],
  ['event', 'v1', 'Event', 'events', { involvedObject: { ...ref, namespace: '$ns' }, reason: 'R', message: 'm', type: 'Normal', source: { component: 'c' }, firstTimestamp: '2020-01-01T00:00:00Z', lastTimestamp: '2020-01-01T00:00:00Z', count: 1 }],
  ['event-new', 'events.k8s.io/v1', 'Event', 'events', { regarding: { ...ref, namespace: '$ns' }, reason: 'R', note: 'n', type: 'Normal', action: 'a', reportingController: 'x.io/c', reportingInstance: 'i', eventTime: '2020-01-01T00:00:00.000000Z' }],
  ['limit-range', 'v1', 'LimitRange', 'limitranges', { spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }],
  ['resource-quota', 'v1', 'ResourceQuota', 'resourcequotas', { spec: { hard: { pods: '1', 'requests.cpu': '1' }, scopes: ['NotTerminating'] } }],
  ['claim', 'v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, selector, storageClassName: 'x', dataSource: { kind: 'PersistentVolumeClaim', name: 'other' } } }],
  ['pod-template', 'v1', 'PodTemplate', 'podtemplates', { template: { spec: { containers: [box()] } } }],
  ['ingress', 'networking.k8s.io/v1', 'Ingress', 'ingresses', { spec: { ingressClassName: 'x', defaultBackend: { service: { name: 's', port: { number: 80 } } }, tls: [{ hosts: ['h.example.com'], secretName: 's' }], rules: [{ host: 'h.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { name: 'http' } } } }] } }] } }],
  ['network-policy', 'networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', { spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector: selector }], ports: [{ port: 80, protocol: 'TCP' }] }] } }],
  ['hpa-v1', 'autoscaling/v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 50 } }],
  ['hpa-v2', 'autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', { spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }], behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } } }],
  ['disruption-budget', 'policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', { spec: { minAvailable: '50%', selector } }],
  ['role', 'rbac.authorization.k8s.io/v1', 'Role', 'roles', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }],
  ['role-binding', 'rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's', namespace: '$ns' }] }],
  ['lease', 'coordination.k8s.io/v1', 'Lease', 'leases', { spec: { holderIdentity: 'h', leaseDurationSeconds: 5, renewTime: '2020-01-01T00:00:00.000000Z' } }],
];

const cluster = [
  ['node', 'v1', 'Node', 'nodes', { spec: { podCIDR: '10.2.0.0/24', taints: [{ key: 'k', effect: 'NoSchedule' }], unschedulable: true } }],
  ['volume', 'v1', 'PersistentVolume', 'persistentvolumes', { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, storageClassName: 'x', mountOptions: ['a'] } }],
  ['namespace', 'v1', 'Namespace', 'namespaces', {}],
  ['storage-class', 'storage.k8s.io/v1', 'StorageClass', 'storageclasses', { provisioner: 'x.io/p', parameters: { a: 'b' }, mountOptions: ['m'] }],
  ['csi-driver', 'storage.k8s.io/v1', 'CSIDriver', 'csidrivers', { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'], tokenRequests: [{ audience: 'a' }] } }],
  ['priority-class', 'scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', { value: 5 }],
  ['cluster-role', 'rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { '$ns': 'none' } }] } }],
  ['ingress-class', 'networking.k8s.io/v1', 'IngressClass', 'ingressclasses', { spec: { controller: 'x.io/c', parameters: { kind: 'K', name: 'n', scope: 'Cluster' } } }],
  ['runtime-class', 'node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', { handler: 'h', overhead: { podFixed: { cpu: '1m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ operator: 'Exists' }] } }],
  ['validating-webhook', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', { webhooks: [{ name: 'a.example.com', clientConfig: { url: 'https://127.0.0.1:1/x' }, rules: [{ apiGroups: ['$ns.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }], sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Ignore', namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } } }] }],
  ['definition', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', { spec: { group: '$ns.example.com', scope: 'Namespaced', names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gd'] }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } }, subresources: { status: {} } }] } }],
];

const both = ([id, apiVersion, kind, plural, body], scope) => {
  const name = scope === 'cluster' ? (id === 'definition' ? 'gadgets.$ns.example.com' : '$ns-n') : 'n';
  const path = `${scope === 'cluster' ? all(apiVersion) : ns(apiVersion)}/${plural}`;
  const object = { apiVersion, kind, metadata: { name, ...meta }, ...body };
  const o = (about) => ({ section: '2.3', about: `${about} of a ${kind} (${apiVersion})`, ...(scope === 'cluster' ? { cleanup: [`${path}/${name}`] } : {}) });
  // Whoever runs first may set the status of a definition: the entries of the server itself are left out.
  const own = (b) => { const x = owners(b); return x.managedFields ? { managedFields: x.managedFields.filter((e) => e.manager !== 'kube-apiserver') } : x; };
  return [
    scenario(`apply-fields-post-${id}`, o('fields owned after POST'), [POST(path, object, { query: { fieldManager: 'm' }, pick: own })]),
    scenario(`apply-fields-apply-${id}`, o('fields owned after apply'), [APPLY(`${path}/${name}`, 'm', object, { pick: own })]),
  ];
};

const keys = [
  scenario('apply-fields-odd-keys', { section: '2.3', about: 'keys of maps stand in fieldsV1 as they are: dots, slashes, digits' }, [
    POST(CM, cm('c', { 'f.x': '1', '.a': '2', '-': '3', 1: '4', _: '5' }, { annotations: { 'a.b/c_d': '1', 'v.w': '2' }, labels: { 'x.io/y': '' } })),
  ]),
  scenario('apply-fields-sorted', { section: '2.3', about: 'order of the keys in fieldsV1: "." first, then f:, k:, v:; bytewise (the bytes of the answer)' }, [
    POST(CM, cm('c', { b: '1', a: '1', B: '1', 10: '1', 9: '1', aa: '1' }), { text: true, pick: (t) => /"fieldsV1":(\{.*?\}\}\})/.exec(t)?.[1] ?? t }),
  ]),
  scenario('apply-fields-numeric-keys', { section: '2.3', about: 'numbers and booleans in keys of list items' }, [
    POST('/api/v1/namespaces/$ns/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [box('web', { ports: [{ containerPort: 65535, protocol: 'SCTP' }, { containerPort: 1 }] })] } }, { pick: owners }),
  ]),
  scenario('apply-fields-secret-patch', { section: '2.3', about: 'a key added to a secret by a patch' }, [
    POST(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'MQ==' } }, { pick: owners }), PATCH(`${SECRET}/s`, 'merge', { data: { '.dot': 'MQ==' } }, { pick: owners, query: { fieldManager: 'two' } }),
  ]),
];

export default [...namespaced.flatMap((k) => both(k, 'namespace')), ...cluster.flatMap((k) => both(k, 'cluster')), ...keys];
