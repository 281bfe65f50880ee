// Names, generateName, namespaces, labels and annotations: what is accepted and how it is refused.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const ns = (group) => `/apis/${group}/namespaces/$ns`;
const cms = `${core}/configmaps`;
const cm = (meta, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta, ...rest });
const rbac = 'rbac.authorization.k8s.io/v1';
const pod = { containers: [{ name: 'c', image: 'i' }] };
const template = { metadata: { labels: { app: 'x' } }, spec: pod };
const selector = { matchLabels: { app: 'x' } };
const about = (text, section = '2.1') => ({ section, about: text });
const brief = (b) => (b.kind === 'Status' ? b : { kind: b.kind, name: b.metadata.name });
/** Generated names end in five random characters. */
const generated = (b) => (b.kind === 'Status' ? b : { ...b, metadata: { ...b.metadata, name: b.metadata.name.replace(/[bcdfghjklmnpqrstvwxz2456789]{5}$/, '?????') } });
const length = (b) => (b.kind === 'Status' ? b : { name: generated(b).metadata.name, length: b.metadata.name.length, generateName: b.metadata.generateName });

const kinds = {
  configmap: [cms, { apiVersion: 'v1', kind: 'ConfigMap' }],
  secret: [`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret' }],
  service: [`${core}/services`, { apiVersion: 'v1', kind: 'Service', spec: { clusterIP: 'None' } }],
  serviceaccount: [`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount' }],
  pod: [`${core}/pods`, { apiVersion: 'v1', kind: 'Pod', spec: pod }],
  persistentvolumeclaim: [`${core}/persistentvolumeclaims`, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }],
  deployment: [`${ns('apps/v1')}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } }],
  statefulset: [`${ns('apps/v1')}/statefulsets`, { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { selector, template, serviceName: 'x' } }],
  job: [`${ns('batch/v1')}/jobs`, { apiVersion: 'batch/v1', kind: 'Job', spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } }],
  cronjob: [`${ns('batch/v1')}/cronjobs`, { apiVersion: 'batch/v1', kind: 'CronJob', spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } } } }],
  horizontalpodautoscaler: [`${ns('autoscaling/v2')}/horizontalpodautoscalers`, { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' } } }],
  lease: [`${ns('coordination.k8s.io/v1')}/leases`, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }],
  role: [`${ns(rbac)}/roles`, { apiVersion: rbac, kind: 'Role' }],
  rolebinding: [`${ns(rbac)}/rolebindings`, { apiVersion: rbac, kind: 'RoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }],
  poddisruptionbudget: [`${ns('policy/v1')}/poddisruptionbudgets`, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec: {} }],
  networkpolicy: [`${ns('networking.k8s.io/v1')}/networkpolicies`, { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {} } }],
  ingress: [`${ns('networking.k8s.io/v1')}/ingresses`, { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }],
  endpointslice: [`${ns('discovery.k8s.io/v1')}/endpointslices`, { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', endpoints: [] }],
  event: [`${core}/events`, { apiVersion: 'v1', kind: 'Event', involvedObject: { namespace: '$ns' } }],
  csistoragecapacity: [`${ns('storage.k8s.io/v1')}/csistoragecapacities`, { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', storageClassName: 's' }],
};
const names = ['Upper', 'under_score', '-lead', 'trail-', 'a.b', 'a..b', '1digit', 'with:colon', 'sp ace', 'a'.repeat(53), 'a'.repeat(64), 'a'.repeat(253), 'a'.repeat(254)];

/** Kinds whose names are only tried in a dry run: [path, object]. */
const adm = 'admissionregistration.k8s.io/v1';
const tried = {
  endpoints: [`${core}/endpoints`, { apiVersion: 'v1', kind: 'Endpoints' }],
  limitrange: [`${core}/limitranges`, { apiVersion: 'v1', kind: 'LimitRange', spec: { limits: [] } }],
  resourcequota: [`${core}/resourcequotas`, { apiVersion: 'v1', kind: 'ResourceQuota' }],
  podtemplate: [`${core}/podtemplates`, { apiVersion: 'v1', kind: 'PodTemplate', template }],
  replicationcontroller: [`${core}/replicationcontrollers`, { apiVersion: 'v1', kind: 'ReplicationController', spec: { selector: { app: 'x' }, template } }],
  replicaset: [`${ns('apps/v1')}/replicasets`, { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { selector, template } }],
  daemonset: [`${ns('apps/v1')}/daemonsets`, { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } }],
  controllerrevision: [`${ns('apps/v1')}/controllerrevisions`, { apiVersion: 'apps/v1', kind: 'ControllerRevision', revision: 1, data: {} }],
  node: ['/api/v1/nodes', { apiVersion: 'v1', kind: 'Node' }],
  persistentvolume: ['/api/v1/persistentvolumes', { apiVersion: 'v1', kind: 'PersistentVolume', spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }],
  'namespace-dry': ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace' }],
  clusterrolebinding: [`/apis/${rbac}/clusterrolebindings`, { apiVersion: rbac, kind: 'ClusterRoleBinding', roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' } }],
  storageclass: ['/apis/storage.k8s.io/v1/storageclasses', { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'p.example.com' }],
  csidriver: ['/apis/storage.k8s.io/v1/csidrivers', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', spec: {} }],
  csinode: ['/apis/storage.k8s.io/v1/csinodes', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', spec: { drivers: [] } }],
  volumeattachment: ['/apis/storage.k8s.io/v1/volumeattachments', { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', spec: { attacher: 'a.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }],
  priorityclass: ['/apis/scheduling.k8s.io/v1/priorityclasses', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', value: 5 }],
  runtimeclass: ['/apis/node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'h' }],
  ingressclass: ['/apis/networking.k8s.io/v1/ingressclasses', { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', spec: { controller: 'example.com/c' } }],
  ipaddress: ['/apis/networking.k8s.io/v1/ipaddresses', { apiVersion: 'networking.k8s.io/v1', kind: 'IPAddress', spec: { parentRef: { resource: 'services', name: 's', namespace: 'default' } } }],
  servicecidr: ['/apis/networking.k8s.io/v1/servicecidrs', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', spec: { cidrs: ['10.99.0.0/24'] } }],
  flowschema: ['/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', spec: { priorityLevelConfiguration: { name: 'none' } } }],
  validatingwebhookconfiguration: [`/apis/${adm}/validatingwebhookconfigurations`, { apiVersion: adm, kind: 'ValidatingWebhookConfiguration' }],
  validatingadmissionpolicybinding: [`/apis/${adm}/validatingadmissionpolicybindings`, { apiVersion: adm, kind: 'ValidatingAdmissionPolicyBinding', spec: { policyName: 'p', validationActions: ['Audit'] } }],
  customresourcedefinition: ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec: { group: 'names.example.com', scope: 'Namespaced', names: { plural: 'as', kind: 'A' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }],
  apiservice: ['/apis/apiregistration.k8s.io/v1/apiservices', { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', spec: { group: 'names.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 } }],
};
const triedNames = { ipaddress: ['10.0.0.77', '010.0.0.77', '10.0.0.0/24', 'fd00::1', 'FD00::1', 'x'], apiservice: ['v1.names.example.com', 'v2.names.example.com', 'x'], customresourcedefinition: ['as.names.example.com', 'bs.names.example.com', 'As.names.example.com', 'x'], priorityclass: [...names, 'system-mine', 'system-node-critical'] };

export default [
  ...Object.entries(kinds).map(([k, [at, o]]) => scenario(`crud-names-rule-${k}`, about(`which names a ${o.kind} may have, and the field errors of the others`), names.map((name) => POST(at, { ...o, metadata: { name } }, { pick: brief })))),
  ...Object.entries(tried).map(([k, [at, o]]) => scenario(`crud-names-rule-${k}`, { ...about(`which names a ${o.kind} may have, asked in dry runs`), ...(at.startsWith(core) || at.includes('/namespaces/$ns') ? {} : { namespace: false }) }, (triedNames[k] ?? names).map((name) => POST(at, { ...o, metadata: { name } }, { query: { dryRun: 'All' }, pick: brief })))),
  scenario('crud-names-rule-namespace', { ...about('a Namespace name is a DNS label'), namespace: false }, ['$ns.dot', '$ns-Upper', '$ns_x', `$ns-${'a'.repeat(60)}`, '-$ns', '$ns-'].map((name) => POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))),
  scenario('crud-names-rule-clusterrole', { ...about('RBAC names may hold colons and capitals'), namespace: false, cleanup: ['$ns:Some:role', '$ns_x y'].map((n) => `/apis/${rbac}/clusterroles/${encodeURIComponent(n).replace('%24', '$')}`) }, [
    POST(`/apis/${rbac}/clusterroles`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns:Some:role' } }),
    GET(`/apis/${rbac}/clusterroles/$ns:Some:role`),
    GET(`/apis/${rbac}/clusterroles/$ns%3ASome%3Arole`, { pick: brief }),
    POST(`/apis/${rbac}/clusterroles`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns_x y' } }, { pick: brief }),
    GET(`/apis/${rbac}/clusterroles/$ns_x%20y`, { pick: brief }),
  ]),
  ...[['role', kinds.role], ['configmap', kinds.configmap], ['service', kinds.service]].map(([k, [at, o]]) => scenario(`crud-names-path-segment-${k}`, about(`names of a ${o.kind} that could not stand in a path`), ['.', '..', 'a/b', 'a%b', '/', '%', 'a/%b', '...', '.a'].map((name) => POST(at, { ...o, metadata: { name } }, { pick: brief })))),
  scenario('crud-names-unicode', about('names with letters outside ASCII and control characters'), ['é', 'a\u0000b', 'a\nb', '名前', 'a\u200bb'].map((name) => POST(cms, cm({ name })))),
  scenario('crud-names-type', about('a name that is not a string'), [
    POST(cms, cm({ name: 5 })), POST(cms, cm({ name: true })), POST(cms, cm({ name: null })), POST(cms, cm({ name: ['a'] })), POST(cms, cm({ name: { a: 1 } })),
  ]),
  scenario('crud-names-missing', about('a create without name and generateName is 422'), [
    POST(cms, cm({})),
    POST(cms, { apiVersion: 'v1', kind: 'ConfigMap' }),
    POST(cms, cm({ name: '' })),
    POST(`${ns('apps/v1')}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', spec: { selector, template } }),
    POST(kinds.role[0], kinds.role[1]),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace' }),
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node' }),
  ]),
  scenario('crud-names-put-missing', about('PUT whose body has no name'), [
    POST(cms, cm({ name: 'c' }), { compare: 'status' }),
    PUT(`${cms}/c`, cm({}, { data: { a: '1' } })),
    PUT(`${cms}/c`, { apiVersion: 'v1', kind: 'ConfigMap' }),
    PUT(`${cms}/none`, cm({})),
    PUT('/api/v1/namespaces/$ns', { apiVersion: 'v1', kind: 'Namespace' }),
    PUT(`${kinds.lease[0]}/l`, kinds.lease[1]),
  ]),
  scenario('crud-names-put-differs', about('PUT whose body has another name than the path'), [
    POST(cms, cm({ name: 'c' }), { compare: 'status' }),
    PUT(`${cms}/c`, cm({ name: 'd' })),
    PUT(`${cms}/none`, cm({ name: 'd' })),
    PUT('/api/v1/namespaces/$ns', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } }),
    PUT(`${kinds.lease[0]}/l`, { ...kinds.lease[1], metadata: { name: 'm' } }),
  ]),
  scenario('crud-names-patch-differs', about('a patch that changes name or namespace'), [
    POST(cms, cm({ name: 'c' }), { compare: 'status' }),
    PATCH(`${cms}/c`, 'merge', { metadata: { name: 'd' } }),
    PATCH(`${cms}/c`, 'merge', { metadata: { namespace: 'other' } }),
    PATCH(`${cms}/c`, 'merge', { metadata: { name: null, namespace: null } }),
  ]),
  scenario('crud-names-namespace-differs', about('a body namespace other than that of the path is 400'), [
    POST(cms, cm({ name: 'c', namespace: 'other' })),
    POST(cms, cm({ name: 'c', namespace: '$ns' })),
    PUT(`${cms}/c`, cm({ name: 'c', namespace: 'other' })),
    PUT(`${cms}/c`, cm({ name: 'c', namespace: '$ns' })),
    PUT(`${cms}/none`, cm({ name: 'none', namespace: 'other' })),
    POST(`${ns('apps/v1')}/deployments`, { ...kinds.deployment[1], metadata: { name: 'd', namespace: 'other' } }),
  ]),
  scenario('crud-names-namespace-on-cluster-scoped', { ...about('a namespace in the body of a cluster-scoped object'), namespace: false, cleanup: ['/api/v1/nodes/$ns-n', `/apis/${rbac}/clusterroles/$ns-n`, '/api/v1/namespaces/$ns-n'] }, [
    POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', namespace: 'default' } }),
    POST(`/apis/${rbac}/clusterroles`, { apiVersion: rbac, kind: 'ClusterRole', metadata: { name: '$ns-n', namespace: 'default' } }),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-n', namespace: 'other' } }),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-n', namespace: '$ns-n' } }),
    PUT('/api/v1/namespaces/$ns-n', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-n', namespace: 'other' } }),
  ]),
  scenario('crud-names-namespace-missing', about('writes into a namespace that does not exist'), [
    POST('/api/v1/namespaces/$ns-none/configmaps', cm({ name: 'c' })),
    POST('/apis/apps/v1/namespaces/$ns-none/deployments', { ...kinds.deployment[1], metadata: { name: 'd' } }),
    PUT('/api/v1/namespaces/$ns-none/configmaps/c', cm({ name: 'c' })),
    PUT('/apis/coordination.k8s.io/v1/namespaces/$ns-none/leases/l', { ...kinds.lease[1], metadata: { name: 'l' } }),
    PATCH('/api/v1/namespaces/$ns-none/configmaps/c', 'merge', {}),
    DELETE('/api/v1/namespaces/$ns-none/configmaps/c'),
    DELETE('/api/v1/namespaces/$ns-none/configmaps'),
    GET('/api/v1/namespaces/$ns-none/configmaps'),
  ]),
  scenario('crud-names-namespace-missing-order', about('what is reported first for an invalid object in a missing namespace'), [
    POST('/api/v1/namespaces/$ns-none/configmaps', cm({ name: 'Bad' })),
    POST('/api/v1/namespaces/$ns-none/configmaps', cm({ name: 'c', namespace: 'other' })),
    POST('/api/v1/namespaces/$ns-none/configmaps', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' } }),
    POST('/api/v1/namespaces/Bad_Name/configmaps', cm({ name: 'c' })),
  ]),
  scenario('crud-names-namespace-terminating', { ...about('create in a terminating namespace is 403 with a NamespaceTerminating cause; update and delete go on'), cleanup: [] }, [
    POST(cms, cm({ name: 'c' }), { compare: 'status' }),
    DELETE('/api/v1/namespaces/$ns', undefined, { compare: 'status' }),
    POST(cms, cm({ name: 'd' })),
    POST(`${ns('apps/v1')}/deployments`, { ...kinds.deployment[1], metadata: { name: 'd' } }),
    POST(cms, cm({ generateName: 'g-' })),
    PUT(`${kinds.lease[0]}/l`, { ...kinds.lease[1], metadata: { name: 'l' } }),
    PUT(`${cms}/c`, cm({ name: 'c' }, { data: { a: '1' } })),
    PATCH(`${cms}/c`, 'merge', { data: { b: '2' } }),
    DELETE(`${cms}/c`),
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns' } }),
  ]),
  scenario('crud-names-namespace-undeletable', { ...about('default, kube-system and kube-public cannot be deleted'), namespace: false }, ['default', 'kube-system', 'kube-public'].map((n) => DELETE(`/api/v1/namespaces/${n}`))),

  scenario('crud-names-generate', about('generateName makes a name of the prefix and five characters, and stays on the object'), [
    POST(cms, cm({ generateName: 'gen-' }), { pick: generated, ignore: ['metadata.name'] }),
    POST(cms, cm({ generateName: 'gen-' }), { pick: length }),
    POST(cms, cm({ generateName: 'gen' }), { pick: length }),
    POST(cms, cm({ generateName: 'a.b.' }), { pick: maskName }),
  ]),
  scenario('crud-names-generate-both', about('with name and generateName the name wins, and generateName is kept'), [
    POST(cms, cm({ name: 'mine', generateName: 'gen-' })),
    POST(cms, cm({ name: 'mine', generateName: 'gen-' }), { compareHeaders: ['retry-after'] }),
    POST(cms, cm({ name: 'mine2', generateName: 'Bad_' })),
  ]),
  scenario('crud-names-generate-long', about('a long generateName is cut to 58 characters before the suffix'), [
    POST(cms, cm({ generateName: 'g'.repeat(58) }), { pick: length }),
    POST(cms, cm({ generateName: 'g'.repeat(59) }), { pick: length }),
    POST(cms, cm({ generateName: `${'g'.repeat(57)}--` }), { pick: length }),
    POST(cms, cm({ generateName: 'g'.repeat(248) }), { pick: length }),
    POST(cms, cm({ generateName: 'g'.repeat(253) }), { pick: length }),
    POST(cms, cm({ generateName: 'g'.repeat(254) }), { pick: maskName }),
    POST(kinds.service[0], { ...kinds.service[1], metadata: { generateName: 's'.repeat(63) } }, { pick: length }),
    POST(kinds.service[0], { ...kinds.service[1], metadata: { generateName: 's'.repeat(64) } }, { pick: maskName }),
    POST(kinds.cronjob[0], { ...kinds.cronjob[1], metadata: { generateName: 'c'.repeat(60) } }, { pick: maskName }),
  ]),
  scenario('crud-names-generate-invalid', about('an invalid generateName gives errors for both generateName and the name made of it'), ['Upper-', '-lead', 'under_', 'a..', 'sp ace'].map((generateName) => POST(cms, cm({ generateName }), { pick: maskName }))),
  scenario('crud-names-generate-put', about('PUT does not generate names'), [
    PUT(`${kinds.lease[0]}/l`, { ...kinds.lease[1], metadata: { generateName: 'l-' } }),
    PUT(`${kinds.lease[0]}/l`, { ...kinds.lease[1], metadata: { name: 'l', generateName: 'l-' } }),
    PUT(`${kinds.role[0]}/r`, { ...kinds.role[1], metadata: { name: 'r', generateName: 'other' } }, { pick: brief }),
  ]),
  scenario('crud-names-generate-namespace', { ...about('generateName for a Namespace labels it with the generated name'), namespace: false }, [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: '$ns-' } }, { id: 'n', pick: (b) => ({ generateName: b.metadata.generateName, same: b.metadata.labels['kubernetes.io/metadata.name'] === b.metadata.name, phase: b.status.phase }) }),
    DELETE('/api/v1/namespaces/${n.metadata.name}', undefined, { compare: 'status' }),
  ]),

  // Labels and annotations.
  ...Object.entries({
    'label-keys': ['labels', ['good', 'example.com/good', 'bad key', '-bad', 'bad/', '/bad', 'a/b/c', 'Bad_Prefix/x', 'k'.repeat(64), `${'p'.repeat(254)}/x`, '', 'example.com/', 'UPPER.ok', 'EXAMPLE.com/x'].map((k) => ({ [k]: 'v' }))],
    'label-values': ['labels', ['', 'ok', 'A_b.c-d', '-x', 'x-', 'a b', 'a/b', 'a:b', 'v'.repeat(63), 'v'.repeat(64), 'é'].map((v) => ({ k: v }))],
    'annotation-keys': ['annotations', ['good', 'example.com/good', 'Upper', 'EXAMPLE.com/x', 'bad key', '-bad', 'a/b/c', 'k'.repeat(64), '', 'Bad_Prefix/x'].map((k) => ({ [k]: 'any value at all: é\n' }))],
  }).map(([id, [field, maps]]) => scenario(`crud-names-${id}`, about(`which ${id.replace('-', ' ')} are accepted`, '2.2'), maps.map((m, i) => POST(cms, cm({ name: `c${i}`, [field]: m }), { pick: (b) => (b.kind === 'Status' ? b : b.metadata[field]) })))),
  scenario('crud-names-label-types', about('labels and annotations of a wrong type', '2.2'), [
    POST(cms, cm({ name: 'c', labels: { a: 1 } })), POST(cms, cm({ name: 'c', labels: ['a'] })), POST(cms, cm({ name: 'c', labels: 'a' })),
    POST(cms, cm({ name: 'c', annotations: { a: true } })), POST(cms, cm({ name: 'c', labels: { a: null }, annotations: null })), POST(cms, cm({ name: 'd', finalizers: 'x' })), POST(cms, cm({ name: 'd', ownerReferences: {} })),
  ]),
  scenario('crud-names-annotation-size', about('all annotations together may take 262144 bytes, keys included', '2.2'), [
    POST(cms, cm({ name: 'a', annotations: { k: 'x'.repeat(262143) } }), { pick: brief }),
    POST(cms, cm({ name: 'b', annotations: { k: 'x'.repeat(262144) } })),
    POST(cms, cm({ name: 'c', annotations: { k: 'x'.repeat(131072), l: 'x'.repeat(131071) } })),
    POST(cms, cm({ name: 'd', annotations: { k: 'é'.repeat(131072) } })),
  ]),
  scenario('crud-names-many-errors', about('several field errors are listed in brackets; the same ones as causes', '2.2'), [
    POST(cms, cm({ name: 'Bad_', labels: { 'b c': '-' }, annotations: { 'b c': '' }, finalizers: ['x'] }, { data: { 'b d': '' } })),
  ]),
  scenario('crud-names-finalizers', about('finalizers must be qualified names', '2.2'), ['example.com/x', 'orphan', 'foregroundDeletion', 'kubernetes', 'plain', 'bad value', '', 'a/b/c'].map((f, i) => POST(cms, cm({ name: `c${i}`, finalizers: [f] }), { pick: (b) => (b.kind === 'Status' ? b : b.metadata.finalizers) }))),
  scenario('crud-names-finalizers-both', about('orphan and foregroundDeletion exclude each other', '2.2'), [
    POST(cms, cm({ name: 'c', finalizers: ['orphan', 'foregroundDeletion'] })),
    POST(cms, cm({ name: 'd', finalizers: ['example.com/a', 'example.com/a'] })),
  ]),
  scenario('crud-names-owner-references', about('ownerReferences need apiVersion, kind, name and uid; one controller at most', '2.2'), [
    POST(cms, cm({ name: 'a', ownerReferences: [{}] })),
    POST(cms, cm({ name: 'b', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1', controller: true }, { apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'u2', controller: true }] })),
    POST(cms, cm({ name: 'c', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'p', uid: 'u1' }] })),
    POST(cms, cm({ name: 'd', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' }, { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' }] }), { compareHeaders: ['warning'] }),
    POST(cms, cm({ name: 'e', ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' }, { apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'u1' }] }), { compareHeaders: ['warning'] }),
    POST(cms, cm({ name: 'f', ownerReferences: [{ apiVersion: 'a/b/c', kind: 'Pod', name: 'p', uid: 'u1' }] })),
  ]),
];

function generatedIn(text) { return text?.replace(/"([^"]*?)[bcdfghjklmnpqrstvwxz2456789]{5}"/g, '"$1?????"'); }
function maskName(b) {
  if (b.kind !== 'Status') return generated(b);
  return { ...b, message: generatedIn(b.message), details: { ...b.details, name: generatedIn(`"${b.details?.name}"`)?.slice(1, -1), causes: b.details?.causes?.map((c) => ({ ...c, message: generatedIn(c.message) })) } };
}
