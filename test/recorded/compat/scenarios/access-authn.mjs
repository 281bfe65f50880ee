// Who a request is taken for: the Authorization header, tokens in a websocket protocol, anonymous callers (§5).
import { scenario, GET, POST } from '../steps.ts';
import { whoami, refusal, message } from './kit/access.mjs';

const none = { namespace: false };
const s = (id, about, steps, o = {}) => scenario(`authn-${id}`, { section: '5', about, ...none, ...o }, steps);
const secured = ['content-type', 'cache-control', 'x-content-type-options', 'www-authenticate', 'audit-id?', 'x-kubernetes-pf-flowschema-uid?', 'x-kubernetes-pf-prioritylevel-uid?', 'warning'];
const withHeader = (authorization, o = {}) => whoami({ headers: { authorization }, compareHeaders: ['warning', 'www-authenticate'], note: JSON.stringify(authorization), ...o });
const pods = '/api/v1/namespaces/default/pods';

/** Header values and what becomes of them; the caller must not see whose token it was. */
const headerCases = {
  'lower-case': ['bearer alice-token'], 'upper-case': ['BEARER alice-token'], 'more-words': ['Bearer alice-token and more'],
  'two-blanks': ['Bearer  alice-token', 'Bearer   alice-token'], 'blanks-around': ['   Bearer alice-token   '], tab: ['Bearer\talice-token'],
  'no-token': ['Bearer', 'Bearer '], 'no-scheme': ['alice-token'], empty: [''], comma: ['Bearer alice-token,bob-token', 'Bearer alice-token, Bearer bob-token'],
  quoted: ['Bearer "alice-token"'], 'case-of-token': ['Bearer ALICE-TOKEN'], 'part-of-token': ['Bearer alice', 'Bearer alice-token1'],
  basic: ['Basic YWxpY2U6YWxpY2UtdG9rZW4=', 'Basic !!'], 'other-schemes': ['Token alice-token', 'Digest username="alice"', 'Negotiate YQ==', 'AWS4-HMAC-SHA256 Credential=a'],
};

