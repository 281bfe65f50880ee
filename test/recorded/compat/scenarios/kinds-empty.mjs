// Empty is not absent: where an update compares structs as Go has them, what a pointer points to counts although it is empty; where it compares
// lists and maps, mostly not. And what else updates of kinds do that only a comparison shows.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';

const core = (resource) => `/api/v1/namespaces/$ns/${resource}`;
const of = (group, resource) => `/apis/${group}/namespaces/$ns/${resource}`;
const container = { name: 'c', image: 'i' };
const pod = { containers: [container] };
const template = { metadata: { labels: { a: 'b' } }, spec: pod };
const workload = { selector: { matchLabels: { a: 'b' } }, template };
const once = { ...template, spec: { ...pod, restartPolicy: 'Never' } };
const shown = (body) => (body.kind === 'Status' ? { reason: body.reason, causes: body.details?.causes?.map(({ field, reason, message }) => `${field} ${reason} ${message.split('\n')[0].slice(0, 34)}`) } : { generation: body.metadata.generation, resourceVersion: body.metadata.resourceVersion, spec: body.spec, data: body.data });
const compareHeaders = ['warning'];
const patch = (path, body, options = {}) => PATCH(path, 'merge', body, { pick: shown, compareHeaders, ...options });
const changes = (id, path, object, patches, options = {}) =>
  scenario(`kinds-empty-${id}`, { section: 'updates', ...options }, [POST(path, object, { pick: shown, compareHeaders }), ...patches.map((body) => patch(`${path}/${object.metadata.name}`, body)), GET(`${path}/${object.metadata.name}`, { pick: shown })]);
const object = (apiVersion, kind, rest, name = 'x') => ({ apiVersion, kind, metadata: { name }, ...rest });
const cluster = (path, name = '$ns-x') => ({ namespace: false, cleanup: [`${path}/${name}`] });

