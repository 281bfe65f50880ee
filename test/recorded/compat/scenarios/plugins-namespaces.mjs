// NamespaceAutoProvision and NamespaceExists, which are off by default.
import { scenario, GET, POST, PUT, PATCH, APPLY, DELETE, SLEEP } from '../steps.ts';
import { cm, quiet, dry, only, webhook, mutating, validating, rule, allow, deny, hooked, called, brief } from './kit/admission.mjs';

const NS = '/api/v1/namespaces/$ns-new';
const CM = `${NS}/configmaps`;
const within = (needs) => (id, about, steps, o = {}) => scenario(`plugins-${id}`, { section: '7', about, needs, namespace: false, cleanup: [NS], ...o }, steps);
const gone = GET(NS, quiet);
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const as = { headers: { 'impersonate-user': '$ns-u' } };
/** The user may write what the rule says, in the namespace. */
const granted = (rule, namespace = '$ns-new') => [
  POST(`${RBAC}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-r' }, rules: [rule] }, quiet),
  POST(`${RBAC}/clusterrolebindings`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: '$ns-r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, quiet),
];
const rights = { cleanup: [NS, `${RBAC}/clusterroles/$ns-r`, `${RBAC}/clusterrolebindings/$ns-r`] };

const provides = within('plugins-provision');
const provision = [
  provides('provision-create', 'NamespaceAutoProvision: the namespace of a new object is created, by the server', [POST(CM, cm()), GET(NS), POST(CM, cm('d'), quiet)]),
  provides('provision-dry', 'NamespaceAutoProvision: a dry run creates none', [POST(CM, cm(), dry), gone]),
  provides('provision-apply', 'NamespaceAutoProvision: an apply that creates', [APPLY(`${CM}/c`, 'm', cm(), only('data')), gone]),
  provides('provision-put', 'NamespaceAutoProvision: a PUT that creates, and one that does not', [PUT(`${CM}/c`, cm()), gone, PUT('/apis/coordination.k8s.io/v1/namespaces/$ns-new/leases/l', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }, quiet), gone]),
  provides('provision-patch', 'NamespaceAutoProvision: a patch or a delete of what is not there', [PATCH(`${CM}/c`, 'merge', {}), DELETE(`${CM}/c`), DELETE(CM, undefined, quiet), gone]),
  provides('provision-invalid', 'NamespaceAutoProvision: the namespace stays when the object is refused', [POST(CM, cm('c', { 'bad key': 'x' }), only('reason')), gone]),
  provides('provision-malformed', 'NamespaceAutoProvision: but not if it could not be read', [POST(CM, { ...cm(), extra: 1 }, { query: { fieldValidation: 'Strict' } }), POST(CM, cm('c', {}, { namespace: 'other' })), gone]),
  provides('provision-bad-name', 'NamespaceAutoProvision: a namespace that cannot be', [POST('/api/v1/namespaces/$ns_New/configmaps', cm()), POST('/api/v1/namespaces/$ns.new/configmaps', cm())]),
  provides('provision-rights', 'NamespaceAutoProvision: whoever may create objects everywhere needs no access to namespaces', [...granted({ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }), { ...POST(CM, cm(), { ...as, ...quiet, ...dry }), kind: 'poll', ms: 8000, until: (_, s) => s !== 403 }, POST(CM, cm(), { ...as, ...quiet }), gone], rights),
  provides('provision-forbidden', 'NamespaceAutoProvision: who may not create the object creates no namespace', [POST(CM, cm(), as), gone]),
  provides('provision-namespace', 'NamespaceAutoProvision: a namespace itself', [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-new' } }, quiet), POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-new' } })]),
  provides('provision-cluster', 'NamespaceAutoProvision: cluster-scoped objects', [POST(`${RBAC}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-r' } }, quiet)], rights),
  provides('provision-subresource', 'NamespaceAutoProvision: a create of a subresource of what is not there', [POST(`${NS}/pods/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }), gone]),
  provides('provision-eviction', 'NamespaceAutoProvision: an eviction, too', [POST(`${NS}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }), gone]),
  provides('provision-token', 'NamespaceAutoProvision: a token of an account that is not there', [POST(`${NS}/serviceaccounts/a/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }), gone]),
  provides('provision-review', 'NamespaceAutoProvision: a local access review, too', [POST('/apis/authorization.k8s.io/v1/namespaces/$ns-new/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', spec: { user: 'u', resourceAttributes: { namespace: '$ns-new', verb: 'get', resource: 'pods' } } }, quiet), gone]),
  provides('provision-terminating', 'NamespaceAutoProvision: one that is being deleted exists', [POST(CM, cm(), quiet), DELETE(NS, undefined, quiet), POST(CM, cm('d'), { ignore: ['details'] })]),
  provides('provision-together', 'NamespaceAutoProvision: a Namespace object with defaults', [POST(`${NS}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, quiet), GET(NS, { pick: (b) => ({ labels: b.metadata.labels, spec: b.spec, status: b.status, managers: b.metadata.managedFields?.map((m) => [m.manager, m.operation, m.fieldsV1]) }) })]),
  { ...hooked('provision-hook', 'NamespaceAutoProvision: webhooks are asked about the namespace, as about one that the server creates', validating(webhook('h', { rules: [rule('namespaces', { operations: ['CREATE'] })], namespaceSelector: {}, objectSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-new' } } })), { hooks: { h: allow }, needs: 'plugins-provision', cleanup: [NS] }, [POST(CM, cm(), quiet), brief('h', 1, 'userInfo.username', 'userInfo.groups', 'object.metadata.labels', 'name', 'namespace')]), id: 'plugins-provision-hook' },
  { ...hooked('provision-hook-denies', 'NamespaceAutoProvision: a namespace that a webhook refuses', validating(webhook('h', { rules: [rule('namespaces', { operations: ['CREATE'] })], namespaceSelector: {}, objectSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-new' } } })), { hooks: { h: deny({ message: 'no', code: 403, reason: 'Forbidden' }) }, needs: 'plugins-provision', cleanup: [NS] }, [POST(CM, cm()), gone]), id: 'plugins-provision-hook-denies' },
  { ...hooked('provision-hook-fails', 'NamespaceAutoProvision: a namespace that a webhook refuses with another reason', validating(webhook('h', { rules: [rule('namespaces', { operations: ['CREATE'] })], namespaceSelector: {}, objectSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-new' } } })), { hooks: { h: deny({ message: 'no', code: 422, reason: 'Invalid' }) }, needs: 'plugins-provision', cleanup: [NS] }, [POST(CM, cm()), POST(CM, { ...cm(), metadata: { generateName: 'c-' } }), gone]), id: 'plugins-provision-hook-fails' },
];

const FINALIZE = [PUT(`${NS}/finalize`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-new' }, spec: { finalizers: [] } }, quiet), { ...GET(NS, quiet), kind: 'poll', ms: 8000, until: (_, s) => s === 404 }, SLEEP(300)];
const namespace = POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-new' } }, quiet);
/** An object in a namespace that was there. */
const orphan = [namespace, POST(CM, cm('c', {}, { labels: { a: 'b' } }), quiet), DELETE(NS, undefined, quiet), ...FINALIZE];
const exists = within('plugins-exists');
const existence = [
  exists('exists-create', 'NamespaceExists: a new object in a namespace that is not there', [POST(CM, cm()), POST(CM, cm(), dry), APPLY(`${CM}/c`, 'm', cm()), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns-new/leases/l', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } })]),
  exists('exists-there', 'NamespaceExists: and in one that is', [namespace, POST(CM, cm(), quiet)]),
  exists('exists-invalid', 'NamespaceExists: validation comes first', [POST(CM, cm('c', { 'bad key': 'x' }), only('reason'))]),
  exists('exists-missing', 'NamespaceExists: an object that is not there is what is missed', [PATCH(`${CM}/c`, 'merge', {}), DELETE(`${CM}/c`), DELETE(CM, undefined, quiet)]),
  exists('exists-orphan', 'NamespaceExists: an object whose namespace is gone can neither be changed nor deleted', [...orphan, PATCH(`${CM}/c`, 'merge', { data: { x: 'y' } }), PUT(`${CM}/c`, cm()), DELETE(`${CM}/c`), DELETE(CM, undefined, { query: { labelSelector: 'a=b' } }), GET(`${CM}/c`, quiet), namespace, SLEEP(300), DELETE(`${CM}/c`, undefined, quiet)]),
  exists('exists-terminating', 'NamespaceExists: one that is being deleted exists, without NamespaceLifecycle', [namespace, DELETE(NS, undefined, quiet), POST(CM, cm(), quiet), ...FINALIZE]),
  exists('exists-review', 'NamespaceExists: a local access review tells who asks', [POST('/apis/authorization.k8s.io/v1/namespaces/$ns-new/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', spec: { user: 'u', resourceAttributes: { namespace: '$ns-new', verb: 'get', resource: 'pods' } } })]),
  exists('exists-binding', 'NamespaceExists: a subresource of what is not there', [POST(`${NS}/pods/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }), POST(`${NS}/serviceaccounts/a/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} })]),
  exists('exists-immortal', 'NamespaceLifecycle is off: the namespaces of the system may be deleted', [DELETE('/api/v1/namespaces/kube-public', undefined, { ...dry, ...quiet })]),
  { ...hooked('exists-hooks', 'NamespaceExists: a mutating hook is asked before, a validating one is not', [mutating(webhook('m', { namespaceSelector: {}, objectSelector: { matchLabels: { own: '$ns' } } })), validating(webhook('v', { namespaceSelector: {}, objectSelector: { matchLabels: { own: '$ns' } } }))], { hooks: { m: allow, v: allow }, needs: 'plugins-exists' }, [POST(CM, cm('c', {}, { labels: { own: '$ns' } })), called('m'), called('v')]), id: 'plugins-exists-hooks' },
];

export default [...provision, ...existence];
