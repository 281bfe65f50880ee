// Headers that every answer carries, and those that a default server does not send: caching, sniffing, CORS, audit (§4.4, §5).
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { as } from './kit/access.mjs';

const core = '/api/v1/namespaces/$ns';
const s = (id, about, steps, o = {}) => scenario(`headers-${id}`, { section: '4.4', about, ...o }, steps);
const bare = { namespace: false };
/** Names of the headers that came, save those of HTTP itself; values of the ones that matter. */
const safety = (h) => ({
  names: Object.keys(h).filter((n) => !['date', 'content-length', 'connection', 'keep-alive', 'transfer-encoding', 'audit-id', 'content-encoding', 'vary'].includes(n) && !n.startsWith('x-kubernetes-pf')).sort(),
  'cache-control': h['cache-control'] ?? null, 'content-type': h['content-type'] ?? null, 'x-content-type-options': h['x-content-type-options'] ?? null,
});
const look = { pickHeaders: safety, pick: () => null };
const cm = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const cors = (h) => Object.fromEntries(Object.entries(h).filter(([n]) => n.startsWith('access-control') || n === 'vary' || n === 'allow'));
const origin = { origin: 'https://example.com' };
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const auditForm = (h) => ({ 'audit-id': h['audit-id'] === undefined ? null : uuid.test(h['audit-id']) ? 'a uuid of its own' : h['audit-id'] });