const base64url = (t) => Buffer.from(t).toString('base64url');
const protocol = (t) => `base64url.bearer.authorization.k8s.io.${base64url(t)}`;
const upgrade = (protocols, o = {}) => GET(pods, { as: null, headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', ...(protocols === undefined ? {} : { 'sec-websocket-protocol': protocols }), ...o.headers }, ...message, note: o.note });

/** What an anonymous caller may see: [path, …]. */
const openPaths = ['/healthz', '/livez', '/readyz', '/healthz/', '/livez/', '/readyz/', '/version', '/version/'];
const closedDiscovery = ['/', '/api', '/api/', '/api/v1', '/apis', '/apis/', '/apis/apps', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1', '/apis/nope.example.com', '/api/v2'];
const closedOthers = ['/healthz/ping', '/livez/etcd', '/metrics', '/logs', '/debug/pprof/', '/version/x', '/.well-known/openid-configuration', '/openid/v1/jwks', '/nothing'];
const shape = (b) => (b?.kind === 'Status' ? b : b && typeof b === 'object' ? Object.keys(b).length > 0 : b);

export default [
  s('bad-token', 'a bearer token that nobody has: 401, also where anonymous callers may go', [
    ...[pods, '/healthz', '/version', '/api', '/', '/nothing'].map((p) => GET(p, { headers: { authorization: 'Bearer nobody' }, compareHeaders: secured })),
  ]),
  s('bad-token-verbs', 'writes with a bad token are refused before the body is looked at', [
    POST(pods, '{', { headers: { authorization: 'Bearer nobody' } }), GET('/api/v1/namespaces/none-such/nopes/x?watch=1', { headers: { authorization: 'Bearer nobody' } }), GET('/healthz', { method: 'HEAD', headers: { authorization: 'Bearer nobody' }, compareHeaders: ['content-type'] }), GET(pods, { method: 'OPTIONS', headers: { authorization: 'Bearer nobody' } }),
  ]),
  s('bad-token-media', 'the 401 answer negotiates like any other', [
    ...['application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'text/html', '*/*'].map((accept) => GET(pods, { headers: { authorization: 'Bearer nobody', accept }, note: accept, compareHeaders: ['content-type'] })),
    GET(pods, { headers: { authorization: 'Bearer nobody', accept: 'application/vnd.kubernetes.protobuf' }, compareHeaders: ['content-type'], compare: 'status' }),
  ]),
  s('bad-token-pretty', 'the 401 answer is pretty for browsers and curl only', [...['Mozilla/5.0', 'curl/8.0', 'other'].map((agent) => GET(pods, { headers: { authorization: 'Bearer nobody', 'user-agent': agent }, note: agent, text: true })), GET(`${pods}?pretty=1`, { headers: { authorization: 'Bearer nobody' }, text: true })]),
  s('bad-jwt', 'tokens that look like JSON web tokens', [
    ...['a.b.c', 'a.b', '..', `${base64url('{"alg":"none"}')}.${base64url('{"iss":"https://kubernetes.default.svc","sub":"system:serviceaccount:default:x","aud":["https://kubernetes.default.svc"]}')}.`, `${base64url('{"alg":"RS256","kid":"nope"}')}.${base64url('{"iss":"https://kubernetes.default.svc","sub":"x"}')}.${base64url('signature')}`, `${base64url('{"alg":"RS256"}')}.${base64url('{"iss":"https://issuer.example.com","sub":"x","aud":"kubernetes","exp":99999999999}')}.${base64url('signature')}`].map((t, i) => whoami({ headers: { authorization: `Bearer ${t}` }, note: `token ${i}` })),
  ]),
  s('bootstrap-token', 'bootstrap tokens are off: one of that form is just unknown', [whoami({ headers: { authorization: 'Bearer abcdef.0123456789abcdef' } })]),
  s('known-tokens', 'the users of the token file', [whoami(), whoami({ as: 'alice' }), whoami({ as: 'bob' }), whoami({ as: null })]),
  ...Object.entries(headerCases).map(([id, values]) => s(`header-${id}`, `Authorization: ${values.map((v) => JSON.stringify(v)).join(', ')}`, values.map((v) => withHeader(v)))),
  s('header-twice', 'two Authorization headers: the first counts', [withHeader(['Bearer alice-token', 'Bearer bob-token']), withHeader(['Bearer nobody', 'Bearer alice-token']), withHeader(['Basic eDp5', 'Bearer alice-token'])]),
  s('blank-token-warning', 'two blanks before the token: anonymous, with a warning', [GET('/version', { headers: { authorization: 'Bearer  alice-token' }, compareHeaders: ['warning'], compare: 'status' }), GET(pods, { headers: { authorization: 'Bearer  alice-token' }, compareHeaders: ['warning'] })]),
  s('token-in-query', 'tokens in the query or a cookie do not count', [GET(`${pods}?token=admin-token&access_token=admin-token`, { as: null }), GET(pods, { as: null, headers: { cookie: 'token=admin-token; Authorization=Bearer admin-token' } })]),
  s('front-proxy-headers', 'headers of a front proxy do not count without its certificate', [whoami({ as: 'alice', headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-uid': '0', 'x-remote-extra-scopes': 'all' } }), GET(pods, { as: null, headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' } })]),
  s('extra-of-static-tokens', 'users of the token file have no extra fields', [whoami({ as: 'alice', pick: (b) => Object.keys(b.status.userInfo).sort() })]),
  s('websocket-token', 'a token as websocket protocol beside another one', [upgrade([`${protocol('alice-token')}, v4.channel.k8s.io`]), upgrade([`v4.channel.k8s.io,${protocol('bob-token')}`]), upgrade([protocol('alice-token'), 'v4.channel.k8s.io'], { note: 'two headers' })]),
  s('websocket-token-alone', 'a token as the only websocket protocol is refused', [upgrade(protocol('alice-token'))]),
  s('websocket-token-bad', 'unknown, misencoded and repeated tokens as websocket protocols', [upgrade(`${protocol('nobody')}, x`), upgrade(`base64url.bearer.authorization.k8s.io.***, x`), upgrade(`base64url.bearer.authorization.k8s.io.${Buffer.from('alice-token').toString('base64')}, x`, { note: 'padded' }), upgrade(`${protocol('alice-token')}, ${protocol('bob-token')}, x`), upgrade('base64url.bearer.authorization.k8s.io., x', { note: 'empty' }), upgrade(`base64url.bearer.authorization.k8s.io.${Buffer.from([0xff, 0xfe]).toString('base64url')}, x`, { note: 'not UTF-8' })]),
  s('websocket-no-token', 'a websocket request without a token is anonymous', [upgrade(undefined), upgrade('v4.channel.k8s.io')]),
  s('websocket-token-not-upgraded', 'without an upgrade the protocol is not looked at', [GET(pods, { as: null, headers: { 'sec-websocket-protocol': `${protocol('alice-token')}, x` }, ...message })]),
  s('websocket-token-and-header', 'the Authorization header goes first', [upgrade(`${protocol('alice-token')}, x`, { headers: { authorization: 'Bearer bob-token' }, note: 'both good' }), upgrade(`${protocol('alice-token')}, x`, { headers: { authorization: 'Bearer nobody' }, note: 'bad header' })]),
  s('anonymous-open', 'paths that anonymous callers may read', openPaths.map((p) => GET(p, { as: null, pick: shape, compareHeaders: ['content-type'] }))),
  s('anonymous-closed-discovery', 'discovery is closed to anonymous callers', closedDiscovery.map((p) => GET(p, { as: null }))),
  s('anonymous-closed-others', 'other paths that are closed to anonymous callers', closedOthers.map((p) => GET(p, { as: null }))),
  s('anonymous-verbs', 'anonymous callers: GET only, other methods by their own verb', [...['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => GET('/version', { as: null, method, compareHeaders: ['allow'] }))]),
  s('authenticated-paths', 'paths that every known user may read', ['/', '/api', '/api/v1', '/apis', '/apis/apps', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/healthz', '/version', '/version/', '/openapi', '/apis/nope.example.com', '/api/v2'].map((p) => GET(p, { as: 'bob', pick: (b) => (b?.kind === 'Status' || b?.length < 40 ? b : true) }))),
  s('authenticated-closed-paths', 'paths that they may not', ['/metrics', '/healthz/ping', '/readyz/etcd', '/nothing', '/logs/', '/debug/pprof', '/apidocs', '/openid/v1/jwks', '/.well-known/openid-configuration'].map((p) => GET(p, { as: 'bob' }))),
  s('authenticated-reviews', 'reviews of oneself are open to every known user, no other review', [
    whoami({ as: 'bob' }), ...['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'].map((r) => POST(`/apis/authorization.k8s.io/v1/${r}`, { spec: { namespace: 'default', user: 'x', resourceAttributes: {} } }, { as: 'bob', ...refusal })),
    POST('/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews', { spec: {} }, { as: 'bob', ...refusal }), POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }, { as: 'bob', ...refusal }),
  ]),
  s('self-review-fields', 'SelfSubjectReview in full: nothing but the user and a time', [whoami({ as: 'alice', pick: (b) => b }), whoami({ as: 'bob', headers: { accept: 'application/yaml' }, compareHeaders: ['content-type'], pick: (t) => t.replace(/creationTimestamp: .*/, 'creationTimestamp: <time>') })]),
  s('self-review-table', 'SelfSubjectReview as a table', [whoami({ as: 'alice', headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: (b) => ({ columns: b.columnDefinitions?.map((c) => c.name), cells: b.rows?.map((r) => r.cells), kind: b.kind, message: b.message }) })]),
];
