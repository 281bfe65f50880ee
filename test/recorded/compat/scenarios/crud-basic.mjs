// Create, read, update and delete of single objects and collections: status codes and bodies of the plain paths.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const ns = (group) => `/apis/${group}/namespaces/$ns`;
const cms = `${core}/configmaps`;
const cm = (name, data = { a: '1' }, meta = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });
const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { app: 'x' } }, spec: pod };
const selector = { matchLabels: { app: 'x' } };
const about = (text, section = '4.2') => ({ section, about: text });

/** One valid minimal object for each kind that is quick to make: [collection path, object without name]. */
const namespaced = {
  configmaps: [core, { apiVersion: 'v1', kind: 'ConfigMap' }],
  secrets: [core, { apiVersion: 'v1', kind: 'Secret' }],
  serviceaccounts: [core, { apiVersion: 'v1', kind: 'ServiceAccount' }],
  services: [core, { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: 'None', selector: { app: 'x' } } }],
  endpoints: [core, { apiVersion: 'v1', kind: 'Endpoints' }],
  limitranges: [core, { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [{ type: 'Pod', max: { cpu: '8' } }] } }],
  resourcequotas: [core, { apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { pods: '100' } } }],
  podtemplates: [core, { apiVersion: 'v1', kind: 'PodTemplate', template }],
  pods: [core, { apiVersion: 'v1', kind: 'Pod', spec: pod }],
  replicationcontrollers: [core, { apiVersion: 'v1', kind: 'ReplicationController', spec: { selector: { app: 'x' }, template } }],
  persistentvolumeclaims: [core, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } } }],
  events: [core, { apiVersion: 'v1', kind: 'Event', involvedObject: { namespace: '$ns', kind: 'Pod', name: 'p' } }],
  deployments: [ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } }],
  replicasets: [ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector, template } }],
  daemonsets: [ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } }],
  statefulsets: [ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { selector, template, serviceName: 'x' } }],
  controllerrevisions: [ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 1, data: { a: 1 } }],
  jobs: [ns('batch/v1'), { apiVersion: 'batch/v1', kind: 'Job', spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } }],
  cronjobs: [ns('batch/v1'), { apiVersion: 'batch/v1', kind: 'CronJob', spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } } } }],
  horizontalpodautoscalers: [ns('autoscaling/v2'), { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } } }],
  ingresses: [ns('networking.k8s.io/v1'), { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }],
  networkpolicies: [ns('networking.k8s.io/v1'), { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } }],
  poddisruptionbudgets: [ns('policy/v1'), { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: { minAvailable: 1, selector } }],
  roles: [ns('rbac.authorization.k8s.io/v1'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', rules: [] }],
  rolebindings: [ns('rbac.authorization.k8s.io/v1'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }],
  leases: [ns('coordination.k8s.io/v1'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: {} }],
  endpointslices: [ns('discovery.k8s.io/v1'), { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints: [] }],
  csistoragecapacities: [ns('storage.k8s.io/v1'), { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', storageClassName: 's' }],
};
const cluster = {
  nodes: ['/api/v1', { apiVersion: 'v1', kind: 'Node' }],
  persistentvolumes: ['/api/v1', { apiVersion: 'v1', kind: 'PersistentVolume', spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }],
  clusterroles: ['/apis/rbac.authorization.k8s.io/v1', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] }],
  clusterrolebindings: ['/apis/rbac.authorization.k8s.io/v1', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-none' } }],
  storageclasses: ['/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'p.example.com' }],
  csidrivers: ['/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', spec: {} }],
  csinodes: ['/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', spec: { drivers: [] } }],
  volumeattachments: ['/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }],
  priorityclasses: ['/apis/scheduling.k8s.io/v1', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 5 }],
  runtimeclasses: ['/apis/node.k8s.io/v1', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'h' }],
  ingressclasses: ['/apis/networking.k8s.io/v1', { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', spec: { controller: 'example.com/c' } }],
  validatingwebhookconfigurations: ['/apis/admissionregistration.k8s.io/v1', { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', webhooks: [] }],
  mutatingwebhookconfigurations: ['/apis/admissionregistration.k8s.io/v1', { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', webhooks: [] }],
};
const kinds = [
  ...Object.entries(namespaced).map(([r, [base, o]]) => ({ r, at: `${base}/${r}`, name: 'x', o, namespaced: true })),
  ...Object.entries(cluster).map(([r, [base, o]]) => ({ r, at: `${base}/${r}`, name: '$ns-x', o, namespaced: false })),
];
const named = (k, meta = {}) => ({ ...k.o, metadata: { name: k.name, ...meta } });
const scope = (k) => (k.namespaced ? {} : { namespace: false, cleanup: [`${k.at}/${k.name}`] });

export default [
  scenario('crud-basic-configmap-life', about('a ConfigMap is created (201), read, replaced (200), deleted (200 with a Status) and then gone (404)'), [
    POST(cms, cm('c'), { id: 'made', compareHeaders: ['content-type', 'location', 'cache-control', 'warning'] }),
    GET(`${cms}/c`, { compareHeaders: ['content-type', 'cache-control', 'etag', 'vary'] }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '${made.metadata.resourceVersion}' })),
    GET(`${cms}/c`),
    DELETE(`${cms}/c`),
    GET(`${cms}/c`),
    DELETE(`${cms}/c`),
    PUT(`${cms}/c`, cm('c')),
    PATCH(`${cms}/c`, 'merge', { data: { a: '3' } }),
  ]),
  scenario('crud-basic-secret-life', about('a Secret is created, read, replaced and deleted'), [
    POST(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'MQ==' } }),
    GET(`${core}/secrets/s`),
    PUT(`${core}/secrets/s`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'Mg==' } }),
    DELETE(`${core}/secrets/s`),
    GET(`${core}/secrets/s`),
  ]),
  scenario('crud-basic-deployment-life', about('a Deployment gets its defaults on create; its delete Status names the group'), [
    POST(`${ns('apps/v1')}/deployments`, { ...namespaced.deployments[1], metadata: { name: 'd' } }, { id: 'd' }),
    PUT(`${ns('apps/v1')}/deployments/d`, { ...namespaced.deployments[1], metadata: { name: 'd' }, spec: { replicas: 3, selector, template } }),
    GET(`${ns('apps/v1')}/deployments/d`),
    DELETE(`${ns('apps/v1')}/deployments/d`),
    GET(`${ns('apps/v1')}/deployments/d`),
  ]),
  scenario('crud-basic-lease-life', about('a Lease keeps microsecond times through create and update'), [
    POST(`${ns('coordination.k8s.io/v1')}/leases`, { ...namespaced.leases[1], metadata: { name: 'l' }, spec: { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: '2020-01-02T03:04:05.123456Z', renewTime: '2020-01-02T03:04:05.000000Z', leaseTransitions: 0 } }, { id: 'l' }),
    PUT(`${ns('coordination.k8s.io/v1')}/leases/l`, { ...namespaced.leases[1], metadata: { name: 'l', resourceVersion: '${l.metadata.resourceVersion}' }, spec: { holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: '2020-01-02T03:04:06.5+01:00' } }),
    PUT(`${ns('coordination.k8s.io/v1')}/leases/l`, { ...namespaced.leases[1], metadata: { name: 'l', resourceVersion: '${l.metadata.resourceVersion}' }, spec: { holderIdentity: 'you', leaseDurationSeconds: 15, renewTime: '2020-01-02T03:04:06.500000+01:00' } }),
    DELETE(`${ns('coordination.k8s.io/v1')}/leases/l`),
  ]),
  scenario('crud-basic-namespace-life', { ...about('a Namespace is created Active, turns Terminating on delete, and goes when its finalizers are emptied'), namespace: false }, [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-a' } }, { id: 'n' }),
    GET('/api/v1/namespaces/$ns-a'),
    PUT('/api/v1/namespaces/$ns-a', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-a', labels: { x: 'y' } } }),
    DELETE('/api/v1/namespaces/$ns-a'),
    DELETE('/api/v1/namespaces/$ns-a'),
    PUT('/api/v1/namespaces/$ns-a/finalize', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-a' }, spec: { finalizers: [] } }),
    GET('/api/v1/namespaces/$ns-a'),
  ]),
  scenario('crud-basic-name-reuse', about('after deletion the name can be used again; the new object has another uid', '2.1'), [
    POST(cms, cm('c')),
    POST(cms, cm('c')),
    DELETE(`${cms}/c`),
    POST(cms, cm('c', { b: '1' })),
  ]),
  scenario('crud-basic-already-exists', about('a second create of the same name is 409 AlreadyExists, with the group in message and details'), [
    POST(cms, cm('c')),
    POST(cms, cm('c', { other: 'data' })),
    POST(`${ns('coordination.k8s.io/v1')}/leases`, { ...namespaced.leases[1], metadata: { name: 'c' } }),
    POST(`${ns('coordination.k8s.io/v1')}/leases`, { ...namespaced.leases[1], metadata: { name: 'c' } }),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns' } }),
  ]),
  scenario('crud-basic-already-exists-invalid', about('an invalid object is reported as invalid even when the name is taken'), [
    POST(cms, cm('c')),
    POST(cms, cm('c', { 'bad key': 'x' })),
  ]),
  scenario('crud-basic-already-exists-terminating', about('creating over an object that waits for its finalizers says that it is being deleted'), [
    POST(cms, cm('c', {}, { finalizers: ['example.com/hold'] })),
    DELETE(`${cms}/c`),
    POST(cms, cm('c')),
    PATCH(`${cms}/c`, 'merge', { metadata: { finalizers: null } }),
    GET(`${cms}/c`),
  ]),
  scenario('crud-basic-same-name-other-kind', about('names are unique per kind, not across kinds', '2.1'), [
    POST(cms, cm('same')),
    POST(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'same' } }),
    POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'same' } }),
  ]),
  scenario('crud-basic-same-name-other-namespace', { ...about('names are unique per namespace', '2.1'), cleanup: ['/api/v1/namespaces/$ns-b'] }, [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-b' } }, { compare: 'status' }),
    POST(cms, cm('c', { in: 'a' })),
    POST('/api/v1/namespaces/$ns-b/configmaps', cm('c', { in: 'b' })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-basic-event-two-groups', about('a core Event can be read through events.k8s.io, under the same name'), [
    POST(`${core}/events`, { ...namespaced.events[1], metadata: { name: 'e' }, reason: 'Made', message: 'm', type: 'Normal', firstTimestamp: '2020-01-02T03:04:05Z', lastTimestamp: '2020-01-02T03:04:06Z', count: 2, source: { component: 'c', host: 'h' } }),
    GET(`${ns('events.k8s.io/v1')}/events/e`),
    DELETE(`${ns('events.k8s.io/v1')}/events/e`),
    GET(`${core}/events/e`),
  ]),

  // The answer to a delete: the object for some kinds, a Status for the others; and what a create and a read of each kind look like.
  ...kinds.map((k) => scenario(`crud-basic-kind-${k.r}`, { ...about(`${k.r}: create, list by name, delete and read again`), ...scope(k) }, [
    POST(k.at, named(k)),
    GET(`${k.at}?fieldSelector=metadata.name=${k.name}`, { pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, names: b.items?.map((i) => i.metadata.name), keys: Object.keys(b.items?.[0] ?? {}) }) }),
    DELETE(`${k.at}/${k.name}`),
    GET(`${k.at}/${k.name}`),
    DELETE(`${k.at}/${k.name}`),
    // What a finalizer of its own keeps goes once that is taken away.
    ...(['persistentvolumes', 'persistentvolumeclaims', 'jobs', 'replicationcontrollers'].includes(k.r) ? [PATCH(`${k.at}/${k.name}`, 'merge', { metadata: { finalizers: null } }), GET(`${k.at}/${k.name}`)] : []),
  ])),

  scenario('crud-basic-deletecollection-all', about('deletecollection answers with the list of what was there'), [
    POST(cms, cm('b')), POST(cms, cm('a')),
    DELETE(cms),
    GET(cms),
    DELETE(cms),
  ]),
  scenario('crud-basic-deletecollection-selector', about('deletecollection takes label and field selectors'), [
    POST(cms, cm('a', {}, { labels: { k: '1' } }), { compare: 'status' }),
    POST(cms, cm('b', {}, { labels: { k: '2' } }), { compare: 'status' }),
    POST(cms, cm('c', {}, { labels: { k: '2' } }), { compare: 'status' }),
    DELETE(`${cms}?labelSelector=k%3D1`),
    DELETE(`${cms}?fieldSelector=metadata.name%3Dc`),
    GET(cms),
  ]),
  scenario('crud-basic-deletecollection-limit', about('deletecollection with a limit deletes that page only'), [
    ...['a', 'b', 'c'].map((n) => POST(cms, cm(n), { compare: 'status' })),
    DELETE(`${cms}?limit=2`),
    GET(cms),
  ]),
  scenario('crud-basic-deletecollection-finalizers', about('deletecollection leaves objects with finalizers terminating and answers with the items as listed'), [
    POST(cms, cm('a', {}, { finalizers: ['example.com/hold'] })),
    DELETE(cms),
    GET(`${cms}/a`),
    PATCH(`${cms}/a`, 'merge', { metadata: { finalizers: [] } }),
    GET(`${cms}/a`),
  ]),
  scenario('crud-basic-deletecollection-body', about('deletecollection applies the DeleteOptions of its body to each item'), [
    POST(cms, cm('a'), { compare: 'status' }),
    DELETE(cms, { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' }),
    GET(`${cms}/a`),
    PATCH(`${cms}/a`, 'merge', { metadata: { finalizers: [] } }),
  ]),
  scenario('crud-basic-deletecollection-precondition', about('a failing precondition of one item fails the deletecollection'), [
    POST(cms, cm('a'), { compare: 'status' }),
    DELETE(cms, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'nope' } }),
    GET(`${cms}/a`, { compare: 'status' }),
  ]),
  scenario('crud-basic-deletecollection-unsupported', { ...about('namespaces and events across groups: deletecollection is refused for namespaces') }, [
    DELETE('/api/v1/namespaces?labelSelector=none%3D$ns'),
    DELETE('/api/v1/services'),
    DELETE('/api/v1/configmaps?labelSelector=none%3D$ns'),
  ]),
  scenario('crud-basic-deletecollection-services', about('services have deletecollection'), [
    POST(`${core}/services`, { ...namespaced.services[1], metadata: { name: 's' } }),
    DELETE(`${core}/services`),
    GET(`${core}/services`),
  ]),
  scenario('crud-basic-list-empty', about('an empty collection has an empty items list, not null'), [
    GET(cms, { compareHeaders: ['content-type', 'cache-control'] }),
    GET(`${ns('apps/v1')}/deployments`),
    GET('/api/v1/namespaces/$ns-none/configmaps'),
  ]),
  scenario('crud-basic-get-missing', about('reads of what is not there are 404 with name, group and resource'), [
    GET(`${cms}/none`),
    GET(`${ns('apps/v1')}/deployments/none`),
    GET(`${ns('apps/v1')}/deployments/none/status`),
    GET(`${ns('apps/v1')}/deployments/none/scale`),
    GET('/api/v1/namespaces/$ns-none'),
    GET('/api/v1/namespaces/$ns-none/configmaps/x'),
    GET('/api/v1/nodes/$ns-none'),
    GET(`${core}/pods/none/log`),
    GET('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$ns.none'),
    GET('/apis/apiregistration.k8s.io/v1/apiservices/$ns.none'),
  ]),
  scenario('crud-basic-status-ignored', about('status sent on create and on update of the main resource is ignored'), [
    POST(`${ns('apps/v1')}/deployments`, { ...namespaced.deployments[1], metadata: { name: 'd' }, status: { replicas: 7 } }, { pick: (b) => b.status }),
    PUT(`${ns('apps/v1')}/deployments/d`, { ...namespaced.deployments[1], metadata: { name: 'd' }, status: { replicas: 7 } }, { pick: (b) => b.status }),
    PUT(`${ns('apps/v1')}/deployments/d/status`, { ...namespaced.deployments[1], metadata: { name: 'd' }, spec: { replicas: 9, selector, template }, status: { replicas: 7 } }, { pick: (b) => [b.spec.replicas, b.status, b.metadata.generation] }),
  ]),
];
