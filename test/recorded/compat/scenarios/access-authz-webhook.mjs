// Authorization by a webhook, RBAC,Webhook: what it is asked, what its answers do, how long they are kept (§6).
import { APPLY, DELETE, GET, HOOKED, PATCH, POST, PUT, scenario, SLEEP } from '../steps.ts';
import { as, granted, may, message, sar, selfSar, user } from './kit/access.mjs';
import { allow, allowAndDeny, cuts, deny, fails, garbage, inTurn, noOpinion } from './kit/hooks.mjs';

const s = (id, about, access, steps, o = {}) => scenario(`authz-webhook-${id}`, { section: '6', about, needs: 'authorization-webhook', hooks: { access }, ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
const mine = { headers: as(user, { groups: ['dev'] }) };
const quiet = { ...mine, compare: 'status' };
/** The address of the hook differs from run to run. */
const stable = (text) => (typeof text === 'string' ? text.replace(/https:\/\/[^/"]*\/set-up/g, 'https://hook').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>').replace(/(?:net\/http: request canceled|context deadline exceeded)(?: \(Client[^)]*\))?/, 'it was too late') : text);
const failure = { ...mine, pick: (b) => (typeof b === 'string' ? stable(b) : { message: b?.message, code: b?.code }) };
const specs = { pick: (calls) => calls.map((c) => c.body.spec) };
const count = { pick: (calls) => calls.length };
const asked = (calls = 1) => HOOKED('access', { calls, ...specs });
const countOf = (calls) => HOOKED('access', { calls, ...count });
const reviewStatus = (b) => (b?.status && b.kind !== 'Status' ? { ...b.status, ...(b.status.evaluationError ? { evaluationError: stable(b.status.evaluationError) } : {}) } : b);
const says = (body) => () => body;
const v1 = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
const map = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

const answered = (id, answer, calls = 1, about = id) => s(`answer-${id}`, `the webhook answers: ${about}`, answer, [GET(maps, failure), countOf(calls), sar(['get', 'pods'], { user }, { pick: reviewStatus })]);

export default [
  s('verbs', 'the attributes of each verb', allow, [
    GET(maps, quiet), GET(`${maps}/a`, quiet), POST(maps, map('a'), quiet), PUT(`${maps}/a`, map('a'), quiet), PATCH(`${maps}/a`, 'merge', {}, quiet), DELETE(`${maps}/a`, undefined, quiet), DELETE(maps, undefined, quiet), GET(`${maps}?watch=1&timeoutSeconds=1`, { ...quiet, text: true }), asked(8),
  ]),
  s('apply', 'an apply that creates is asked about twice', allow, [APPLY(`${maps}/a`, map('a'), {}, { ...mine, compare: 'status' }), asked(2)]),
  s('put-creates', 'an update that creates needs create, too', (review) => (review.spec.resourceAttributes?.verb === 'create' ? deny(review) : allow(review)), [PUT('/apis/coordination.k8s.io/v1/namespaces/$ns/leases/a', { metadata: { name: 'a' } }, { ...mine, ...message }), asked(2)]),
  s('subresource', 'a subresource and its name', allow, [GET('/api/v1/namespaces/$ns/pods/p/log', quiet), GET('/api/v1/namespaces/$ns/pods/p/status', quiet), POST('/api/v1/namespaces/$ns/pods/p/eviction', {}, quiet), asked(3)]),
  s('namespace', 'a namespace itself', noOpinion, [GET('/api/v1/namespaces/$ns', { ...mine, ...message }), GET('/api/v1/namespaces/$ns/status', { ...mine, ...message }), asked(2)]),
  s('groups', 'resources of other groups, of the cluster and unknown ones', noOpinion, [GET('/apis/apps/v1/namespaces/$ns/deployments', { ...mine, ...message }), GET('/api/v1/nodes', { ...mine, ...message }), GET('/apis/none.example.com/v3/things/x', { ...mine, ...message }), asked(3)]),
  s('paths', 'paths that are no resources', noOpinion, [GET('/metrics/slis', { ...mine, ...message }), GET('/nothing/here', { ...mine, ...message }), POST('/healthz', undefined, { ...mine, ...message }), asked(3)]),
  s('user', 'groups, uid and extra of the user', noOpinion, [GET(maps, { headers: as(user, { groups: ['a', 'b'], uid: '7', extra: { 'example.com/k': ['x', 'y'], other: [''] } }), ...message }), asked()]),
  s('field-selector', 'field selectors are part of the question', allow, [GET(`${maps}?fieldSelector=metadata.name%3Da,metadata.namespace!%3Db`, quiet), GET(`${maps}?fieldSelector=metadata.namespace%3D%3Da`, quiet), GET(`${maps}?fieldSelector=a%3Db%3Dc`, { ...mine, compare: 'status' }), asked(3)]),
  s('label-selector', 'label selectors are part of the question', allow, [GET(`${maps}?labelSelector=z%3Da,b%20in%20(y,x),!c,d,e!%3Df,g%20notin%20(h)`, quiet), GET(`${maps}?labelSelector=a%3E1,b%3C2`, quiet), GET(`${maps}?labelSelector=a%3D(`, { ...mine, compare: 'status' }), asked(3)]),
  s('selectors-of-others', 'a get has no selectors, a deletecollection has', allow, [GET(`${maps}/a?labelSelector=a%3Db`, quiet), DELETE(`${maps}?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx`, undefined, quiet), GET(`${maps}?labelSelector=a%3Db&watch=true&timeoutSeconds=1`, { ...quiet, text: true }), asked(3)]),
  s('rbac-first', 'what a role allows is not asked about', deny, [...granted(may('list', 'configmaps')), GET(maps, { headers: as(user), compare: 'status' }), HOOKED('access', { calls: 0, pick: (calls) => calls.filter((c) => c.body.spec.user?.endsWith('-u')).length })]),
  s('masters', 'nobody asks about system:masters', deny, [GET(maps, { headers: as(user, { groups: ['system:masters'] }), compare: 'status' }), HOOKED('access', { calls: 0, ...count })]),
  answered('allow', allow), answered('deny', deny), answered('no-opinion', noOpinion), answered('both', allowAndDeny),
  answered('no-reason', says({ ...v1, status: { denied: true } })), answered('no-status', says(v1)), answered('no-kind', says({ status: { allowed: true } })),
  answered('no-version', says({ kind: 'SubjectAccessReview', status: { allowed: true } })),
  answered('evaluation-error', says({ ...v1, status: { allowed: false, reason: 'r', evaluationError: 'e' } })),
  answered('unknown-fields', says({ ...v1, more: 1, status: { allowed: true, more: 2 } })),
  answered('other-kind', says({ apiVersion: 'v1', kind: 'Pod' })), answered('unknown-kind', says({ apiVersion: 'example.com/v1', kind: 'Thing' })),
  answered('other-version', says({ ...v1, apiVersion: 'authorization.k8s.io/v1beta1', status: { allowed: true } })),
  answered('wrong-type', says({ ...v1, status: { allowed: 'true' } })), answered('wrong-status', says({ ...v1, status: 'allowed' })),
  answered('garbage', garbage), answered('empty', () => ({ raw: '' })), answered('list', says([])),
  answered('status-object', () => ({ status: 403, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'go away', reason: 'Forbidden', code: 403 } })),
  answered('status-200', says({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'go away', code: 403 })),
  ...[400, 401, 403, 404, 409, 503].map((code) => answered(`code-${code}`, fails(code), 1, `the status ${code}`)),
  answered('code-201', (review) => ({ status: 201, body: allow(review) })),
  s('retry-500', 'a status 500 is tried again, four times', fails(500), [GET(maps, failure), countOf(5)]),
  s('retry-429', 'so is 429', fails(429), [GET(maps, failure), countOf(5)]),
  s('retry-recovers', 'the second answer counts', inTurn(fails(500), allow), [GET(maps, quiet), countOf(2)]),
  s('retry-after', 'the webhook says when to ask again', inTurn(() => ({ status: 503, headers: { 'retry-after': '1' }, raw: 'later' }), allow), [GET(maps, quiet), countOf(2)]),
  s('cut', 'a connection that is cut', cuts, [GET(maps, { ...failure, compare: 'status' })]),
  s('cache-allowed', 'an answer is kept for its question alone', inTurn(allow, deny), [GET(maps, quiet), GET(maps, quiet), GET(`${maps}?limit=1`, quiet), countOf(1), GET(`${maps}/a`, { ...mine, ...message }), countOf(1)]),
  s('cache-denied', 'denials are kept, too', inTurn(deny, allow), [GET(maps, { ...mine, ...message }), GET(maps, { ...mine, ...message }), countOf(1)]),
  s('cache-no-opinion', 'and answers without an opinion', inTurn(noOpinion, allow), [GET(maps, { ...mine, ...message }), GET(maps, { ...mine, ...message }), countOf(1)]),
  s('cache-error', 'errors are not', inTurn(fails(403), allow), [GET(maps, failure), GET(maps, quiet), countOf(2)]),
  s('cache-ends', 'an answer is asked for again after its time', inTurn(allow, deny), [GET(maps, quiet), SLEEP(2500), GET(maps, { ...mine, ...message }), countOf(2)]),
  s('cache-of-reviews', 'requests and reviews share it', inTurn(allow, deny), [GET(maps, quiet), sar(['list', 'configmaps', { version: 'v1' }], { user, groups: ['dev', 'system:authenticated'] }), countOf(1)]),
  s('reviews', 'reviews of access ask the webhook', deny, [
    sar(['get', 'pods', { name: 'p', fieldSelector: { rawSelector: 'a=b' }, labelSelector: { requirements: [{ key: 'k', operator: 'In', values: ['z', 'y'] }] } }], { user, groups: ['g'], uid: '7', extra: { k: ['v'] } }),
    sar(['get', '/some/path'], { user }), asked(2),
    POST('/apis/authorization.k8s.io/v1/namespaces/$ns/localsubjectaccessreviews', { metadata: { namespace: '$ns' }, spec: { user, resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'secrets' } } }, { pick: reviewStatus }), asked(),
  ]),
  s('self-review', 'so does a review of oneself, once the review itself is allowed', allow, [selfSar({ resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } }, mine), asked(1)]),
  s('rules-review', 'a webhook cannot list what it allows', allow, [POST('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: '$ns' } }, { ...mine, pick: (b) => ({ incomplete: b.status?.incomplete, evaluationError: b.status?.evaluationError }) })]),
  s('impersonation', 'whether alice may impersonate', (review) => (review.spec.user === 'alice' && review.spec.resourceAttributes?.resource === 'groups' ? deny(review) : allow(review)), [GET(maps, { as: 'alice', headers: as(user), compare: 'status' }), asked(2), GET(maps, { as: 'alice', headers: as(user, { groups: ['$ns-g'] }), ...message }), asked(1)]),
  s('impersonation-fails', 'a webhook that fails refuses to impersonate', fails(403), [GET(maps, { as: 'alice', headers: as(user), ...message }), countOf(1)]),
  s('escalation', 'a role is written if the webhook allows to escalate', (review) => (review.spec.resourceAttributes?.verb === 'escalate' ? noOpinion(review) : allow(review)), [POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles', { metadata: { name: 'r' }, rules: [may('get', 'secrets')] }, { ...mine, ...message }), asked(2)]),
];