export default [
  s('of-objects', 'reads and writes of objects', [POST(`${core}/configmaps`, cm('a'), look), GET(`${core}/configmaps/a`, look), GET(`${core}/configmaps`, look), PUT(`${core}/configmaps/a`, cm('a'), look), PATCH(`${core}/configmaps/a`, 'merge', { data: { k: 'v' } }, look), DELETE(`${core}/configmaps/a`, undefined, look)]),
  s('of-errors', 'errors of every kind', [GET(`${core}/configmaps/none`, look), POST(`${core}/configmaps`, '{', look), POST(`${core}/configmaps`, cm('Bad_Name'), look), GET(`${core}/configmaps`, { as: 'bob', ...look }), GET(core, { headers: { authorization: 'Bearer nobody' }, ...look }), GET('/nothing', look), GET(`${core}/nothings`, look), PUT(`${core}/configmaps`, {}, look), GET(`${core}/configmaps`, { headers: { accept: 'text/html' }, ...look })]),
  s('of-watch', 'a watch', [GET(`${core}/configmaps?watch=1&timeoutSeconds=1`, look)]),
  s('of-discovery', 'discovery, OpenAPI, health, metrics and version', ['/api', '/apis', '/apis/apps', '/api/v1', '/healthz', '/readyz?verbose', '/livez/ping', '/metrics', '/version', '/'].map((p) => GET(p, look)), bare),
  s('of-openapi', 'the OpenAPI documents', [GET('/openapi/v2', { ...look, pickHeaders: (h) => { const x = safety(h); return { ...x, names: x.names.filter((n) => !/etag|last-modified|expires/.test(n)) }; } }), GET('/openapi/v3', look), GET('/openapi/v3/version', { ...look, pickHeaders: (h) => { const x = safety(h); return { ...x, names: x.names.filter((n) => !/etag|last-modified|expires/.test(n)) }; } })], bare),
  s('of-reviews', 'reviews and tokens', [POST(`${core}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, look), POST(`${core}/serviceaccounts/sa/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, look), POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, look)]),
  s('of-internal-error', 'errors in plain text', [GET('/version', { headers: { 'impersonate-group': 'g' }, ...look }), GET('/api/v1/watch', look)], bare),
  s('no-transport-security', 'no header asks for HTTPS, and no server is named', [GET('/version', { compareHeaders: ['strict-transport-security', 'server', 'x-powered-by', 'x-frame-options', 'content-security-policy', 'www-authenticate'], compare: 'status' }), GET('/version', { as: null, compareHeaders: ['strict-transport-security', 'server', 'www-authenticate'], compare: 'status' })], bare),
  s('audit-id', 'every answer has an id, a new one for each request', [GET('/version', { pickHeaders: auditForm, compare: 'status' }), GET('/healthz', { pickHeaders: auditForm, compare: 'status' }), GET('/nothing', { pickHeaders: auditForm, compare: 'status' }), GET('/version', { headers: { authorization: 'Bearer nobody' }, pickHeaders: auditForm, compare: 'status' }), GET('/version', { headers: { 'impersonate-group': 'g' }, pickHeaders: auditForm, compare: 'status' })], bare),
  s('audit-id-given', 'an id given by the caller is taken over, whatever its length', ['mine', 'a b', 'x'.repeat(64), 'y'.repeat(70), ''].map((id) => GET('/version', { headers: { 'audit-id': id }, pickHeaders: auditForm, compare: 'status', note: id })), bare),
  s('audit-id-given-by-others', 'also by callers without rights', [GET('/version', { as: null, headers: { 'audit-id': 'mine' }, pickHeaders: auditForm, compare: 'status' }), GET('/version', { headers: { 'audit-id': 'mine', authorization: 'Bearer nobody' }, pickHeaders: auditForm, compare: 'status' })], bare),
  s('audit-id-twice', 'two ids: the first', [GET('/version', { headers: { 'audit-id': ['one', 'two'] }, pickHeaders: auditForm, compare: 'status' })], bare),
  s('cors-off', 'an Origin changes nothing: no CORS headers by default', [GET('/version', { headers: origin, pickHeaders: cors, compare: 'status' }), GET('/version', { as: null, headers: origin, pickHeaders: cors, compare: 'status' }), POST(`${core}/configmaps`, cm('a'), { headers: origin, pickHeaders: cors, compare: 'status' })]),
  s('cors-preflight', 'a preflight is an OPTIONS request like any other', [GET(`${core}/configmaps`, { method: 'OPTIONS', headers: { ...origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }, pickHeaders: cors }), GET(`${core}/configmaps`, { as: null, method: 'OPTIONS', headers: { ...origin, 'access-control-request-method': 'GET' }, pickHeaders: cors }), GET('/version', { as: null, method: 'OPTIONS', headers: { ...origin, 'access-control-request-method': 'GET' }, pickHeaders: cors })]),
  s('method-override', 'a method in a header does not count', [GET(`${core}/configmaps`, { headers: { 'x-http-method-override': 'DELETE', 'x-http-method': 'DELETE' }, as: 'bob' }), POST(`${core}/configmaps?_method=DELETE`, cm('a'), { as: 'bob' })]),
  s('host', 'the Host header does not matter', [GET('/version', { headers: { host: 'example.com' }, compare: 'status' }), GET(`${core}/configmaps`, { as: 'bob', headers: { host: 'kubernetes.default.svc' } }), GET('/version', { headers: { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-host': 'x', forwarded: 'for=1.2.3.4' }, compare: 'status' })]),
  s('get-with-body', 'a body of a GET is not looked at', [GET(`${core}/configmaps`, { body: '{', compare: 'status' }), GET(`${core}/configmaps/none`, { body: { a: 1 } }), GET('/version', { body: 'x', compare: 'status' })]),
  s('head', 'HEAD: the headers of GET, without a body', [POST(`${core}/configmaps`, cm('a'), { compare: 'status' }), GET(`${core}/configmaps/a`, { method: 'HEAD', ...look, pick: (b) => b }), GET(`${core}/configmaps`, { method: 'HEAD', ...look, pick: (b) => b }), GET('/version', { method: 'HEAD', ...look, pick: (b) => b }), GET('/healthz', { method: 'HEAD', ...look, pick: (b) => b }), GET('/api', { method: 'HEAD', ...look, pick: (b) => b })]),
  s('options', 'OPTIONS by one who may do anything', [GET(`${core}/configmaps`, { method: 'OPTIONS', compareHeaders: ['allow', 'content-type'] }), GET(`${core}/configmaps/a`, { method: 'OPTIONS', compareHeaders: ['allow'] }), GET('/version', { method: 'OPTIONS', compareHeaders: ['allow'] }), GET('/healthz', { method: 'OPTIONS', compareHeaders: ['allow'] }), GET('/api', { method: 'OPTIONS', compareHeaders: ['allow'] }), GET('/nothing', { method: 'OPTIONS', compareHeaders: ['allow'] })]),
  s('trace', 'TRACE by one who may do anything', [GET(`${core}/configmaps`, { method: 'TRACE', compareHeaders: ['allow'] }), GET('/version', { method: 'TRACE', compareHeaders: ['allow'] })]),
  s('connection-close', 'over HTTP/1.1 anonymous callers keep their connection', [GET('/version', { as: null, compareHeaders: ['connection'], compare: 'status' }), GET('/version', { headers: { authorization: 'Bearer nobody' }, compareHeaders: ['connection'], compare: 'status' }), GET('/version', { headers: as('x'), compareHeaders: ['connection'], compare: 'status' })], bare),
];
