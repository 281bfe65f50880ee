// Strategic merge patch: which lists of which kinds merge, and by which key.
import { scenario, POST, PATCH } from '../steps.ts';
import { box } from './kit/apply.mjs';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [box()] } };
const selector = { matchLabels: { app: 'web' } };
const uid = (n) => `11111111-2222-3333-4444-${String(n).repeat(12)}`;
const at = (b, path) => path.split('.').reduce((o, k) => o?.[k], b) ?? null;
const base = (gv) => (gv === 'v1' ? '/api/v1' : `/apis/${gv}`);

/** id, about, apiVersion, kind, plural, object, patch, path of the list in the answer, subresource */
const cases = [
  ['node-taints', 'taints of a node are replaced', 'v1', 'Node', 'nodes', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }, { spec: { taints: [{ key: 'b', effect: 'NoExecute' }] } }, 'spec.taints'],
  ['node-pod-cidrs', 'pod CIDRs of a node are a set: a new one comes first, differs from podCIDR and is dropped', 'v1', 'Node', 'nodes', { spec: { podCIDR: '10.5.0.0/24', podCIDRs: ['10.5.0.0/24'] } }, { spec: { podCIDRs: ['fd00::/64'] } }, 'spec.podCIDRs'],
  ['service-account-secrets', 'secrets of a service account merge by name', 'v1', 'ServiceAccount', 'serviceaccounts', { secrets: [{ name: 'a' }], imagePullSecrets: [{ name: 'x' }] }, { secrets: [{ name: 'b' }] }, 'secrets'],
  ['service-account-pull-secrets', 'image pull secrets of a service account are replaced', 'v1', 'ServiceAccount', 'serviceaccounts', { imagePullSecrets: [{ name: 'x' }] }, { imagePullSecrets: [{ name: 'y' }] }, 'imagePullSecrets'],
  ['service-external-ips', 'external IPs of a service are replaced', 'v1', 'Service', 'services', { spec: { clusterIP: 'None', selector: { a: 'b' }, ports: [{ port: 80 }], externalIPs: ['10.9.9.1'] } }, { spec: { externalIPs: ['10.9.9.2'] } }, 'spec.externalIPs'],
  ['service-selector', 'the selector of a service merges key by key', 'v1', 'Service', 'services', { spec: { clusterIP: 'None', selector: { a: 'b' }, ports: [{ port: 80 }] } }, { spec: { selector: { c: 'd' } } }, 'spec.selector'],
  ['endpoints-subsets', 'subsets of endpoints are replaced', 'v1', 'Endpoints', 'endpoints', { subsets: [{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port: 80 }] }] }, { subsets: [{ addresses: [{ ip: '10.1.1.2' }], ports: [{ port: 81 }] }] }, 'subsets'],
  ['role-rules', 'rules of a role are replaced', 'rbac.authorization.k8s.io/v1', 'Role', 'roles', { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }, { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }] }, 'rules'],
  ['role-binding-subjects', 'subjects of a role binding are replaced', 'rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 'a', namespace: '$ns' }] }, { subjects: [{ kind: 'ServiceAccount', name: 'b', namespace: '$ns' }] }, 'subjects'],
  ['ingress-rules', 'rules of an ingress are replaced', 'networking.k8s.io/v1', 'Ingress', 'ingresses', { spec: { rules: [{ host: 'a.example.com' }] } }, { spec: { rules: [{ host: 'b.example.com' }] } }, 'spec.rules'],
  ['policy-ingress', 'ingress rules of a network policy are replaced', 'networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies', { spec: { podSelector: selector, ingress: [{ ports: [{ port: 1 }] }] } }, { spec: { ingress: [{ ports: [{ port: 2 }] }] } }, 'spec.ingress'],
  ['hpa-metrics', 'metrics of an autoscaler are replaced', 'autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 1 } } }] } }, { spec: { metrics: [{ type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 2 } } }] } }, 'spec.metrics'],
  ['endpoint-slice', 'endpoints of a slice are replaced', 'discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices', { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.1.1'] }] }, { endpoints: [{ addresses: ['10.1.1.2'] }] }, 'endpoints'],
  ['budget-selector', 'the selector of a disruption budget is replaced by its patch strategy', 'policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', { spec: { minAvailable: 1, selector: { matchLabels: { a: '1' }, matchExpressions: [{ key: 'k', operator: 'Exists' }] } } }, { spec: { selector: { matchLabels: { b: '2' } } } }, 'spec.selector'],
  ['quota-hard', 'hard limits of a quota merge key by key', 'v1', 'ResourceQuota', 'resourcequotas', { spec: { hard: { pods: '1' } } }, { spec: { hard: { services: '2' } } }, 'spec.hard'],
  ['limit-range', 'limits of a limit range are replaced', 'v1', 'LimitRange', 'limitranges', { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } }, { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } }, 'spec.limits'],
  ['stateful-set-ordinals', 'structs of a stateful set merge field by field', 'apps/v1', 'StatefulSet', 'statefulsets', { spec: { serviceName: 's', selector, template, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } } }, { spec: { updateStrategy: { rollingUpdate: { partition: 2 } }, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } } }, 'spec.updateStrategy'],
  ['cron-job', 'containers in the job template of a cron job merge by name', 'batch/v1', 'CronJob', 'cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [box()] } } } } } }, { spec: { jobTemplate: { spec: { template: { spec: { containers: [{ name: 'web', args: ['x'] }] } } } } } }, 'spec.jobTemplate.spec.template.spec.containers'],
  ['storage-class-parameters', 'parameters of a storage class merge and may not change: 422', 'storage.k8s.io/v1', 'StorageClass', 'storageclasses', { provisioner: 'x.io/p', parameters: { a: '1' } }, { parameters: { b: '2' } }, 'parameters'],
  ['webhooks', 'webhooks of a configuration merge by name', 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations',
    { webhooks: [{ name: 'a.example.com', clientConfig: { url: 'https://127.0.0.1:1/x' }, rules: [{ apiGroups: ['$ns.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] }], sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy: 'Ignore', namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } } }] },
    { webhooks: [{ name: 'a.example.com', timeoutSeconds: 3 }] }, 'webhooks'],
  ['pod-template-annotations', 'annotations of a pod template merge', 'apps/v1', 'DaemonSet', 'daemonsets', { spec: { selector, template } }, { spec: { template: { metadata: { annotations: { a: 'b' } } } } }, 'spec.template.metadata'],
  ['owner-references', 'owner references merge by uid', 'v1', 'ConfigMap', 'configmaps', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: uid(1) }] } }, { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'b', uid: uid(2) }] } }, 'metadata.ownerReferences'],
  ['node-addresses', 'addresses in the status of a node merge by type', 'v1', 'Node', 'nodes', {}, [{ status: { addresses: [{ type: 'InternalIP', address: '10.1.1.1' }, { type: 'Hostname', address: 'h' }] } }, { status: { addresses: [{ type: 'InternalIP', address: '10.1.1.2' }] } }], 'status.addresses', 'status'],
  ['node-conditions', 'conditions in the status of a node merge by type', 'v1', 'Node', 'nodes', {}, [{ status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Own', status: 'True' }] } }, { status: { conditions: [{ type: 'Own', status: 'False' }] } }], 'status.conditions', 'status'],
  ['node-capacity', 'capacity in the status of a node merges key by key', 'v1', 'Node', 'nodes', {}, [{ status: { capacity: { cpu: '1' } } }, { status: { capacity: { memory: '1Gi' }, images: [{ names: ['a'] }] } }], 'status.capacity', 'status'],
  ['pod-ips', 'pod IPs in the status of a pod merge by ip: a new one comes first, differs from podIP and is dropped', 'v1', 'Pod', 'pods', { spec: { containers: [box()] } }, [{ status: { podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }] } }, { status: { podIPs: [{ ip: 'fd00::1' }] } }], 'status.podIPs', 'status'],
  ['container-statuses', 'container statuses of a pod are replaced', 'v1', 'Pod', 'pods', { spec: { containers: [box()] } }, [{ status: { containerStatuses: [{ name: 'web', ready: false, restartCount: 1, image: 'i', imageID: '' }] } }, { status: { containerStatuses: [{ name: 'web', ready: true, restartCount: 2, image: 'j', imageID: '' }] } }], 'status.containerStatuses', 'status'],
  ['deployment-conditions', 'conditions of a deployment merge by type', 'apps/v1', 'Deployment', 'deployments', { spec: { selector, template } }, [{ status: { conditions: [{ type: 'A', status: 'True' }] } }, { status: { conditions: [{ type: 'B', status: 'True' }] } }], 'status.conditions', 'status'],
];

export default cases.map(([id, about, apiVersion, kind, plural, object, patches, path, subresource]) => {
  const cluster = ['nodes', 'storageclasses', 'validatingwebhookconfigurations'].includes(plural);
  const name = cluster ? '$ns-n' : 'n';
  const collection = `${base(apiVersion)}/${cluster ? '' : 'namespaces/$ns/'}${plural}`;
  return scenario(`patch-strategic-kinds-${id}`, { section: '4.7', about, ...(cluster ? { cleanup: [`${collection}/${name}`] } : {}) }, [
    POST(collection, { apiVersion, kind, ...object, metadata: { ...object.metadata, name } }, { compare: 'status' }),
    ...[patches].flat().map((p) => PATCH(`${collection}/${name}${subresource ? `/${subresource}` : ''}`, 'strategic', p, { pick: (b) => (b.kind === 'Status' && b.status === 'Failure' ? b : at(b, path)) })),
  ]);
});
