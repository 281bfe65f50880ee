// Acting as somebody else by Impersonate-* headers (§5).
import { scenario, GET, POST } from '../steps.ts';
import { as, user, mine, may, accountName, granted, grantedEverywhere, clusterCleanup, whoami, message, refusal } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`impersonate-${id}`, { section: '5', about, namespace: false, ...o }, steps);
const pods = '/api/v1/namespaces/$ns/pods';
const authn = { apiGroups: ['authentication.k8s.io'] };
/** One header set per step, as the administrator. */
const become = (...sets) => sets.map((headers) => whoami({ headers, note: JSON.stringify(headers).slice(0, 90) }));
const u = { 'impersonate-user': 'u' };

const identities = [
  s('user', 'a user gets the group system:authenticated and nothing else', become(u)),
  s('groups', 'groups in order; system:authenticated comes last', become({ ...u, 'impersonate-group': 'g' }, { ...u, 'impersonate-group': ['b', 'a', 'b'] })),
  s('groups-comma', 'a comma does not separate groups', become({ ...u, 'impersonate-group': 'a,b' }, { ...u, 'impersonate-group': ' a ' })),
  s('comma-and-blank', 'a comma and a blank separate nothing, either', become({ 'impersonate-user': 'Doe, John' }, { ...u, 'impersonate-group': 'cn=devs, ou=people' }, { ...u, 'impersonate-group': ['cn=a, o=b', 'c'] }, { ...u, 'impersonate-extra-k': 'a, b' }, { ...u, 'impersonate-extra-constructor': 'x' })),
  s('groups-authenticated', 'system:authenticated asked for is not added again', become({ ...u, 'impersonate-group': 'system:authenticated' }, { ...u, 'impersonate-group': ['system:authenticated', 'g'] })),
  s('groups-unauthenticated', 'with system:unauthenticated it is not added', become({ ...u, 'impersonate-group': 'system:unauthenticated' }, { ...u, 'impersonate-group': ['g', 'system:unauthenticated'] }).map((x) => ({ ...x, ...refusal }))),
  s('group-empty', 'an empty group', become({ ...u, 'impersonate-group': '' })),
  s('uid', 'a uid', become({ ...u, 'impersonate-uid': 'x-1' }, { ...u, 'impersonate-uid': '' })),
  s('extra', 'extra fields: keys in lower case, values in order', become({ ...u, 'impersonate-extra-Scopes': ['view', 'edit'] }, { ...u, 'Impersonate-Extra-ABC': 'V', 'impersonate-extra-other': 'w' })),
  s('extra-escaped', 'keys are percent-decoded after lowering', become({ ...u, 'impersonate-extra-example.com%2fscopes': 'v' }, { ...u, 'impersonate-extra-Example.COM%2FScopes%20X': 'v' }, { ...u, 'impersonate-extra-a%41': 'v' })),
  s('extra-bad-escape', 'a key that cannot be decoded stays as it is', become({ ...u, 'impersonate-extra-a%zz': 'v' }, { ...u, 'impersonate-extra-a%': 'v' })),
  s('extra-plus', 'a plus sign stays', become({ ...u, 'impersonate-extra-a+b': 'v' })),
  s('extra-no-key', 'no key at all', become({ ...u, 'impersonate-extra-': 'v' })),
  s('extra-empty-value', 'an empty value', become({ ...u, 'impersonate-extra-k': '' })),
  s('extra-comma', 'a comma does not separate values', become({ ...u, 'impersonate-extra-k': 'a,b' })),
  s('extra-same-key', 'two spellings of one key', become({ ...u, 'impersonate-extra-a-b': 'x', 'impersonate-extra-a%2db': 'y' }).map((x) => ({ ...x, pick: (b) => ({ ...b.status.userInfo, extra: { 'a-b': b.status.userInfo.extra['a-b'].sort() } }) }))),
  s('account', 'a service account gets its groups', become({ 'impersonate-user': 'system:serviceaccount:default:sa' })),
  s('account-with-groups', 'unless groups are asked for', become({ 'impersonate-user': 'system:serviceaccount:default:sa', 'impersonate-group': 'g' })),
  s('account-malformed', 'names that only look like service accounts', become(...['system:serviceaccount:default', 'system:serviceaccount::x', 'system:serviceaccount:a:b:c', 'system:serviceaccount:Bad_NS:x', 'system:serviceaccount:default:Bad_Name'].map((n) => ({ 'impersonate-user': n })))),
  s('anonymous', 'system:anonymous gets system:unauthenticated', [GET('/version', { headers: as('system:anonymous'), compare: 'status' }), GET('/api', { headers: as('system:anonymous') }), whoami({ headers: as('system:anonymous', { groups: ['system:masters'] }) }), whoami({ headers: as('system:anonymous', { groups: ['system:masters', 'system:unauthenticated'] }) }), whoami({ headers: as('system:anonymous', { groups: ['system:masters', 'system:authenticated'] }) })]),
  s('masters', 'the group system:masters can be taken on', [whoami({ headers: as('u', { groups: ['system:masters'] }) }), GET('/api/v1/nodes?limit=1', { headers: as('u', { groups: ['system:masters'] }), compare: 'status' })]),
  s('self', 'as oneself: groups and uid are lost', become({ 'impersonate-user': 'admin' }, { 'impersonate-user': 'alice' })),
  s('system-users', 'users of the system', become({ 'impersonate-user': 'system:kube-scheduler' }, { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' }, { 'impersonate-user': 'system:apiserver' })),
  s('user-blanks', 'blanks around the name do not count, inside they do', become({ 'impersonate-user': '  u  ' }, { 'impersonate-user': 'a b' })),
  s('user-twice', 'two user headers: the first counts', become({ 'impersonate-user': ['u', 'v'] })),
  s('user-empty', 'an empty user is none', become({ 'impersonate-user': '' })),
  s('header-case', 'header names in any case', become({ 'IMPERSONATE-USER': 'u', 'Impersonate-GROUP': 'g' })),
  s('unknown-header', 'other headers with that prefix do not count', become({ ...u, 'impersonate-foo': 'x' }, { 'impersonate-foo': 'x' })),
];

const withoutUser = [
  s('group-only', 'a group without a user', [GET('/version', { headers: { 'impersonate-group': 'g' }, compareHeaders: ['content-type', 'x-content-type-options', 'cache-control'] }), GET('/api/v1/namespaces/default/pods?limit=1', { headers: { 'impersonate-group': ['g', 'h'] } }), GET('/version', { headers: { 'impersonate-user': '', 'impersonate-group': 'g' } })]),
  s('uid-only', 'a uid without a user', [GET('/version', { headers: { 'impersonate-uid': 'x' } })]),
  s('extra-only', 'an extra field without a user', [GET('/version', { headers: { 'impersonate-extra-k': 'x' } })]),
  s('group-and-extra-only', 'several without a user', [GET('/version', { headers: { 'impersonate-group': 'g', 'impersonate-uid': 'x', 'impersonate-extra-k': 'x' } })]),
  s('group-only-by-bob', 'the same by one who may not impersonate', [GET('/version', { as: 'bob', headers: { 'impersonate-group': 'g' } }), GET('/version', { as: null, headers: { 'impersonate-uid': 'g' } })]),
  s('escaped-path', 'the path in that answer is escaped for HTML', [GET('/version?a=<b>&c="d"', { headers: { 'impersonate-group': 'g' } })]),
];

const refused = [
  s('refused-user', 'a user', [GET('/version', { as: 'bob', headers: u, compareHeaders: ['content-type', 'x-content-type-options'] }), GET('/version', { as: null, headers: u })]),
  s('refused-account', 'a service account', [GET('/version', { as: 'bob', headers: as('system:serviceaccount:default:sa') })]),
  s('refused-first', 'the user is asked about first', [GET('/version', { as: 'bob', headers: as('u', { groups: ['g'], uid: 'x', extra: { k: ['v'] } }) })]),
  s('refused-oneself', 'even oneself', [GET('/version', { as: 'bob', headers: as('bob') })]),
  s('refused-before-path', 'before anything about the request', [POST('/api/v1/namespaces/default/nothings', '{', { as: 'bob', headers: u }), GET('/nothing', { as: 'bob', headers: u })]),
  s('bad-token', 'a bad token is told first', [GET('/version', { headers: { ...u, authorization: 'Bearer nobody' } }), GET('/version', { headers: { 'impersonate-group': 'g', authorization: 'Bearer nobody' } })]),
];

/** A service account with these rights, whose token then impersonates: so the impersonator belongs to the scenario alone. */
const account = [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, { compare: 'status' }), POST('/api/v1/namespaces/$ns/serviceaccounts/sa/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { id: 't', compare: 'status' })];
const rights = (id, about, rules, ...tries) => s(`right-${id}`, about, [...account, ...toAccount(rules), ...tries.map((headers) => whoami({ headers: { authorization: 'Bearer ${t.status.token}', ...headers }, note: JSON.stringify(headers) }))], { namespace: true, cleanup: clusterCleanup });
/** grantedEverywhere for the service account instead of the user. */
const toAccount = (rules) => grantedEverywhere(...rules).map((x) => (x.body?.kind === 'ClusterRoleBinding' && x.body.metadata.name === '$ns-granted' ? { ...x, body: { ...x.body, subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: '$ns' }] } } : x));
const grants = [
  rights('user', 'the verb impersonate on users', [may('impersonate', 'users')], as('anyone'), as('anyone', { groups: ['g'] }), as('anyone', { uid: 'x' }), as('anyone', { extra: { k: ['v'] } }), as('system:serviceaccount:default:x')),
  rights('user-named', 'users by name', [may('impersonate', 'users', { resourceNames: ['jane'] })], as('jane'), as('joe')),
  rights('group', 'groups', [may('impersonate', 'users,groups')], as('u', { groups: ['g', 'system:masters'] })),
  rights('group-named', 'groups by name; each one is asked for', [may('impersonate', 'users'), may('impersonate', 'groups', { resourceNames: ['g', 'h'] })], as('u', { groups: ['g'] }), as('u', { groups: ['g', 'h'] }), as('u', { groups: ['g', 'x'] }), as('u', { groups: ['system:authenticated'] })),
  rights('group-without-user', 'groups alone do not help', [may('impersonate', 'groups')], as('u', { groups: ['g'] })),
  rights('uid', 'uids in authentication.k8s.io', [may('impersonate', 'users'), may('impersonate', 'uids', authn)], as('u', { uid: 'x' }), as('u', { uid: 'x', groups: ['g'] })),
  rights('uid-named', 'uids by value', [may('impersonate', 'users'), may('impersonate', 'uids', { ...authn, resourceNames: ['x'] })], as('u', { uid: 'x' }), as('u', { uid: 'y' })),
  rights('uid-core', 'uids of the core group do not count', [may('impersonate', 'users,uids,userextras/k')], as('u', { uid: 'x' }), as('u', { extra: { k: ['v'] } })),
  rights('extra', 'extra fields by key', [may('impersonate', 'users'), may('impersonate', 'userextras/scopes', authn)], as('u', { extra: { scopes: ['a', 'b'] } }), as('u', { extra: { other: ['a'] } })),
  rights('extra-value', 'extra fields by key and value', [may('impersonate', 'users'), may('impersonate', 'userextras/scopes', { ...authn, resourceNames: ['view'] })], as('u', { extra: { scopes: ['view'] } }), as('u', { extra: { scopes: ['view', 'edit'] } })),
  rights('extra-any', 'userextras/* is no pattern, userextras no cover, * is', [may('impersonate', 'users'), may('impersonate', 'userextras,userextras/*', authn)], as('u', { extra: { scopes: ['a'] } })),
  rights('extra-star', '* covers all of them', [may('impersonate', '*', { apiGroups: ['', 'authentication.k8s.io'] })], as('u', { groups: ['g'], uid: 'x', extra: { scopes: ['a'], 'example.com/b': ['c'] } }), as('system:serviceaccount:default:x')),
  rights('extra-path', 'a key with a slash', [may('impersonate', 'users'), may('impersonate', 'userextras/example.com/scopes', authn)], as('u', { extra: { 'example.com/scopes': ['a'] } }), as('u', { extra: { 'example.com': ['a'] } })),
  rights('account', 'service accounts need their own right', [may('impersonate', 'serviceaccounts')], as('system:serviceaccount:default:x'), as('system:serviceaccount:default:x', { groups: ['g'] }), as('jane')),
  rights('account-named', 'service accounts by name', [may('impersonate', 'serviceaccounts', { resourceNames: ['x'] })], as('system:serviceaccount:default:x'), as('system:serviceaccount:default:y')),
  rights('other-verbs', 'other verbs do not help', [may('get,create,use,bind', 'users,groups')], as('jane')),
  s('right-account-in-namespace', 'service accounts of one namespace, by a role there', [...account, ...granted(may('impersonate', 'serviceaccounts,users')).map((x) => (x.body?.kind === 'RoleBinding' && x.body.metadata.name === 'granted' ? { ...x, body: { ...x.body, subjects: [{ kind: 'ServiceAccount', name: 'sa', namespace: '$ns' }] } } : x)),
    ...[as(accountName('other')), as(accountName('other', 'default')), as('jane')].map((headers) => whoami({ headers: { authorization: 'Bearer ${t.status.token}', ...headers } }))], { namespace: true }),
];

const effects = [
  s('rights-are-the-users', 'the rights are those of the user, not of the administrator', [...granted(may('get', 'pods')), GET(`${pods}/none`, mine), GET(pods, { ...mine, ...message }), GET('/metrics', { ...mine, ...message })], { namespace: true }),
  s('managed-and-events', 'the object is written as ever: no trace of who was impersonated', [...granted(may('create', 'configmaps')), POST('/api/v1/namespaces/$ns/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }, mine)], { namespace: true }),
  s('review-of-self', 'reviews of oneself are about the user', [POST('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }, { ...mine, pick: (b) => b.status }), whoami({ headers: as(user, { uid: 'i', extra: { 'example.com/k': ['v'] } }) })], { namespace: true }),
];

export default [...identities, ...withoutUser, ...refused, ...grants, ...effects];
