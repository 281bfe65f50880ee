// Who asks, what they were given, and reviews: shared by the access-* scenarios.
// Callers are impersonated users whose names hold $ns, so that the grants of a scenario reach nobody else.
import { POST } from '../../steps.ts';

const rbacGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${rbacGroup}/v1`;
const inNs = `/apis/${apiVersion}/namespaces/$ns`;
const quiet = { compare: 'status' };

/** Headers that impersonate: as('u'), as('u', { groups: ['g'], uid: 'x', extra: { key: ['v'] } }). */
export const as = (user, { groups = [], uid, extra = {} } = {}) => ({
  'impersonate-user': user,
  ...(groups.length ? { 'impersonate-group': groups } : {}),
  ...(uid ? { 'impersonate-uid': uid } : {}),
  ...Object.fromEntries(Object.entries(extra).map(([k, v]) => [`impersonate-extra-${encodeURIComponent(k)}`, v])),
});
export const user = '$ns-u';
/** Options of a step that the scenario's own user sends. */
export const mine = { headers: as(user) };
export const accountName = (name, ns = '$ns') => `system:serviceaccount:${ns}:${name}`;
export const nodeHeaders = (name = '$ns-n') => as(`system:node:${name}`, { groups: ['system:nodes'] });

export const person = (name = user) => ({ kind: 'User', name });
export const groupOf = (name) => ({ kind: 'Group', name });
export const account = (name, namespace = '$ns') => ({ kind: 'ServiceAccount', name, namespace });

/** A rule: may('get,list', 'pods,pods/log'), may('get', 'deployments', { apiGroups: ['apps'] }). */
export const may = (verbs, resources, o = {}) => ({ apiGroups: [''], resources: resources.split(','), verbs: verbs.split(','), ...o });
export const mayVisit = (verbs, ...nonResourceURLs) => ({ nonResourceURLs, verbs: verbs.split(',') });
export const onRbac = { apiGroups: [rbacGroup] };

export const roleObject = (name, rules, rest = {}) => ({ apiVersion, kind: 'Role', metadata: { name }, rules, ...rest });
export const clusterRoleObject = (name, rules, rest = {}) => ({ ...roleObject(name, rules, rest), kind: 'ClusterRole' });
export const bindingObject = (name, ref, subjects) => ({ apiVersion, kind: 'RoleBinding', metadata: { name }, roleRef: refTo(ref), ...(subjects ? { subjects } : {}) });
export const clusterBindingObject = (name, ref, subjects) => ({ ...bindingObject(name, ref, subjects), kind: 'ClusterRoleBinding' });
/** 'Role/r' or 'ClusterRole/r'. */
const refTo = (ref) => { const [kind, ...name] = ref.split('/'); return { apiGroup: rbacGroup, kind, name: name.join('/') }; };

export const roles = `${inNs}/roles`, roleBindings = `${inNs}/rolebindings`;
export const clusterRoles = `/apis/${apiVersion}/clusterroles`, clusterRoleBindings = `/apis/${apiVersion}/clusterrolebindings`;

/** Steps by the administrator that make roles and bindings; only their status is recorded. */
export const role = (name, ...rules) => POST(roles, roleObject(name, rules), quiet);
export const clusterRole = (name, ...rules) => POST(clusterRoles, clusterRoleObject(name, rules), quiet);
export const bind = (name, ref, ...subjects) => POST(roleBindings, bindingObject(name, ref, subjects.length ? subjects : [person()]), quiet);
export const clusterBind = (name, ref, ...subjects) => POST(clusterRoleBindings, clusterBindingObject(name, ref, subjects.length ? subjects : [person()]), quiet);

const sars = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const sarOf = (spec) => ({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec });
/** Waits until a grant (or with `allowed: false` its removal) has reached the authorizer. */
const settles = (spec, allowed = true) => ({ ...POST(sars, sarOf(spec), { ...quiet, note: 'until the grant is in force' }), kind: 'poll', ms: 15000, until: (b) => b?.status?.allowed === allowed });
/** [verb, resource, { group, name, ... }] or [verb, '/path']. */
export const attributesOf = ([verb, what, o = {}]) => (what.startsWith('/')
  ? { nonResourceAttributes: { verb, path: what } }
  : { resourceAttributes: { namespace: '$ns', verb, resource: what.split('/')[0], ...(what.includes('/') ? { subresource: what.split('/')[1] } : {}), ...o } });
export const until = (request, who = { user }, allowed) => settles({ ...who, ...attributesOf(request) }, allowed);

/** Every grant of a scenario ends with one that only marks the end: once it is in force, so are the ones before it. */
const marker = may('use', 'markers', { apiGroups: ['$ns.example.com'] });
const markerSeen = settles({ user: '$ns-marker', resourceAttributes: { namespace: '$ns', verb: 'use', group: '$ns.example.com', resource: 'markers' } });
const clusterMarkerSeen = settles({ user: '$ns-marker', resourceAttributes: { verb: 'use', group: '$ns.example.com', resource: 'markers' } });
/** The user of the scenario gets these rules in its namespace. */
export const granted = (...rules) => [role('granted', ...rules), bind('granted', 'Role/granted'), ...inForce];
export const inForce = [role('marker', marker), bind('marker', 'Role/marker', person('$ns-marker')), markerSeen];
/** The same in every namespace; the scenario lists clusterCleanup in its cleanup. */
export const grantedEverywhere = (...rules) => [clusterRole('$ns-granted', ...rules), clusterBind('$ns-granted', 'ClusterRole/$ns-granted'), ...inForceEverywhere];
export const inForceEverywhere = [clusterRole('$ns-marker', marker), clusterBind('$ns-marker', 'ClusterRole/$ns-marker', person('$ns-marker')), clusterMarkerSeen];
export const clusterCleanup = ['$ns-granted', '$ns-marker'].flatMap((n) => [`${clusterRoles}/${n}`, `${clusterRoleBindings}/${n}`]);

/** A SubjectAccessReview whose answer is compared by its status alone. */
export const sar = (request, who = { user }, o = {}) => POST(sars, sarOf({ ...who, ...attributesOf(request) }), { pick: (b) => (b.kind === 'Status' ? b : b.status), note: `${Object.values(who).flat().join(' ')}: ${request[0]} ${request[1]}${request[2] ? ` ${JSON.stringify(request[2])}` : ''}`, ...o });
export const sarObject = sarOf;
export const sarPath = sars;
export const selfSar = (spec, o = {}) => POST('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }, { pick: (b) => (b.kind === 'Status' ? b : b.status), ...o });
/** Who the server takes the caller for. */
export const whoami = (o = {}) => POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, { pick: (b) => (b.kind === 'Status' || !b.status ? b : credentials(b.status.userInfo)), ...o });
/** The id of a credential differs from run to run: only its kind is kept. */
export const credentials = (u) => (u?.extra?.['authentication.kubernetes.io/credential-id'] ? { ...u, extra: { ...u.extra, 'authentication.kubernetes.io/credential-id': u.extra['authentication.kubernetes.io/credential-id'].map((c) => c.split('=')[0]) } } : u);
export const tokenReview = (token, audiences, o = {}) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, ...(audiences ? { audiences } : {}) } }, { pick: (b) => (b.kind === 'Status' || !b.status ? b : { ...b.status, ...(b.status.user ? { user: credentials(b.status.user) } : {}) }), ...o });

/** Only the message of a refusal, or the kind of what came instead. */
export const message = { pick: (b) => (b?.kind === 'Status' && b.status === 'Failure' ? b.message : b?.kind ?? b) };
/** A refusal in full; of anything else only its kind: the objects themselves are tested elsewhere. */
export const refusal = { pick: (b) => (b?.kind === 'Status' && b.status === 'Failure' ? b : { kind: b?.kind ?? typeof b }) };
