// Modes of authorization alone and in chains, and servers without anonymous callers (§5, §6).
import { scenario, DELETE, GET, POST, PUT } from '../steps.ts';
import { as, bind, clusterBindingObject, clusterRoleBindings, inForce, may, message, nodeHeaders, person, role, sar, selfSar, whoami } from './kit/access.mjs';

const s = (needs, id, about, steps, o = {}) => scenario(`modes-${needs}-${id}`, { section: '6', about, needs, ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const alice = { as: 'alice' };
const nobody = { as: null };
/** In an order of their own: the reference has those of its bindings in any. */
const sorted = (rules) => rules?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) ?? null;
const rulesReview = (o) => POST('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: '$ns' } }, { pick: (b) => (b.kind === 'Status' ? b : { ...b.status, resourceRules: sorted(b.status.resourceRules), nonResourceRules: sorted(b.status.nonResourceRules) }), ...o });
const statusOnly = { pick: (b) => (b?.kind === 'Status' ? b : typeof b) };
const cluster = { namespace: false };

const everyMode = (needs) => [
  s(needs, 'verbs', 'each verb by a user without a grant, and by the administrator', [
    POST(maps, { metadata: { name: 'm' } }, { ...alice, ...message }), POST(maps, { metadata: { name: 'n' } }, message), GET(`${maps}/n`, { ...alice, ...message }), GET(maps, { ...alice, ...message }),
    PUT(`${maps}/n`, { metadata: { name: 'n' }, data: { a: 'b' } }, { ...alice, ...message }), DELETE(`${maps}/n`, undefined, { ...alice, ...message }), DELETE(maps, undefined, { ...alice, ...message }), GET(`${maps}?watch=1&timeoutSeconds=1`, { ...alice, text: true, compare: 'status' }),
  ]),
  s(needs, 'paths', 'paths that are no resources, by a user and by nobody', ['/healthz', '/livez', '/readyz', '/version', '/api', '/metrics', '/nothing'].flatMap((p) => [GET(p, { ...alice, ...statusOnly }), GET(p, { ...nobody, ...statusOnly })]), cluster),
  s(needs, 'who', 'who the callers are', [whoami(), whoami(alice), whoami(nobody), whoami({ headers: { authorization: 'Bearer nobody' } })], cluster),
  s(needs, 'reviews', 'what reviews of access say', [
    sar(['get', 'pods']), sar(['get', 'pods'], { user: 'u', groups: ['system:masters'] }), sar(['get', '/healthz']), sar(['get', '/healthz'], { user: 'system:anonymous', groups: ['system:unauthenticated'] }), sar(['get', 'pods'], { user: 'alice', groups: ['dev'] }),
    selfSar({ resourceAttributes: { verb: 'get', resource: 'pods' } }, alice), selfSar({ resourceAttributes: { verb: '*', group: '*', resource: '*' } }),
  ]),
  s(needs, 'rules', 'what a review of rules lists', [rulesReview(alice), rulesReview()]),
  s(needs, 'impersonate', 'who may act as somebody else', [whoami({ ...alice, headers: as('u') }), whoami({ ...alice, headers: as('u', { groups: ['system:masters'], uid: '7', extra: { a: ['b'] } }) }), whoami({ headers: as('u') })], cluster),
  s(needs, 'grant', 'a grant by RBAC', [role('r', may('get,list', 'configmaps')), bind('r', 'Role/r', person('alice')), ...(needs.includes('rbac') ? inForce : []), GET(maps, { ...alice, ...message }), POST(maps, { metadata: { name: 'm' } }, { ...alice, ...message }), sar(['list', 'configmaps'], { user: 'alice' }), sar(['create', 'configmaps'], { user: 'alice' })]),
  s(needs, 'escalate', 'a user gives himself all roles', [POST(clusterRoleBindings, clusterBindingObject('$ns-e', 'ClusterRole/cluster-admin', [person('$ns-u')]), { ...alice, ...message })], { cleanup: [`${clusterRoleBindings}/$ns-e`] }),
  s(needs, 'bootstrap', 'the default roles are there', [GET('/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin', { pick: (b) => b.rules ?? b }), GET('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin', { pick: (b) => b.subjects ?? b })], cluster),
  s(needs, 'node', 'what a node may do', [GET('/api/v1/nodes/$ns-n', { headers: nodeHeaders(), ...message }), POST('/api/v1/nodes', { metadata: { name: '$ns-n' } }, { headers: nodeHeaders(), ...message }), GET('/api/v1/pods?fieldSelector=spec.nodeName%3D$ns-n', { headers: nodeHeaders(), ...message }), sar(['get', 'secrets', { name: 's' }], { user: 'system:node:$ns-n', groups: ['system:nodes'] })], { cleanup: ['/api/v1/nodes/$ns-n'] }),
];

const paths = ['/healthz', '/livez', '/readyz', '/version', '/', '/api', '/apis', '/openapi/v3', '/nothing', '/api/v1/namespaces/default/pods'];

export default [
  ...['always-allow', 'always-deny', 'rbac-then-deny', 'deny-then-rbac', 'rbac-then-allow', 'rbac-alone'].flatMap(everyMode),
  s('no-anonymous', 'paths', 'nobody is let in without credentials', paths.map((p) => GET(p, { ...nobody, compareHeaders: ['content-type', 'www-authenticate', 'audit-id?'] })), cluster),
  s('no-anonymous', 'verbs', 'whatever the method', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'].map((method) => GET('/api/v1/namespaces/default/pods', { ...nobody, method, note: method, text: true })), cluster),
  s('no-anonymous', 'bad-header', 'what counts as no credentials', ['Basic YTpi', 'Bearer', 'Bearer  alice-token', 'alice-token'].map((authorization) => GET('/healthz', { headers: { authorization }, note: authorization, compareHeaders: ['warning'] })), cluster),
  s('no-anonymous', 'websocket', 'a websocket without a token', [GET('/api/v1/namespaces/default/pods?watch=1', { ...nobody, headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' } })], cluster),
  s('no-anonymous', 'impersonated', 'system:anonymous can be impersonated all the same', [GET('/version', { headers: as('system:anonymous'), compare: 'status' }), whoami({ headers: as('system:anonymous', { groups: ['system:authenticated'] }) }), GET('/api', { headers: as('system:anonymous'), ...message })], cluster),
  s('no-anonymous', 'users', 'users come in as ever', [whoami(), whoami(alice), GET('/healthz', { ...alice, text: true })], cluster),
];
