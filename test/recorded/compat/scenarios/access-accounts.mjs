// Tokens of service accounts in use: whom they stand for, for which audience, and until when (§5). Their shape is in meta-token.
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { whoami, tokenReview, message, credentials, role, bind, account, inForce, may, as } from './kit/access.mjs';

const core = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
const made = POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, { id: 'sa', ...quiet });
const s = (id, about, steps, o = {}) => scenario(`account-${id}`, { section: '5', about, ...o }, [made, ...steps]);
const ask = (spec = {}, o = {}) => POST(`${core}/serviceaccounts/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }, { id: 't', ...quiet, ...o });
const bearer = (id = 't') => ({ authorization: `Bearer \${${id}.status.token}` });
const token = '${t.status.token}';
const me = (o = {}) => whoami({ ...o, headers: { ...bearer(), ...o.headers } });
const bound = (kind, name) => ({ boundObjectRef: { apiVersion: 'v1', kind, name } });
const issuer = 'https://kubernetes.default.svc';
/** Repeats until the token is refused: the server may have believed it for up to ten seconds. */
const refusedSoon = { ...GET(`${core}/pods`, { headers: bearer(), note: 'until it is refused' }), kind: 'poll', ms: 20000, until: (_, status) => status === 401 };
const pod = (name, spec = {}, metadata = {}) => POST(`${core}/pods`, { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { serviceAccountName: 'sa', containers: [{ name: 'c', image: 'i' }], ...spec } }, quiet);
const secret = (name, rest = {}) => POST(`${core}/secrets`, { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...rest.metadata }, type: rest.type ?? 'Opaque', data: rest.data ?? {} }, quiet);
const node = (name) => POST('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } }, quiet);
const onNode = { cleanup: ['/api/v1/nodes/$ns-n'] };

const identity = [
  s('whoami', 'the user, its groups, the uid of the account and the id of the token', [ask(), me(), GET(`${core}/serviceaccounts/sa`, { pick: (b) => b.metadata.uid, note: 'the same uid' })]),
  s('whoami-pod', 'a token bound to a pod names it', [pod('p'), ask(bound('Pod', 'p')), me()]),
  s('whoami-pod-on-node', 'and its node, when that exists', [node('$ns-n'), pod('p', { nodeName: '$ns-n' }), ask(bound('Pod', 'p')), me()], onNode),
  s('whoami-pod-on-missing-node', 'a node that does not exist is named without its uid', [pod('p', { nodeName: '$ns-none' }), ask(bound('Pod', 'p')), me()]),
  s('whoami-node', 'a token bound to a node names it', [node('$ns-n'), ask(bound('Node', '$ns-n')), me()], onNode),
  s('whoami-secret', 'a token bound to a secret does not name it', [secret('s'), ask(bound('Secret', 's')), me()]),
  s('credential-id', 'the id of the credential is that of the token', [ask(), whoami({ headers: bearer(), pick: (b, raw) => ({ form: /^JTI=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(raw.status.userInfo.extra['authentication.kubernetes.io/credential-id'][0]) }) })]),
  s('two-tokens', 'two tokens of one account differ in that id only', [ask(), me(), ask({}, { id: 't2' }), whoami({ headers: bearer('t2') }), whoami({ headers: bearer('t2'), pick: (b) => b.status.userInfo.extra['authentication.kubernetes.io/credential-id'] }), whoami({ headers: bearer(), pick: (b) => b.status.userInfo.extra['authentication.kubernetes.io/credential-id'] })]),
  s('rights', 'a token has the rights of the account', [role('r', may('get', 'pods')), bind('b', 'Role/r', account('sa')), ...inForce, ask(), GET(`${core}/pods/none`, { headers: bearer() }), GET(`${core}/pods`, { headers: bearer() }), GET('/api', { headers: bearer(), ...quiet }), GET('/openid/v1/jwks', { headers: { ...bearer(), accept: '*/*' }, ...quiet })]),
  s('impersonate', 'an account cannot impersonate by itself', [ask(), me({ headers: as('x') })]),
  s('case-of-scheme', 'the scheme in any case', [ask(), whoami({ headers: { authorization: 'bearer ${t.status.token}' } })]),
];

const audiences = [
  s('audience-default', 'without audiences the token is for the server, reviewed by default and by name', [ask(), tokenReview(token), tokenReview(token, [issuer]), tokenReview(token, ['other']), tokenReview(token, ['other', issuer])]),
  s('audience-other', 'a token for somebody else', [ask({ audiences: ['other'] }), me(), tokenReview(token), tokenReview(token, ['other']), tokenReview(token, ['other', 'x']), tokenReview(token, [issuer]), tokenReview(token, ['x'])]),
  s('audience-both', 'a token for the server and others', [ask({ audiences: ['other', issuer] }), me({ pick: (b) => b.status.userInfo.username }), tokenReview(token), tokenReview(token, ['other']), tokenReview(token, [issuer, 'other', 'third'])]),
  s('audience-prefix', 'an audience is compared as a whole', [ask({ audiences: [`${issuer}/`, issuer.slice(0, -1)] }), me()]),
];

const reviews = [
  s('review', 'a TokenReview in full', [ask(), tokenReview(token, undefined, { pick: (b) => ({ ...b, spec: { ...b.spec, token: 'the token' }, status: { ...b.status, user: credentials(b.status.user) } }) })]),
  s('review-static', 'tokens of the token file know no audience: the answer repeats those asked for that the server has', [tokenReview('alice-token'), tokenReview('alice-token', [issuer]), tokenReview('alice-token', ['x']), tokenReview('alice-token', [issuer, 'x'])]),
  s('review-bad', 'tokens that are not good', [tokenReview('nobody'), tokenReview('a.b.c'), tokenReview('nobody', ['x']), ask(), tokenReview('${t.status.token}x')]),
  s('review-changed', 'a token whose claims or signature were changed', [ask(), tokenReview('x${t.status.token}'), tokenReview('${t.status.token}A')]),
  s('review-refused', 'who may not review tokens', [ask(), tokenReview(token, undefined, { headers: bearer() }), tokenReview(token, undefined, { as: 'alice' }), tokenReview(token, undefined, { as: null })]),
  s('review-by-delegate', 'system:auth-delegator may', [ask(), POST('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: '$ns-d' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:auth-delegator' }, subjects: [account('sa')] }, quiet), { ...tokenReview('alice-token', undefined, { headers: bearer(), ...quiet }), kind: 'poll', ms: 15000, until: (_, st) => st === 201 }, tokenReview('alice-token', undefined, { headers: bearer() })], { cleanup: ['/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/$ns-d'] }),
];

const endings = [
  s('account-recreated', 'a new account of the same name does not inherit the token', [ask(), DELETE(`${core}/serviceaccounts/sa`, undefined, quiet), POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, quiet), refusedSoon, tokenReview(token)]),
  s('account-deleted-review', 'the review of a token of a deleted account tells why', [ask(), DELETE(`${core}/serviceaccounts/sa`, undefined, quiet), refusedSoon, tokenReview(token)]),
  s('account-marked', 'an account that is being deleted is still good for a minute', [PATCH(`${core}/serviceaccounts/sa`, 'merge', { metadata: { finalizers: ['example.com/x'] } }, quiet), ask(), DELETE(`${core}/serviceaccounts/sa`, undefined, quiet), me({ pick: (b) => b.status.userInfo.username })]),
  s('secret-deleted', 'a token bound to a secret ends with it', [secret('s'), ask(bound('Secret', 's')), me({ pick: (b) => b.status.userInfo.username }), DELETE(`${core}/secrets/s`, undefined, quiet), refusedSoon, tokenReview(token)]),
  s('secret-recreated', 'a new secret of the same name does not revive it', [secret('s'), ask(bound('Secret', 's')), DELETE(`${core}/secrets/s`, undefined, quiet), secret('s'), refusedSoon, tokenReview(token)]),
  s('pod-deleted', 'a token bound to a pod ends with it', [pod('p'), ask(bound('Pod', 'p')), me({ pick: (b) => b.status.userInfo.username }), DELETE(`${core}/pods/p`, { gracePeriodSeconds: 0 }, quiet), refusedSoon, tokenReview(token)]),
  s('pod-recreated', 'a new pod of the same name does not revive it', [pod('p'), ask(bound('Pod', 'p')), DELETE(`${core}/pods/p`, { gracePeriodSeconds: 0 }, quiet), pod('p'), refusedSoon, tokenReview(token)]),
  s('pod-marked', 'a pod that is being deleted keeps its token for a while', [pod('p', {}, { finalizers: ['example.com/x'] }), ask(bound('Pod', 'p')), DELETE(`${core}/pods/p`, { gracePeriodSeconds: 0 }, quiet), me({ pick: (b) => b.status.userInfo.username })]),
  s('node-deleted', 'a token bound to a node ends with it', [node('$ns-n'), ask(bound('Node', '$ns-n')), me({ pick: (b) => b.status.userInfo.username }), DELETE('/api/v1/nodes/$ns-n', undefined, quiet), refusedSoon, tokenReview(token)], onNode),
  s('pod-node-deleted', 'a token bound to a pod does not end with the node of the pod', [node('$ns-n'), pod('p', { nodeName: '$ns-n' }), ask(bound('Pod', 'p')), DELETE('/api/v1/nodes/$ns-n', undefined, quiet), me({ pick: (b) => b.status.userInfo.username })], onNode),
];

/** A secret of the type for such tokens; without a controller nobody fills it. */
const legacySecret = (name, rest = {}) => secret(name, { type: 'kubernetes.io/service-account-token', metadata: { annotations: { 'kubernetes.io/service-account.name': 'sa' } }, ...rest });
const legacy = [
  s('legacy-secret', 'a secret for a token of the account stays without a token: a controller would add it', [legacySecret('s'), GET(`${core}/secrets/s`, { pick: (b) => ({ type: b.type, data: b.data ?? null, annotations: b.metadata.annotations }) })]),
  s('legacy-secret-made-up', 'a token that somebody wrote into such a secret is not believed', [legacySecret('s', { data: { token: Buffer.from('made-up').toString('base64') } }), whoami({ headers: { authorization: 'Bearer made-up' } })]),
  s('legacy-secret-bound', 'a token bound to such a secret works', [legacySecret('s'), ask(bound('Secret', 's')), me({ pick: (b) => b.status.userInfo.username })]),
  s('legacy-claims-unsigned', 'claims of a legacy token without a good signature', [whoami({ headers: { authorization: `Bearer ${[{ alg: 'RS256', kid: '' }, { iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:default:sa', 'kubernetes.io/serviceaccount/namespace': 'default', 'kubernetes.io/serviceaccount/service-account.name': 'sa' }].map((x) => Buffer.from(JSON.stringify(x)).toString('base64url')).join('.')}.c2ln` } })]),
];

const requests = [
  s('token-by-role', 'create on serviceaccounts/token lets one ask, by name too', [role('r', may('create', 'serviceaccounts/token', { resourceNames: ['sa'] })), bind('b', 'Role/r'), ...inForce, ask({}, { headers: as('$ns-u') }), POST(`${core}/serviceaccounts/other/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { headers: as('$ns-u') })]),
  s('token-create-not-enough', 'create on serviceaccounts does not', [role('r', may('create,get', 'serviceaccounts')), bind('b', 'Role/r'), ...inForce, POST(`${core}/serviceaccounts/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { headers: as('$ns-u'), ...message })]),
  s('token-for-itself', 'an account cannot ask for a token of its own', [ask(), POST(`${core}/serviceaccounts/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { headers: bearer() })]),
];

export default [...identity, ...audiences, ...reviews, ...endings, ...legacy, ...requests];
