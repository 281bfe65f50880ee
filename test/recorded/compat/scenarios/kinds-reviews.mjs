// authentication.k8s.io/v1 and authorization.k8s.io/v1: reviews, which are answered and never stored; and TokenRequest.
import { scenario, GET, POST, PATCH, DELETE, POLL } from '../steps.ts';
import { tidy } from './kit/kinds-groups.mjs';

const authn = '/apis/authentication.k8s.io/v1', authz = '/apis/authorization.k8s.io/v1';
const review = (group, kind, spec, o) => ({ apiVersion: group.slice(6), kind, ...(spec ? { spec } : {}), ...o });
const post = (group, resource, kind, spec, o = {}, step = {}) => POST(`${group}/${resource}`, review(group, kind, spec, o), { pick: tidy, ...step });

const sar = (spec, o, step) => post(authz, 'subjectaccessreviews', 'SubjectAccessReview', spec, o, step);
const selfSar = (spec, o, step) => post(authz, 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', spec, o, step);
const localSar = (spec, o, step) => post(authz, 'namespaces/$ns/localsubjectaccessreviews', 'LocalSubjectAccessReview', spec, o, step);
const attributes = { verb: 'get', resource: 'pods', namespace: '$ns' };
const noNamespace = { namespace: false };
const sorted = (list) => list?.map((r) => JSON.stringify(r)).sort().map((r) => JSON.parse(r));

export default [
  scenario('selfsubjectreview', { section: '5', about: 'SelfSubjectReview: who the server takes the caller for', ...noNamespace }, [
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview'),
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, {}, { as: 'alice' }),
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, {}, { as: 'bob' }),
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, {}, { as: null }),
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, { status: { userInfo: { username: 'fake' } }, metadata: { name: 'n', labels: { a: 'b' } } }),
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, {}, { headers: { 'impersonate-user': 'someone', 'impersonate-group': 'g', 'impersonate-uid': 'u1', 'impersonate-extra-scopes': 'view' } }),
  ]),
  scenario('selfsubjectreview-dry-run', { section: '4.8', about: 'SelfSubjectReview: dry run and other verbs', ...noNamespace }, [
    post(authn, 'selfsubjectreviews', 'SelfSubjectReview', undefined, {}, { query: { dryRun: 'All' } }),
    GET(`${authn}/selfsubjectreviews`), GET(`${authn}/selfsubjectreviews/x`), DELETE(`${authn}/selfsubjectreviews`), PATCH(`${authn}/selfsubjectreviews/x`, 'merge', {}),
  ]),
  scenario('tokenreview', { section: '5', about: 'TokenReview: known, unknown and missing tokens', ...noNamespace }, [
    ...[{ token: 'alice-token' }, { token: 'bob-token' }, { token: 'wrong' }, { token: '' }, undefined, { token: 'alice-token', audiences: ['other'] }].map((spec) => post(authn, 'tokenreviews', 'TokenReview', spec, {}, { pick: (b) => tidy(b.status?.audiences ? { ...b, status: { ...b.status, audiences: 'some' } } : b) })),
    post(authn, 'tokenreviews', 'TokenReview', { token: 'alice-token' }, { metadata: { namespace: 'x' } }),
  ]),
  scenario('tokenreview-by-alice', { section: '5', about: 'TokenReview: needs the right to create it', ...noNamespace }, [post(authn, 'tokenreviews', 'TokenReview', { token: 'bob-token' }, {}, { as: 'alice' })]),

  scenario('subjectaccessreview-answers', { section: '5', about: 'SubjectAccessReview: allowed, not allowed, and the reason' }, [
    sar({ user: 'alice', resourceAttributes: attributes }), sar({ groups: ['system:masters'], resourceAttributes: attributes }), sar({ user: 'x', groups: ['system:masters'], uid: 'u', extra: { k: ['v'] }, resourceAttributes: { ...attributes, group: 'g', version: 'v', subresource: 's', name: 'n' } }),
    sar({ user: 'alice', nonResourceAttributes: { path: '/healthz', verb: 'get' } }), sar({ groups: ['system:unauthenticated'], nonResourceAttributes: { path: '/healthz', verb: 'get' } }), sar({ user: 'alice', resourceAttributes: {} }),
  ]),
  scenario('subjectaccessreview-selectors', { section: '5', about: 'SubjectAccessReview: field and label selectors in the attributes', ...noNamespace }, [
    { rawSelector: 'a=b' }, { requirements: [{ key: 'k', operator: 'In', values: ['v'] }] }, {}, { rawSelector: 'a=b', requirements: [{ key: 'k', operator: 'In', values: ['v'] }] }, { requirements: [{ key: '', operator: 'In' }] }, { requirements: [{ key: 'k', operator: 'Like' }] }, { rawSelector: 'a===b' },
  ].map((selector) => sar({ user: 'alice', resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: selector, labelSelector: selector } }))),
  scenario('subjectaccessreview-refuses', { section: '4.9', about: 'SubjectAccessReview: what is missing or too much', ...noNamespace }, [
    sar(undefined), sar({ user: 'a' }), sar({ resourceAttributes: {} }), sar({ user: 'a', resourceAttributes: {}, nonResourceAttributes: {} }), sar({ user: 'a', resourceAttributes: {} }, { metadata: { name: 'n' } }), sar({ user: 'a', resourceAttributes: {} }, { metadata: { labels: { a: 'b' } } }),
  ]),
  scenario('selfsubjectaccessreview', { section: '5', about: 'SelfSubjectAccessReview: for admin, alice and nobody' }, [
    selfSar({ resourceAttributes: attributes }), selfSar({ resourceAttributes: attributes }, {}, { as: 'alice' }), selfSar({ nonResourceAttributes: { path: '/api', verb: 'get' } }, {}, { as: 'alice' }), selfSar({ resourceAttributes: attributes }, {}, { as: null }),
    selfSar(undefined), selfSar({}), selfSar({ resourceAttributes: {}, nonResourceAttributes: {} }), selfSar({ resourceAttributes: {} }, { metadata: { name: 'n' } }),
  ]),
  scenario('localsubjectaccessreview', { section: '5', about: 'LocalSubjectAccessReview: only of its own namespace' }, [
    localSar({ user: 'alice', resourceAttributes: attributes }), localSar({ groups: ['system:masters'], resourceAttributes: attributes }, { metadata: { namespace: '$ns' } }),
    localSar({ user: 'alice', resourceAttributes: { ...attributes, namespace: 'other' } }), localSar({ user: 'alice', resourceAttributes: { ...attributes, namespace: undefined } }), localSar({ user: 'alice', nonResourceAttributes: { path: '/', verb: 'get' } }),
    localSar({ user: 'alice', resourceAttributes: attributes }, { metadata: { name: 'n' } }), localSar({ user: 'alice', resourceAttributes: attributes }, { metadata: { namespace: 'other' } }), localSar(undefined),
  ]),
  scenario('accessreviews-with-every-attribute', { section: '5', about: 'The three access reviews echo every attribute' }, [
    { ...attributes, group: 'g', version: 'v', subresource: 's', name: 'n', fieldSelector: { requirements: [{ key: 'f', operator: 'NotIn', values: ['x', 'y'] }] }, labelSelector: { requirements: [{ key: 'l', operator: 'Exists' }] } },
  ].flatMap((resourceAttributes) => [sar({ user: 'u', groups: ['g'], uid: 'i', extra: { 'example.com/k': ['v', 'w'] }, resourceAttributes }), selfSar({ resourceAttributes }), localSar({ user: 'u', groups: ['g'], uid: 'i', extra: { k: ['v'] }, resourceAttributes })])),
  scenario('selfsubjectrulesreview-of-a-user', { section: '5', about: 'SelfSubjectRulesReview: rules of roles in the namespace beside those of every user' }, [
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], resourceNames: ['n'], verbs: ['get', 'list'] }] }, { compare: 'status' }),
    POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'r' }, roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, { compare: 'status' }),
    POLL('/api/v1/namespaces/$ns/pods/n', (b, status) => status !== 403, { headers: { 'impersonate-user': '$ns-u' }, compare: 'status' }),
    post(authz, 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace: '$ns' }, {}, { headers: { 'impersonate-user': '$ns-u' }, pick: (b) => ({ ...b, status: { ...b.status, resourceRules: sorted(b.status?.resourceRules), nonResourceRules: sorted(b.status?.nonResourceRules) } }) }),
  ]),
  scenario('selfsubjectrulesreview', { section: '5', about: 'SelfSubjectRulesReview: the rules of the caller in a namespace' }, [
    post(authz, 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace: '$ns' }, {}, { pick: (b) => ({ ...b, status: { ...b.status, resourceRules: b.status?.resourceRules?.length > 0, nonResourceRules: b.status?.nonResourceRules?.length > 0 } }) }),
    post(authz, 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace: '' }), post(authz, 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', undefined, {}, { as: 'alice' }),
  ]),

  scenario('tokenrequest-of-serviceaccount', { section: '4.2', about: 'TokenRequest: a token for a ServiceAccount, and what is refused' }, [
    POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }, { compare: 'status' }),
    ...[{}, { audiences: ['a', 'b'], expirationSeconds: 600 }, { expirationSeconds: 599 }, { expirationSeconds: 4294967297 }, { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'absent' } }, { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'c' } }].map((spec) => POST('/api/v1/namespaces/$ns/serviceaccounts/s/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }, { pick: (b) => (b.status?.token ? { ...b, spec: { ...b.spec, audiences: b.spec.audiences[0] === 'a' ? b.spec.audiences : 'default' }, status: { ...b.status, token: 'given' } } : b) })),
    POST('/api/v1/namespaces/$ns/pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { serviceAccountName: 's', containers: [{ name: 'c', image: 'i' }] } }, { compare: 'status' }),
    ...[{ name: 'p' }, { name: 'p', uid: '00000000-0000-0000-0000-000000000000' }].map((ref) => POST('/api/v1/namespaces/$ns/serviceaccounts/s/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['a'], boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...ref } } }, { pick: (b) => (b.status?.token ? { ...b, status: { ...b.status, token: 'given' } } : b) })),
    POST('/api/v1/namespaces/$ns/serviceaccounts/absent/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  ]),
];
