// PUT: resource versions, uids, creation by PUT, system fields that a client cannot set.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const ns = (group) => `/apis/${group}/namespaces/$ns`;
const cms = `${core}/configmaps`;
const cm = (name, data = { a: '1' }, meta = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...meta }, data });
const leases = `${ns('coordination.k8s.io/v1')}/leases`;
const lease = (name, meta = {}, spec = {}) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, ...meta }, spec });
const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { app: 'x' } }, spec: pod };
const selector = { matchLabels: { app: 'x' } };
const about = (text, section = '4.7') => ({ section, about: text });
const someUid = '11111111-2222-4333-8444-555555555555';

/** [resource, base path, minimal object]; the object's name is x, or $ns-x where there is no namespace. */
const rbac = 'rbac.authorization.k8s.io/v1';
const admission = 'admissionregistration.k8s.io/v1';
const kinds = [
  ['configmaps', core, { apiVersion: 'v1', kind: 'ConfigMap' }],
  ['secrets', core, { apiVersion: 'v1', kind: 'Secret' }],
  ['serviceaccounts', core, { apiVersion: 'v1', kind: 'ServiceAccount' }],
  ['services', core, { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: 'None', selector: { app: 'x' } } }],
  ['endpoints', core, { apiVersion: 'v1', kind: 'Endpoints' }],
  ['limitranges', core, { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [] } }],
  ['resourcequotas', core, { apiVersion: 'v1', kind: 'ResourceQuota', spec: {} }],
  ['podtemplates', core, { apiVersion: 'v1', kind: 'PodTemplate', template }],
  ['pods', core, { apiVersion: 'v1', kind: 'Pod', spec: { ...pod, tolerations: [] } }],
  ['replicationcontrollers', core, { apiVersion: 'v1', kind: 'ReplicationController', spec: { selector: { app: 'x' }, template } }],
  ['persistentvolumeclaims', core, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } } }],
  ['events', core, { apiVersion: 'v1', kind: 'Event', involvedObject: { namespace: '$ns' } }],
  ['deployments', ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } }],
  ['replicasets', ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector, template } }],
  ['daemonsets', ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } }],
  ['statefulsets', ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { selector, template, serviceName: 'x' } }],
  ['controllerrevisions', ns('apps/v1'), { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 1, data: { a: 1 } }],
  ['jobs', ns('batch/v1'), { apiVersion: 'batch/v1', kind: 'Job', spec: { manualSelector: true, selector, template: { metadata: { labels: { app: 'x' } }, spec: { ...pod, restartPolicy: 'Never' } } } }],
  ['cronjobs', ns('batch/v1'), { apiVersion: 'batch/v1', kind: 'CronJob', spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } } } }],
  ['horizontalpodautoscalers', ns('autoscaling/v2'), { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }],
  ['ingresses', ns('networking.k8s.io/v1'), { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }],
  ['networkpolicies', ns('networking.k8s.io/v1'), { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } }],
  ['poddisruptionbudgets', ns('policy/v1'), { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: { minAvailable: 1, selector } }],
  ['roles', ns(rbac), { apiVersion: rbac, kind: 'Role', rules: [] }],
  ['rolebindings', ns(rbac), { apiVersion: rbac, kind: 'RoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }],
  ['leases', ns('coordination.k8s.io/v1'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: {} }],
  ['endpointslices', ns('discovery.k8s.io/v1'), { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints: [] }],
  ['csistoragecapacities', ns('storage.k8s.io/v1'), { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', storageClassName: 's' }],
  ['namespaces', '/api/v1', { apiVersion: 'v1', kind: 'Namespace' }],
  ['nodes', '/api/v1', { apiVersion: 'v1', kind: 'Node' }],
  ['persistentvolumes', '/api/v1', { apiVersion: 'v1', kind: 'PersistentVolume', spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }],
  ['clusterroles', `/apis/${rbac}`, { apiVersion: rbac, kind: 'ClusterRole', rules: [] }],
  ['clusterrolebindings', `/apis/${rbac}`, { apiVersion: rbac, kind: 'ClusterRoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-none' } }],
  ['storageclasses', '/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'p.example.com' }],
  ['csidrivers', '/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', spec: {} }],
  ['csinodes', '/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', spec: { drivers: [] } }],
  ['volumeattachments', '/apis/storage.k8s.io/v1', { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }],
  ['priorityclasses', '/apis/scheduling.k8s.io/v1', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 5 }],
  ['runtimeclasses', '/apis/node.k8s.io/v1', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'h' }],
  ['ingressclasses', '/apis/networking.k8s.io/v1', { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', spec: { controller: 'example.com/c' } }],
  ['validatingwebhookconfigurations', `/apis/${admission}`, { apiVersion: admission, kind: 'ValidatingWebhookConfiguration', webhooks: [] }],
  ['mutatingwebhookconfigurations', `/apis/${admission}`, { apiVersion: admission, kind: 'MutatingWebhookConfiguration', webhooks: [] }],
  ['validatingadmissionpolicybindings', `/apis/${admission}`, { apiVersion: admission, kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: '$ns-none', validationActions: ['Audit'] } }],
].map(([r, base, o]) => ({ r, o, at: `${base}/${r}`, name: base.includes('/namespaces/$ns') ? 'x' : '$ns-x', scope: base.includes('/namespaces/$ns') ? {} : { namespace: false, cleanup: [`${base}/${r}/$ns-x`] } }));
const named = (k, meta = {}) => ({ ...k.o, metadata: { name: k.name, ...meta } });
/** The rest of the message is a diff of Go structures, whose layout is deliberately unstable. */
const firstLine = (b) => ({ ...b, message: b.message?.split('\n')[0], details: undefined });
const brief = (b) => (b.kind === 'Status' ? b : { kind: b.kind, name: b.metadata.name, resourceVersion: b.metadata.resourceVersion, labels: b.metadata.labels, generation: b.metadata.generation });

