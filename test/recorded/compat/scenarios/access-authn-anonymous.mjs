// Anonymous requests: for some paths, for all, for none (§5).
import { scenario, GET, POST } from '../steps.ts';
import { whoami } from './kit/access.mjs';

const s = (id, needs, about, steps) => scenario(`authn-anonymous-${id}`, { section: '5', about, needs, namespace: false }, steps);
const some = 'anonymous-paths';
const shape = (b) => (b?.kind === 'Status' || typeof b !== 'object' || b === null ? b : Object.keys(b).length > 0);
const ask = (path, o = {}) => GET(path, { as: null, pick: shape, compareHeaders: ['content-type', 'www-authenticate'], ...o });
const open = ['/livez', '/version/', '/readyz/ping', '/api'];

export default [
  s('open-paths', some, 'paths of the conditions', open.map((path) => ask(path))),
  s('queries', some, 'queries do not count', [ask('/livez?verbose=1', { pick: (b) => typeof b }), ask('/api?x=/livez')]),
  s('other-paths', some, 'other paths, and those below and beside', ['/livez/', '/livez/ping', '/readyz', '/healthz', '/version', '/', '/apis', '/api/', '/api/v1', '/nothing', '/LIVEZ'].map((path) => ask(path))),
  s('encoded-paths', some, 'the path is compared when it is decoded', ['/%6civez', '/livez%2f', '//livez', '/./livez', '/livez/../livez'].map((path) => ask(path))),
  s('methods', some, 'any method', [...['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'].map((method) => ask('/livez', { method, note: method })), ask('/healthz', { method: 'POST' })]),
  s('bad-credentials', some, 'who has bad credentials is not anonymous', open.map((path) => ask(path, { headers: { authorization: 'Bearer nobody' } }))),
  s('no-credentials', some, 'schemes that nobody knows are no credentials', [...['Basic YTpi', 'Bearer', 'Bearer  alice-token'].flatMap((authorization) => ['/livez', '/readyz'].map((path) => ask(path, { headers: { authorization }, note: authorization, compareHeaders: ['warning'] })))]),
  s('users', some, 'users may go everywhere', [...['/livez', '/readyz', '/healthz', '/version'].map((path) => ask(path, { as: 'bob' })), whoami({ as: 'bob' })]),
  s('reviews', some, 'nobody asks who he is', [whoami({ as: null }), POST('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { nonResourceAttributes: { path: '/livez', verb: 'get' } } }, { as: null })]),
  s('impersonated', some, 'an administrator may be anonymous anywhere', [GET('/readyz', { headers: { 'impersonate-user': 'system:anonymous' }, pick: shape }), whoami({ headers: { 'impersonate-user': 'system:anonymous' } })]),
  s('token-review', some, 'a review of a token that nobody has', [POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'nobody' } }), POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'alice-token more' } })]),
  s('everywhere-token-review', 'anonymous-everywhere', 'reviews of tokens that are no tokens', ['alice-token more', 'nobody', '\talice-token', 'alice-token\n', 'alice-token\u00a0'].map((token) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } }, { note: JSON.stringify(token), compareHeaders: ['warning'] }))),
  s('everywhere', 'anonymous-everywhere', 'no conditions: everywhere', [...open, '/healthz', '/version', '/apis', '/nothing'].map((path) => ask(path))),
  s('nowhere', 'anonymous-nowhere', 'not enabled: nowhere', [...open, '/healthz', '/version', '/apis', '/nothing'].map((path) => ask(path))),
  s('flag-off', 'no-anonymous', 'the flag: nowhere', [...open, '/healthz', '/version', '/apis', '/nothing'].map((path) => ask(path))),
  s('nowhere-credentials', 'anonymous-nowhere', 'schemes that nobody knows, where nobody may be anonymous', ['Basic YTpi', 'Bearer', 'Bearer  alice-token', 'Bearer nobody', 'Bearer alice-token'].map((authorization) => ask('/healthz', { headers: { authorization }, note: authorization, compareHeaders: ['warning'] }))),
  s('nowhere-token-review', 'anonymous-nowhere', 'reviews of tokens that are no tokens', [' alice-token', 'alice-token more', 'nobody'].map((token) => POST('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } }))),
];