export default [
  changes('pod', core('pods'), object('v1', 'Pod', { spec: pod }), [
    { spec: { affinity: {} } }, { spec: { dnsConfig: {} } }, { spec: { tolerations: null } }, { spec: { volumes: [] } }, { spec: { nodeSelector: {} } }, { spec: { containers: [{ ...container, resources: {} }] } }, { spec: { containers: [{ ...container, securityContext: {} }] } }, { spec: { overhead: {} } }, { spec: { os: {} } }, { spec: { hostAliases: [] } }, { spec: { containers: [{ ...container, lifecycle: {} }] } }, { spec: { schedulingGates: [] } },
  ]),
  changes('configmap', core('configmaps'), object('v1', 'ConfigMap', { immutable: true }), [{ binaryData: {} }, { data: {} }, { data: null }, { metadata: { labels: {} } }]),
  changes('configmap-data', core('configmaps'), object('v1', 'ConfigMap', { immutable: true, data: { a: 'b' } }), [{ binaryData: {} }, { data: { a: 'b' } }, { data: { a: null } }]),
  changes('secret', core('secrets'), object('v1', 'Secret', { immutable: true }), [{ data: {} }, { stringData: {} }, { data: null }]),
  changes('networkpolicy', of('networking.k8s.io/v1', 'networkpolicies'), object('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }), [{ spec: { ingress: [] } }, { spec: { egress: [] } }, { spec: { podSelector: { matchLabels: {} } } }, { spec: { policyTypes: [] } }, { metadata: { labels: { a: 'b' } } }]),
  changes('ingress', of('networking.k8s.io/v1', 'ingresses'), object('networking.k8s.io/v1', 'Ingress', { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }), [{ spec: { tls: [] } }, { spec: { rules: [] } }, { spec: { tls: [{}] } }]),
  changes('poddisruptionbudget', of('policy/v1', 'poddisruptionbudgets'), object('policy/v1', 'PodDisruptionBudget', { spec: {} }), [{ spec: { selector: {} } }, { spec: { selector: { matchLabels: {} } } }, { spec: { selector: null } }]),
  changes('deployment', of('apps/v1', 'deployments'), object('apps/v1', 'Deployment', { spec: workload }), [{ spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { volumes: [] } } } }, { spec: { strategy: {} } }, { metadata: { annotations: {} } }, { spec: { template: { metadata: { annotations: {} } } } }, { spec: { selector: { matchExpressions: [] } } }]),
  changes('statefulset', of('apps/v1', 'statefulsets'), object('apps/v1', 'StatefulSet', { spec: { ...workload, serviceName: 's' } }), [{ spec: { volumeClaimTemplates: [] } }, { spec: { ordinals: {} } }, { spec: { template: { spec: { affinity: {} } } } }, { spec: { updateStrategy: {} } }]),
  changes('daemonset', of('apps/v1', 'daemonsets'), object('apps/v1', 'DaemonSet', { spec: workload }), [{ spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { nodeSelector: {} } } } }, { spec: { updateStrategy: {} } }]),
  changes('replicaset', of('apps/v1', 'replicasets'), object('apps/v1', 'ReplicaSet', { spec: workload }), [{ spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { imagePullSecrets: [] } } } }]),
  changes('replicationcontroller', core('replicationcontrollers'), object('v1', 'ReplicationController', { spec: { selector: { a: 'b' }, template } }), [{ spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { imagePullSecrets: [] } } } }]),
  changes('job', of('batch/v1', 'jobs'), object('batch/v1', 'Job', { spec: { template: once } }), [{}, { spec: { podFailurePolicy: {} } }, { spec: { successPolicy: {} } }, { spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { volumes: [] } } } }, { metadata: { labels: { a: 'b' } } }]),
  changes('job-suspended', of('batch/v1', 'jobs'), object('batch/v1', 'Job', { spec: { suspend: true, template: once } }), [{ spec: { template: { spec: { affinity: {} } } } }, { spec: { template: { spec: { nodeSelector: {} } } } }, { spec: { template: { spec: { affinity: { nodeAffinity: {} } } } } }, {}]),
  changes('cronjob', of('batch/v1', 'cronjobs'), object('batch/v1', 'CronJob', { spec: { schedule: '@daily', jobTemplate: { spec: { template: once } } } }), [{}, { spec: { jobTemplate: { metadata: {} } } }, { spec: { jobTemplate: { spec: { template: { spec: { affinity: {} } } } } } }]),
  changes('claim', core('persistentvolumeclaims'), object('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }), [{}, { spec: { selector: {} } }, { spec: { resources: { limits: {} } } }, { metadata: { labels: { a: 'b' } } }, { spec: { dataSource: {} } }]),
  changes('claim-source', core('persistentvolumeclaims'), object('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'y' } } }), [{}, { spec: { dataSource: { apiGroup: 'c' } } }, { spec: { dataSource: null } }, { spec: { dataSourceRef: null } }, { spec: { dataSource: null, dataSourceRef: null } }, { spec: { dataSourceRef: { apiGroup: '' } } }]),
  changes('volume', '/api/v1/persistentvolumes', object('v1', 'PersistentVolume', { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } } }, '$ns-x'), [{}, { spec: { nodeAffinity: {} } }, { spec: { mountOptions: [] } }, { spec: { claimRef: {} } }], cluster('/api/v1/persistentvolumes')),
  changes('csinode', '/apis/storage.k8s.io/v1/csinodes', object('storage.k8s.io/v1', 'CSINode', { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } }, '$ns-x'), [{ spec: { drivers: [{ name: 'd', nodeID: 'n', allocatable: {} }] } }, { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: [] }] } }], cluster('/apis/storage.k8s.io/v1/csinodes')),
  changes('csidriver', '/apis/storage.k8s.io/v1/csidrivers', object('storage.k8s.io/v1', 'CSIDriver', { spec: {} }, '$ns-x'), [{ spec: { volumeLifecycleModes: [] } }, { spec: { tokenRequests: [] } }, { spec: { volumeLifecycleModes: null } }], cluster('/apis/storage.k8s.io/v1/csidrivers')),
  changes('storageclass', '/apis/storage.k8s.io/v1/storageclasses', object('storage.k8s.io/v1', 'StorageClass', { provisioner: 'p' }, '$ns-x'), [{ parameters: {} }, { mountOptions: [] }, { allowedTopologies: [] }], cluster('/apis/storage.k8s.io/v1/storageclasses')),
  changes('volumeattachment', '/apis/storage.k8s.io/v1/volumeattachments', object('storage.k8s.io/v1', 'VolumeAttachment', { spec: { attacher: 'd', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }, '$ns-x'), [{ spec: { source: { inlineVolumeSpec: {} } } }, {}], cluster('/apis/storage.k8s.io/v1/volumeattachments')),
  changes('webhooks', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', object('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', {}, '$ns-x'), [{ webhooks: [] }, { webhooks: [] }], cluster('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations')),
  changes('endpointslice', of('discovery.k8s.io/v1', 'endpointslices'), object('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }] }), [{ ports: [] }, { endpoints: [{ addresses: ['10.0.0.1'], conditions: {} }] }, { endpoints: [{ addresses: ['10.0.0.1'], hints: {} }] }, { endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: {} }] }]),
  changes('podtemplate', core('podtemplates'), object('v1', 'PodTemplate', { template }), [{ template: { spec: { affinity: {} } } }, { template: { spec: { volumes: [] } } }]),
  changes('hpa', of('autoscaling/v2', 'horizontalpodautoscalers'), object('autoscaling/v2', 'HorizontalPodAutoscaler', { spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3 } }), [{ spec: { metrics: [] } }, { spec: { behavior: {} } }, {}]),
  // What is told about Pods and templates, and when.
  changes('warnings-deployment', of('apps/v1', 'deployments'), object('apps/v1', 'Deployment', { spec: { ...workload, template: { ...template, spec: { containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } } }), [{ spec: { paused: true } }, { metadata: { labels: { a: 'b' } } }, { metadata: { annotations: { a: 'b' } } }]),
  changes('warnings-daemonset', of('apps/v1', 'daemonsets'), object('apps/v1', 'DaemonSet', { spec: { ...workload, template: { ...template, spec: { containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } } }), [{ spec: { minReadySeconds: 3 } }, { spec: { template: { metadata: { labels: { c: 'd' } } } } }, {}]),
  changes('warnings-replicationcontroller', core('replicationcontrollers'), object('v1', 'ReplicationController', { spec: { selector: { a: 'b' }, template: { ...template, spec: { containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } } }), [{ spec: { replicas: 3 } }, { spec: { template: { spec: pod } } }, { spec: { replicas: 4 } }, {}]),
  changes('warnings-statefulset', of('apps/v1', 'statefulsets'), object('apps/v1', 'StatefulSet', { spec: { ...workload, serviceName: 's', volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } } }] } }), [{ spec: { replicas: 3 } }, {}, { spec: { revisionHistoryLimit: -1 } }]),
  changes('warnings-cronjob', of('batch/v1', 'cronjobs'), object('batch/v1', 'CronJob', { spec: { schedule: '@daily', jobTemplate: { spec: { template: { ...once, spec: { ...once.spec, containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } } } } }), [{ spec: { suspend: true } }, { metadata: { labels: { a: 'b' } } }]),
  changes('warnings-job', of('batch/v1', 'jobs'), object('batch/v1', 'Job', { spec: { template: { ...once, spec: { ...once.spec, containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } } }), [{ spec: { suspend: true } }, { metadata: { labels: { a: 'b' } } }]),
  changes('warnings-podtemplate', core('podtemplates'), object('v1', 'PodTemplate', { template: { ...template, spec: { containers: [{ ...container, env: [{ name: 'A' }, { name: 'A' }] }] } } }), [{ metadata: { labels: { a: 'b' } } }, { template: { metadata: { labels: { a: 'c' } } } }]),
  changes('warnings-claim', core('persistentvolumeclaims'), object('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' }, limits: { storage: '1u' } } } }), [{}, { metadata: { labels: { a: 'b' } } }]),
  changes('warnings-node', '/api/v1/nodes', object('v1', 'Node', { spec: { externalID: 'e', podCIDRs: ['10.001.0.0/16'] } }, '$ns-x'), [{}, { metadata: { labels: { a: 'b' } } }], cluster('/api/v1/nodes')),
  changes('warnings-node-cidr', '/api/v1/nodes', object('v1', 'Node', { spec: { externalID: 'e', podCIDRs: ['10.1.0.1/16'] } }, '$ns-x'), [{}], cluster('/api/v1/nodes')),
  changes('warnings-service-headless', core('services'), object('v1', 'Service', { spec: { clusterIP: 'None', externalIPs: ['10.9.9.1'], sessionAffinity: 'ClientIP', ports: [{ port: 80 }] } }), [{ metadata: { labels: { a: 'b' } } }]),
  changes('service-families', core('services'), object('v1', 'Service', { spec: { clusterIP: 'None', ipFamilies: ['IPv6'], selector: { a: 'b' } } }), [{ metadata: { labels: { a: 'b' } } }]),
  scenario('kinds-empty-service-families-put', { section: 'updates' }, [
    POST(core('services'), object('v1', 'Service', { spec: { clusterIP: 'None', ipFamilies: ['IPv6'] } }), { id: 'made', pick: shown }),
    PUT(`${core('services')}/x`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x', resourceVersion: '${made.metadata.resourceVersion}' } }, { pick: shown }),
    PUT(`${core('services')}/x`, { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: { clusterIP: 'None' } }, { pick: shown }),
  ]),
  ...['a'.repeat(64), `${'a'.repeat(64)}:1`, `x/${'a'.repeat(64)}`, 'A'.repeat(64), 'a'.repeat(63)].map((image, at) => changes(`image-${at}`, core('pods'), object('v1', 'Pod', { spec: { containers: [{ name: 'c', image }] } }), [])),
];