export default [
  // Which kinds PUT may create.
  ...kinds.map((k) => scenario(`crud-put-create-${k.r}`, { ...about(`PUT to a name of ${k.r} that does not exist: created (201) or 404`), ...k.scope }, [
    PUT(`${k.at}/${k.name}`, named(k)),
    GET(`${k.at}/${k.name}`, { pick: brief }),
  ])),
  // Which kinds PUT may replace without a resourceVersion.
  ...kinds.map((k) => scenario(`crud-put-no-version-${k.r}`, { ...about(`PUT of ${k.r} without a resourceVersion: unconditional or 422`), ...k.scope }, [
    POST(k.at, named(k), { id: 'made', compare: 'status' }),
    PUT(`${k.at}/${k.name}`, named(k, { labels: { l: '1' } }), { pick: brief }),
    PUT(`${k.at}/${k.name}`, named(k, { labels: { l: '2' }, resourceVersion: '1' }), { pick: brief }),
    ...(k.r === 'persistentvolumes' ? [PATCH(`${k.at}/${k.name}`, 'merge', { metadata: { finalizers: null } }, { compare: 'status' })] : []),
  ])),

  scenario('crud-put-version-current', about('PUT with the current resourceVersion succeeds and gives a new one'), [
    POST(cms, cm('c'), { id: 'made' }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '${made.metadata.resourceVersion}' })),
  ]),
  scenario('crud-put-version-stale', about('PUT with an old resourceVersion is 409 Conflict and changes nothing'), [
    POST(cms, cm('c'), { id: 'made' }),
    PUT(`${cms}/c`, cm('c', { a: '2' })),
    PUT(`${cms}/c`, cm('c', { a: '3' }, { resourceVersion: '${made.metadata.resourceVersion}' })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-put-version-stale-group', about('the conflict message of a named group carries resource.group'), [
    POST(leases, lease('l'), { compare: 'status' }),
    PUT(`${leases}/l`, lease('l', { resourceVersion: '1' })),
  ]),
  scenario('crud-put-version-future', about('PUT with a resourceVersion of the future is a conflict too'), [
    POST(cms, cm('c'), { compare: 'status' }),
    PUT(`${cms}/c`, cm('c', {}, { resourceVersion: '999999999999' })),
  ]),
  scenario('crud-put-version-zero', about('resourceVersion "0" counts as none'), [
    POST(cms, cm('c'), { compare: 'status' }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '0' })),
    POST(leases, lease('l'), { compare: 'status' }),
    PUT(`${leases}/l`, lease('l', { resourceVersion: '0' })),
  ]),
  scenario('crud-put-version-empty', about('resourceVersion "" counts as none'), [
    POST(cms, cm('c'), { compare: 'status' }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: '' })),
    POST(leases, lease('l'), { compare: 'status' }),
    PUT(`${leases}/l`, lease('l', { resourceVersion: '' })),
  ]),
  ...['abc', '-1', '1.5', ' 1', '0x10', '18446744073709551616', '007'].map((rv, i) => scenario(`crud-put-version-malformed-${i + 1}`, about(`PUT with the resourceVersion ${JSON.stringify(rv)}`), [
    POST(cms, cm('c'), { compare: 'status' }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { resourceVersion: rv })),
  ])),
  scenario('crud-put-version-missing-object', about('PUT with a resourceVersion to a name that does not exist: 404, or created all the same where PUT may create'), [
    PUT(`${cms}/c`, cm('c', {}, { resourceVersion: '1' })),
    PUT(`${leases}/l`, lease('l', { resourceVersion: '1' })),
    GET(`${leases}/l`),
  ]),
  scenario('crud-put-no-change', about('PUT of what is stored already keeps the resourceVersion'), [
    POST(cms, cm('c'), { id: 'made' }),
    PUT(`${cms}/c`, cm('c')),
    PUT(`${cms}/c`, cm('c', { a: '1' }, { resourceVersion: '${made.metadata.resourceVersion}' })),
    PUT(`${cms}/c`, cm('c'), { query: { fieldManager: 'other' } }),
    GET(`${cms}/c`),
  ]),
  scenario('crud-put-no-change-deployment', about('PUT of a Deployment without the defaulted fields is no change'), [
    POST(`${ns('apps/v1')}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector, template } }),
    PUT(`${ns('apps/v1')}/deployments/d`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector, template } }),
    PUT(`${ns('apps/v1')}/deployments/d`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector, template, paused: true } }),
  ]),
  scenario('crud-put-no-change-round-trip', about('PUT of exactly what GET answered is no change'), [
    POST(cms, cm('c'), { id: 'made', compare: 'status' }),
    PUT(`${cms}/c`, '${made}'),
  ]),
  scenario('crud-put-removes', about('PUT replaces: labels, annotations and data that are left out go away'), [
    POST(cms, cm('c', { a: '1', b: '2' }, { labels: { l: '1' }, annotations: { n: '1' } })),
    PUT(`${cms}/c`, cm('c', { b: '2' })),
  ]),
  scenario('crud-put-uid-match', about('PUT with the right uid succeeds'), [
    POST(cms, cm('c'), { id: 'made' }),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { uid: '${made.metadata.uid}' })),
  ]),
  scenario('crud-put-uid-mismatch', about('PUT with another uid is a 409 precondition failure naming the storage key'), [
    POST(cms, cm('c')),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { uid: someUid })),
    POST(leases, lease('l')),
    PUT(`${leases}/l`, lease('l', { uid: someUid })),
  ]),
  scenario('crud-put-uid-mismatch-stale', about('uid mismatch together with a stale resourceVersion: which is reported'), [
    POST(cms, cm('c')),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { uid: someUid, resourceVersion: '1' })),
  ]),
  scenario('crud-put-uid-missing-object', about('PUT with a uid to a name that does not exist is 409, not 404'), [
    PUT(`${cms}/c`, cm('c', {}, { uid: someUid })),
    PUT(`${leases}/l`, lease('l', { uid: someUid })),
    PUT(`${ns('apps/v1')}/deployments/d`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', uid: someUid }, spec: { selector, template } }),
  ]),
  scenario('crud-put-uid-mismatch-storage-keys', { ...about('the storage key in a uid precondition failure, for several kinds'), namespace: false, cleanup: ['/api/v1/nodes/$ns-x', '/api/v1/namespaces/$ns-x', `/apis/${rbac}/clusterroles/$ns-x`] }, [
    PUT('/api/v1/nodes/$ns-x', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-x', uid: someUid } }),
    PUT('/api/v1/namespaces/$ns-x', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-x', uid: someUid } }),
    PUT(`/apis/${rbac}/clusterroles/$ns-x`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns-x', uid: someUid } }),
    PUT('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/as.$ns.example.com', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'as.$ns.example.com', uid: someUid }, spec: { group: '$ns.example.com', scope: 'Namespaced', names: { plural: 'as', kind: 'A' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }),
    ...kinds.filter((k) => !k.scope.cleanup && ['services', 'endpoints', 'serviceaccounts', 'pods', 'replicationcontrollers', 'ingresses', 'roles', 'persistentvolumeclaims', 'events', 'endpointslices'].includes(k.r)).map((k) => PUT(`${k.at.replace('$ns', 'default')}/$ns-x`, { ...k.o, metadata: { name: '$ns-x', uid: someUid }, ...(k.r === 'events' ? { involvedObject: { namespace: 'default' } } : {}) })),
  ]),
  scenario('crud-put-uid-malformed', about('a uid need not look like one'), [
    POST(cms, cm('c')),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { uid: 'not a uid' })),
  ]),

  // System fields on create.
  scenario('crud-put-post-version', about('create with a resourceVersion: refused with 500 when it is a number other than 0; what is not a number is ignored'), [
    POST(cms, cm('a', {}, { resourceVersion: '1' })),
    POST(cms, cm('b', {}, { resourceVersion: '0' })),
    POST(cms, cm('c', {}, { resourceVersion: '' })),
    POST(cms, cm('d', {}, { resourceVersion: 'abc' })),
    POST(cms, cm('e', {}, { resourceVersion: '-1' })),
    POST(leases, lease('a', { resourceVersion: '12345' })),
  ]),
  scenario('crud-put-post-system-fields', about('create drops uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds and selfLink of the body'), [
    POST(cms, cm('c', {}, { uid: someUid, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 7, selfLink: '/x', generation: 5 })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-put-post-generation', about('generation in the body: kept for kinds that do not manage it, set to 1 for those that do, never negative'), [
    POST(cms, cm('a', {}, { generation: 5 }), { pick: (b) => b.metadata.generation }),
    POST(`${ns('apps/v1')}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd', generation: 5 }, spec: { selector, template } }, { pick: (b) => b.metadata.generation }),
    POST(cms, cm('b', {}, { generation: -1 })),
    PUT(`${cms}/a`, cm('a', {}, { generation: 9 }), { pick: (b) => b.metadata.generation }),
    PUT(`${cms}/a`, cm('a', {}, { generation: 1 }), { pick: (b) => b.metadata.generation ?? b }),
  ]),
  scenario('crud-put-system-fields', about('PUT keeps the stored creationTimestamp and drops selfLink; a deletionTimestamp or grace period cannot be set'), [
    POST(cms, cm('c')),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { creationTimestamp: '2001-01-01T00:00:00Z', selfLink: '/x' })),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 5, selfLink: '/x' })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-put-terminating', about('an object that waits for finalizers can be updated; new finalizers are refused, deletionTimestamp stays'), [
    POST(cms, cm('c', {}, { finalizers: ['example.com/a'] })),
    DELETE(`${cms}/c`),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { finalizers: ['example.com/a'] })),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { finalizers: ['example.com/a', 'example.com/b'] })),
    PUT(`${cms}/c`, cm('c', { a: '3' })),
    GET(`${cms}/c`),
  ]),
  scenario('crud-put-managed-fields', about('managedFields of the body on POST and PUT: kept when valid, reset by an empty list'), [
    POST(cms, cm('c', { a: '1' }, { managedFields: [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:a': {} } } }] })),
    PUT(`${cms}/c`, cm('c', { a: '2' }, { managedFields: [] })),
    PUT(`${cms}/c`, cm('c', { a: '3' }, { managedFields: [{}] })),
    POST(cms, cm('d', { a: '1' }, { managedFields: [{ manager: 'm', operation: 'Nope', apiVersion: 'v1' }] })),
  ]),
  scenario('crud-put-pod-immutable', about('most of a Pod spec cannot be changed by PUT'), [
    POST(`${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: pod }, { id: 'p', compare: 'status' }),
    PUT(`${core}/pods/p`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { ...pod, hostNetwork: true } }, { pick: firstLine }),
    PUT(`${core}/pods/p`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'j' }] } }),
    PUT(`${core}/pods/p`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: '' }] } }, { pick: firstLine }),
  ]),
  scenario('crud-put-deployment-selector', about('a Deployment selector is immutable'), [
    POST(`${ns('apps/v1')}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector, template } }, { compare: 'status' }),
    PUT(`${ns('apps/v1')}/deployments/d`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'y' } }, template: { metadata: { labels: { app: 'y' } }, spec: pod } } }),
  ]),
];
