// Rows of nodes, namespaces, access rules, certificates, policies, flow control and everything else.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { TABLE, accept, cells, table } from './kit/shapes.mjs';

const ns = (gv, r) => `${gv === 'v1' ? '/api/v1' : `/apis/${gv}`}/namespaces/$ns/${r}`;
const named = (name, o, metadata = {}) => ({ metadata: { name, ...metadata }, ...o });
const hidden = { ...accept(TABLE), query: { includeObject: 'None' } };
const dry = (id, about, path, object, pick = table) => scenario(`table-${id}`, { section: '2.6', about, namespace: false }, [POST(path, object, { ...accept(TABLE), query: { dryRun: 'All', includeObject: 'None' }, pick })]);
const rows = (id, about, path, objects, pick = table) => scenario(`table-${id}`, { section: '2.6', about }, [...objects.map((o) => POST(path, o, { compare: 'status' })), GET(path, { ...hidden, pick })]);

const nodes = '/api/v1/nodes';
const node = (id, about, metadata, spec, status, pick = cells) => scenario(`table-node-${id}`, { section: '2.6', about, cleanup: [`${nodes}/$ns-n`] }, [
  POST(nodes, { metadata: { name: '$ns-n', ...metadata }, spec }, { compare: 'status' }), ...(status ? [PATCH(`${nodes}/$ns-n/status`, 'strategic', { status }, { compare: 'status' })] : []), GET(`${nodes}/$ns-n`, { ...hidden, pick }),
]);
const condition = (type, status) => ({ type, status, lastHeartbeatTime: null, lastTransitionTime: null });
const info = { kubeletVersion: 'v1.33.5', osImage: 'Linux X', kernelVersion: '6.1', containerRuntimeVersion: 'containerd://2.0', architecture: '', bootID: '', kubeProxyVersion: '', machineID: '', operatingSystem: '', systemUUID: '' };
const nodeRows = [
  node('new', 'A node nobody has reported on', {}, {}, undefined, table),
  node('ready', 'A ready node with addresses and versions', {}, {}, { conditions: [condition('MemoryPressure', 'False'), condition('Ready', 'True')], nodeInfo: info, addresses: [{ type: 'Hostname', address: 'h' }, { type: 'InternalIP', address: '10.0.0.1' }, { type: 'InternalIP', address: '10.0.0.2' }, { type: 'ExternalIP', address: '192.0.2.1' }] }),
  node('not-ready', 'A node that is not ready', {}, {}, { conditions: [condition('Ready', 'False')] }),
  node('ready-unknown', 'A node whose readiness is unknown', {}, {}, { conditions: [condition('Ready', 'Unknown')] }),
  node('other-conditions', 'Other conditions say nothing', {}, {}, { conditions: [condition('DiskPressure', 'True')] }),
  node('cordoned', 'A cordoned node', {}, { unschedulable: true }, { conditions: [condition('Ready', 'True')] }),
  node('cordoned-unknown', 'A cordoned node nobody has reported on', {}, { unschedulable: true }),
  node('roles', 'Roles come from labels, sorted', { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/control-plane': 'x', 'kubernetes.io/role': 'etcd' } }, {}),
  node('one-role', 'The old label for a role', { labels: { 'kubernetes.io/role': 'master' } }, {}),
];

const core = [
  scenario('table-namespace', { section: '2.6', about: 'A namespace, active and terminating' }, [GET('/api/v1/namespaces/$ns', { ...hidden, pick: table }), DELETE('/api/v1/namespaces/$ns', undefined, { ...hidden, pick: cells }), GET('/api/v1/namespaces/$ns', { ...hidden, pick: cells })]),
  scenario('table-componentstatus', { section: '2.6', about: 'The store is a component that is always listed', namespace: false }, [GET('/api/v1/componentstatuses', { ...hidden, pick: (b) => table(b).rows.filter((r) => r[0] === 'etcd-0') }), GET('/api/v1/componentstatuses/etcd-0', { pick: (b) => b })]),
  rows('configmap', 'ConfigMaps count both kinds of data', ns('v1', 'configmaps'), [named('none'), named('some', { data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } })]),
  rows('secret', 'Secrets', ns('v1', 'secrets'), [named('none'), named('some', { stringData: { a: '1' }, data: { b: 'AA==' } }), named('docker', { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': 'e30=' } })]),
  rows('serviceaccount', 'ServiceAccounts count their secrets', ns('v1', 'serviceaccounts'), [named('none'), named('some', { secrets: [{ name: 'a' }, { name: 'b' }], imagePullSecrets: [{ name: 'c' }] })]),
  rows('lease', 'Leases, held and free', ns('coordination.k8s.io/v1', 'leases'), [named('free', { spec: {} }), named('held', { spec: { holderIdentity: 'me', leaseDurationSeconds: 10 } })]),
];

const ref = (kind) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'r' });
const user = (name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' });
const groupOf = (name) => ({ kind: 'Group', name, apiGroup: 'rbac.authorization.k8s.io' });
const account = (name) => ({ kind: 'ServiceAccount', name, namespace: 'x' });
const access = [
  rows('role', 'Roles have the default columns', ns('rbac.authorization.k8s.io/v1', 'roles'), [named('r', { rules: [] })]),
  rows('rolebinding', 'RoleBindings and whom they bind', ns('rbac.authorization.k8s.io/v1', 'rolebindings'), [named('none', { roleRef: ref('Role'), subjects: [] }), named('some', { roleRef: ref('ClusterRole'), subjects: [user('a'), groupOf('g'), account('s'), user('b'), account('t')] })]),
  dry('clusterrole', 'ClusterRoles have the default columns', '/apis/rbac.authorization.k8s.io/v1/clusterroles', named('oracle-role', { rules: [] })),
  dry('clusterrolebinding', 'ClusterRoleBindings', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', named('oracle-binding', { roleRef: ref('ClusterRole'), subjects: [groupOf('g'), user('a'), account('s')] })),
];

const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const request = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlITE1ITUNBUUF3RVRFUE1BMEdBMVVFQXd3R2IzSmhZMnhsTUZrd0V3WUhLb1pJemowQ0FRWUlLb1pJemowRApBUWNEUWdBRUd5dE0yaWZYZ3FhbjVpSlFQbWxmNTREWDUxR2JSaWxtc2xKd01zZG84UWxqNWVOdFVSQVpMeExlCncvOUFSYldGQnNnK0xqZzA3VTNDOUFZS3BZN09UNkFBTUFvR0NDcUdTTTQ5QkFNQ0EwZ0FNRVVDSURrU1hwTDYKSTFuZm5vTEdkQ2tpdVJXTXFpSlo4SVFJSFdWOXJSdmpEc1UyQWlFQTR3dFJsdXZtRy9kS1NlS1VMQXRnbmRDVgorWnlDWi96Z3ZMUVNkalZibG13PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K';
const certificate = 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJlakNDQVIrZ0F3SUJBZ0lVUGx2MzV3bmVHV2VjWURxakxlRWUzb0RDVXBjd0NnWUlLb1pJemowRUF3SXcKRVRFUE1BMEdBMVVFQXd3R2IzSmhZMnhsTUNBWERUSTJNVEV4TlRBd01UY3hNMW9ZRHpJeE1qWXhNREl5TURBeApOekV6V2pBUk1ROHdEUVlEVlFRRERBWnZjbUZqYkdVd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJCd05DCkFBU0VtQkwycnVNMU0vTzRHRVE1bHdTcTl4VG9BN0RRR25VcFRzMDFiZ0FWM0dEdlE1SHBXNjhRVjN3bFNjTXoKVmM1c0Y4NHpiVXUrZnVmTGZwSnNGVE44bzFNd1VUQWRCZ05WSFE0RUZnUVU1d3dsaHZLMVBPbDZuWXRIUHJqZwpQTGZBZTNFd0h3WURWUjBqQkJnd0ZvQVU1d3dsaHZLMVBPbDZuWXRIUHJqZ1BMZkFlM0V3RHdZRFZSMFRBUUgvCkJBVXdBd0VCL3pBS0JnZ3Foa2pPUFFRREFnTkpBREJHQWlFQWw2UGgyZ0JFdG8vKytmRGpaYlc5TFBpMUgva0cKVThuSHJvM0hpRDAvU3pzQ0lRQ2VEYWxvQjNqU2lNMGNMQ2R2MUcwaC9qcG5yZjNNZnEvZGhUSStDdVVHYkE9PQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==';
const csr = (id, about, o, steps, pick = cells) => scenario(`table-csr-${id}`, { section: '2.6', about, cleanup: [`${csrs}/$ns-c`] }, [POST(csrs, named('$ns-c', { spec: { request, signerName: 'example.com/oracle', usages: ['client auth'], ...o } }), { compare: 'status' }), ...steps, GET(`${csrs}/$ns-c`, { ...hidden, pick })]);
const verdict = (...types) => PATCH(`${csrs}/$ns-c/approval`, 'merge', { status: { conditions: types.map((type) => ({ type, status: 'True', reason: 'R' })) } }, { compare: 'status' });
const signed = (status) => PATCH(`${csrs}/$ns-c/status`, 'merge', { status }, { compare: 'status' });
const certificates = [
  csr('pending', 'A pending request', {}, [], table),
  csr('expiration', 'A requested duration', { expirationSeconds: 864000 }, []),
  csr('expiration-short', 'A short requested duration', { expirationSeconds: 750 }, []),
  csr('approved', 'An approved request', {}, [verdict('Approved')]),
  csr('denied', 'A denied request', {}, [verdict('Denied')]),
  csr('issued', 'An issued certificate', {}, [verdict('Approved'), signed({ certificate })]),
  csr('failed', 'A failed request', {}, [signed({ conditions: [{ type: 'Failed', status: 'True', reason: 'R' }] })]),
];

const hooks = [{ name: 'a.example.com', clientConfig: { url: 'https://example.com/a' }, sideEffects: 'None', admissionReviewVersions: ['v1'] }, { name: 'b.example.com', clientConfig: { url: 'https://example.com/b' }, sideEffects: 'None', admissionReviewVersions: ['v1'] }];
const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const constraints = { resourceRules: [{ apiGroups: ['example.com'], apiVersions: ['*'], operations: ['*'], resources: ['nones'] }] };
const admission = [
  dry('mutatingwebhookconfiguration', 'Mutating webhooks', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', named('oracle-hooks', { webhooks: hooks })),
  dry('validatingwebhookconfiguration', 'Validating webhooks', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', named('oracle-hooks', { webhooks: [] })),
  dry('validatingadmissionpolicy', 'A policy without parameters', policies, named('oracle-policy', { spec: { matchConstraints: constraints, validations: [{ expression: 'true' }, { expression: '1 == 1' }] } })),
  dry('validatingadmissionpolicy-parameters', 'A policy with parameters', policies, named('oracle-policy', { spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, matchConstraints: constraints, validations: [{ expression: 'true' }] } }), cells),
  dry('validatingadmissionpolicybinding', 'A binding without parameters', bindings, named('oracle-binding', { spec: { policyName: 'p', validationActions: ['Deny'] } })),
  dry('validatingadmissionpolicybinding-name', 'A binding with a parameter by name', bindings, named('oracle-binding', { spec: { policyName: 'p', validationActions: ['Deny'], paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } } }), cells),
  dry('validatingadmissionpolicybinding-namespaced', 'A binding with a parameter of a namespace', bindings, named('oracle-binding', { spec: { policyName: 'p', validationActions: ['Deny'], paramRef: { name: 'x', namespace: 'y', parameterNotFoundAction: 'Deny' } } }), cells),
];

const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
const bootstrap = ['exempt', 'probes', 'system-leader-election', 'endpoint-controller', 'workload-leader-election', 'system-node-high', 'system-nodes', 'kube-controller-manager', 'kube-scheduler', 'kube-system-service-accounts', 'service-accounts', 'global-default', 'catch-all'];
const flowControl = [
  dry('flowschema', 'A FlowSchema of a missing level', `${flow}/flowschemas`, named('oracle-schema', { spec: { matchingPrecedence: 4000, priorityLevelConfiguration: { name: 'none-such' }, distinguisherMethod: { type: 'ByUser' } } })),
  dry('flowschema-plain', 'A FlowSchema without a distinguisher', `${flow}/flowschemas`, named('oracle-schema', { spec: { matchingPrecedence: 4000, priorityLevelConfiguration: { name: 'global-default' } } }), cells),
  scenario('table-flowschema-order', { section: '2.6', about: 'FlowSchemas are listed by precedence, not by name', namespace: false }, [GET(`${flow}/flowschemas`, { ...hidden, pick: (b) => cells(b).filter((r) => bootstrap.includes(r.Name)) })]),
  scenario('table-prioritylevelconfiguration-bootstrap', { section: '2.6', about: 'The levels a server starts with', namespace: false }, ['exempt', 'catch-all', 'workload-low', 'system'].map((n) => GET(`${flow}/prioritylevelconfigurations/${n}`, { ...hidden, pick: table }))),
  dry('prioritylevelconfiguration-reject', 'A level that does not queue', `${flow}/prioritylevelconfigurations`, named('oracle-level', { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' } } } }), cells),
  dry('prioritylevelconfiguration-queue', 'A level with the default queues', `${flow}/prioritylevelconfigurations`, named('oracle-level', { spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } } }), cells),
];

const crd = (o = {}) => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'nones.oracle.example.com' }, spec: { group: 'oracle.example.com', scope: 'Namespaced', names: { plural: 'nones', kind: 'None' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }], ...o } });
const others = [
  dry('priorityclass', 'A PriorityClass', '/apis/scheduling.k8s.io/v1/priorityclasses', named('oracle-class', { value: 1000 })),
  dry('priorityclass-default', 'The default PriorityClass', '/apis/scheduling.k8s.io/v1/priorityclasses', named('oracle-class', { value: -5, globalDefault: true, preemptionPolicy: 'Never' }), cells),
  scenario('table-priorityclass-system', { section: '2.6', about: 'The PriorityClasses a server starts with', namespace: false }, ['system-cluster-critical', 'system-node-critical'].map((n) => GET(`/apis/scheduling.k8s.io/v1/priorityclasses/${n}`, { ...hidden, pick: cells }))),
  dry('runtimeclass', 'A RuntimeClass', '/apis/node.k8s.io/v1/runtimeclasses', named('oracle-class', { handler: 'runc' })),
  dry('customresourcedefinition', 'CRDs have the default columns', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd()),
  scenario('table-apiservice', { section: '2.6', about: 'Built-in APIServices', namespace: false }, ['v1.', 'v1.apps'].map((n) => GET(`/apis/apiregistration.k8s.io/v1/apiservices/${n}`, { ...hidden, pick: table }))),
  scenario('table-apiservice-service', { section: '2.6', about: 'An APIService of an extension server, as a dry run', namespace: false }, [POST('/apis/apiregistration.k8s.io/v1/apiservices', named('v1.oracle.example.com', { spec: { group: 'oracle.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 10, insecureSkipTLSVerify: true, service: { namespace: 'x', name: 'y' } } }), { ...accept(TABLE), query: { dryRun: 'All', includeObject: 'None' }, pick: table })]),
];

const events = ns('v1', 'events');
const event = (name, o = {}) => ({ metadata: { name }, involvedObject: { kind: 'Pod', name: 'p', namespace: '$ns' }, reason: 'R', message: 'm', type: 'Normal', firstTimestamp: '2020-01-01T00:00:00Z', lastTimestamp: '2020-01-01T00:00:00Z', count: 3, source: { component: 'c', host: 'h' }, ...o });
const recent = '2020-01-01T00:00:00.000000Z';
const newEvent = (name, o = {}) => ({ metadata: { name }, eventTime: recent, action: 'A', reason: 'R', note: 'n', type: 'Warning', reportingController: 'example.com/c', reportingInstance: 'i', regarding: { kind: 'ReplicaSet', name: 'r', namespace: '$ns' }, ...o });
const modern = ns('events.k8s.io/v1', 'events');
const eventRows = [
  rows('event', 'An Event in full', events, [event('e', { involvedObject: { kind: 'Pod', name: 'p', namespace: '$ns', fieldPath: 'spec.containers{a}' } })]),
  rows('event-source', 'How the source is written', events, [event('a', { source: { component: 'c' } }), event('b', { source: {} }), event('c', { source: {}, reportingComponent: 'rc', reportingInstance: 'ri' }), event('d', { source: { host: 'h' } })], (b) => cells(b).map((r) => r.Source)),
  rows('event-object', 'How the object is written', events, [event('a', { involvedObject: { kind: 'ReplicaSet', namespace: '$ns' } }), event('b', { involvedObject: { namespace: '$ns' } }), event('c', { involvedObject: { kind: 'Deployment', name: 'Name-kept', namespace: '$ns' } })], (b) => cells(b).map((r) => r.Object)),
  rows('event-times', 'Times and counts that are absent', events, [event('a', { firstTimestamp: null, lastTimestamp: null, count: 0 }), event('b', { lastTimestamp: null }), event('c', { firstTimestamp: null })], (b) => cells(b).map((r) => ({ 'Last Seen': r['Last Seen'], 'First Seen': r['First Seen'], Count: r.Count }))),
  rows('event-message', 'Messages lose the space around them', events, [event('a', { message: '  two\nlines  \n' })], (b) => cells(b).map((r) => r.Message)),
  rows('event-future', 'A time to come is invalid', events, [event('a', { firstTimestamp: '2999-01-01T00:00:00Z', lastTimestamp: '2999-01-01T00:00:00Z' })], (b) => cells(b).map((r) => ({ 'Last Seen': r['Last Seen'], 'First Seen': r['First Seen'] }))),
  rows('event-modern', 'An Event of events.k8s.io', modern, [newEvent('e')]),
  rows('event-modern-series', 'A series gives its own count and time', modern, [newEvent('e', { series: { count: 9, lastObservedTime: recent } })], (b) => cells(b).map((r) => ({ 'Last Seen': r['Last Seen'], 'First Seen': r['First Seen'], Count: r.Count }))),
  scenario('table-event-modern-in-core', { section: '2.6', about: 'The same Event through the core group' }, [POST(modern, newEvent('e'), { compare: 'status' }), GET(events, { ...hidden, pick: cells })]),
];

export default [...nodeRows, ...core, ...access, ...certificates, ...admission, ...flowControl, ...others, ...eventRows];
