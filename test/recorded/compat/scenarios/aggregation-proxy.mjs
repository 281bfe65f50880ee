// What goes to an aggregated API server and comes back: the way of a request.
import { DELETE, GET, PATCH, POLL, POST, PUT, scenario } from '../steps.ts';
import { apiService, apiServicePath, cleanup, echo, echoed, group, registered, service, serving, untilReason, untilServed } from './kit/aggregation.mjs';

const base = `/apis/${group}/v1`;
const things = `${base}/namespaces/$ns/things`;
const aggregated = (id, about, more, steps) => scenario(`aggregation-proxy-${id}`, { section: 'aggregation', about, needs: 'aggregation', cleanup, extension: serving(more) }, [...registered(), untilServed(base), ...steps]);
const json = (body, more = {}) => () => ({ body, ...more });
// Go's client asks for gzip where its own does not, and unpacks it: a matter between the two servers. Node's keeps the connection by a header.
const namesOf = (body) => ({ names: Object.keys(body.headers).filter((name) => name !== 'accept-encoding' && name !== 'connection').sort() });
const identity = echoed('x-remote-user', 'x-remote-group', 'x-remote-uid', 'x-remote-extra-scopes', 'authorization', 'impersonate-user', 'impersonate-group', 'x-remote-extra-key');

export default [
  aggregated('verbs', 'every verb is passed on with its path, query and body', echo, [
    GET(things, { pick: echoed('accept') }),
    GET(`${things}/one`, { query: { a: 'b', 'c d': 'e f' }, pick: echoed('accept') }),
    POST(things, { kind: 'Thing', name: 'x' }, { pick: echoed('content-type', 'content-length') }),
    PUT(`${things}/one`, { kind: 'Thing' }, { pick: echoed('content-type') }),
    PATCH(`${things}/one`, 'merge', { a: null }, { pick: echoed('content-type') }),
    PATCH(`${things}/one`, 'application/apply-patch+yaml', 'a: b', { query: { fieldManager: 'm', force: 'true' }, pick: echoed('content-type') }),
    DELETE(`${things}/one`, { propagationPolicy: 'Background' }, { pick: echoed('content-type') }),
    DELETE(`${things}/one`, undefined, { pick: echoed('content-type') }),
    DELETE(things, undefined, { query: { labelSelector: 'a in (b,c)' }, pick: echoed('accept') }),
    GET(`${things}/one/status`, { pick: echoed('accept') }),
    POST(`${things}/one/a/b/c`, { x: 1 }, { pick: echoed('accept') }),
    GET(`${base}/clusterthings/c`, { pick: echoed('accept') }),
    GET(base, { pick: echoed('accept') }),
    GET(`${base}/`, { pick: echoed('accept') }),
  ]),
  aggregated('methods', 'methods that stand for no verb', echo, [
    GET(things, { method: 'OPTIONS', pick: echoed('accept') }),
    GET(things, { method: 'HEAD', compareHeaders: ['content-type'] }),
    GET(things, { method: 'TRACE', pick: echoed('accept') }),
    GET(things, { method: 'PURGE', pick: echoed('accept') }),
  ]),
  aggregated('paths', 'paths and queries as the remote server sees them', echo, [
    GET(`${things}/a%20b`, { pick: echoed('accept') }),
    GET(`${things}/a%2Fb`, { pick: echoed('accept') }),
    GET(`${things}/..`, { pick: echoed('accept') }),
    GET(`${things}/%2e%2e/x`, { pick: echoed('accept') }),
    GET(`${base}//things`, { pick: echoed('accept') }),
    GET(`${things}/`, { pick: echoed('accept') }),
    GET(`${things}/j%C3%BCrgen`, { pick: echoed('accept') }),
    GET(`${things}/a+b:c@d!$&'()*,;=~`, { pick: echoed('accept') }),
    GET(`${things}?b=2&a=1&b=1&c`, { pick: echoed('accept') }),
    GET(`${things}?a=1;b=2&c=%zz&d=%20+`, { pick: echoed('accept') }),
    GET(`${things}?x=%2F%3F%23&y=~!*'()`, { pick: echoed('accept') }),
    GET(`${things}?`, { pick: echoed('accept') }),
  ]),
  aggregated('identity', 'who a user is, in headers; what the client says of it does not get through', echo, [
    GET(things, { pick: identity }),
    GET(things, { headers: { 'x-remote-user': 'root', 'x-remote-group': 'system:masters', 'x-remote-extra-scopes': 'all', 'x-remote-uid': 'u', 'x-remote-extra-key': 'k' }, pick: identity }),
    GET(things, { headers: { 'impersonate-user': 'jane', 'impersonate-group': ['g1', 'g,2', 'system:masters'], 'impersonate-extra-scopes': ['a', 'b'], 'impersonate-uid': 'i' }, pick: identity }),
    GET(things, { headers: { 'impersonate-user': 'system:serviceaccount:ns:sa', 'impersonate-group': 'system:masters' }, pick: identity }),
    GET(things, { headers: { 'impersonate-user': Buffer.from('j\u00fcrgen').toString('latin1'), 'impersonate-group': 'system:masters', 'impersonate-extra-a%2fb%20c': 'x' }, pick: echoed('x-remote-user', 'x-remote-extra-a%2fb%20c') }),
    GET(things, { as: 'alice' }),
    GET(things, { as: null }),
    GET(base, { as: 'alice', compare: 'status' }),
  ]),
  aggregated('forwarded', 'headers that a proxy adds, passes on and keeps', echo, [
    GET(things, { pick: echoed('x-forwarded-for', 'x-forwarded-uri', 'x-forwarded-proto', 'user-agent', 'te', 'via') }),
    GET(things, { pick: namesOf }),
    POST(things, { a: 1 }, { pick: namesOf }),
    GET(`${things}?a=b%20c`, { headers: { 'x-forwarded-for': '1.2.3.4', 'x-custom': ['a', 'b'], cookie: 'c=d', te: 'trailers', 'proxy-authorization': 'Basic x', 'keep-alive': '5', connection: 'x-hop', 'x-hop': 'gone', origin: 'https://example.com', referer: 'https://example.com/' }, pick: echoed('x-forwarded-for', 'x-forwarded-uri', 'x-custom', 'cookie', 'te', 'proxy-authorization', 'keep-alive', 'x-hop', 'origin', 'referer') }),
    GET(things, { headers: { 'user-agent': null, accept: null }, pick: echoed('user-agent', 'accept') }),
    GET(things, { headers: { 'audit-id': 'my-own' }, compareHeaders: ['audit-id'], pick: echoed('audit-id') }),
    GET(things, { headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }, pick: (body) => ({ has: 'traceparent' in body.headers }) }),
    GET(things, { headers: { 'accept-encoding': 'gzip' }, pick: echoed('accept-encoding') }),
  ]),
  aggregated('answers', 'what the remote server answers', ({ path }) => {
    const of = path.split('/').at(-1);
    if (of === 'created') return { status: 201, body: { kind: 'Thing' }, headers: { location: undefined, 'x-own': 'mine', 'set-cookie': ['a=b', 'c=d'] } };
    if (of === 'none') return { status: 204, headers: { 'content-type': null } };
    if (of === 'same') return { status: 304, headers: { 'content-type': null, etag: '"x"' } };
    if (of === 'text') return { body: 'some text' };
    if (of === 'status') return { status: 409, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Conflict', code: 409 } };
    if (of === 'teapot') return { status: 418, body: 'short and stout' };
    if (of === 'fails') return { status: 500, body: 'it failed' };
    if (of === 'busy') return { status: 429, body: 'later', headers: { 'retry-after': '7' } };
    if (of === 'unauthorized') return { status: 401, body: 'who?', headers: { 'www-authenticate': 'Basic' } };
    if (of === 'cors') return { body: {}, headers: { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET', 'access-control-expose-headers': 'x' } };
    if (of === 'cached') return { body: {}, headers: { 'cache-control': 'max-age=60', 'audit-id': 'its-own', warning: '299 - "old"', date: 'Thu, 01 Jan 1970 00:00:00 GMT', 'x-kubernetes-pf-flowschema-uid': 'x', 'x-content-type-options': 'nosniff' } };
    if (of === 'empty') return { headers: { 'content-type': null } };
    if (of === 'large') return { body: { text: 'x'.repeat(300_000) } };
    if (of === 'hop') return { body: {}, headers: { connection: 'x-hop', 'x-hop': 'gone', 'keep-alive': 'timeout=5', 'proxy-authenticate': 'Basic', upgrade: 'h2c' } };
    return undefined;
  }, [
    POST(`${things}/created`, {}, { compareHeaders: ['x-own', 'set-cookie', 'content-type'] }),
    DELETE(`${things}/none`, undefined, { text: true, compareHeaders: ['content-type', 'content-length'] }),
    GET(`${things}/same`, { text: true, compareHeaders: ['etag', 'content-type'] }),
    GET(`${things}/text`, { text: true, compareHeaders: ['content-type', 'cache-control'] }),
    GET(`${things}/status`, {}),
    GET(`${things}/teapot`, { text: true }),
    GET(`${things}/fails`, { text: true }),
    GET(`${things}/busy`, { text: true, compareHeaders: ['retry-after'] }),
    GET(`${things}/unauthorized`, { text: true, compareHeaders: ['www-authenticate'] }),
    GET(`${things}/cors`, { compareHeaders: ['access-control-allow-origin', 'access-control-allow-methods', 'access-control-expose-headers'] }),
    GET(`${things}/cached`, { compareHeaders: ['cache-control', 'warning', 'x-content-type-options'], pickHeaders: (headers) => ({ ownDate: headers.date === 'Thu, 01 Jan 1970 00:00:00 GMT', dates: String(headers.date).split(', ').length, auditIds: String(headers['audit-id']).split(', ').length, itsOwn: String(headers['audit-id']).includes('its-own'), flow: String(headers['x-kubernetes-pf-flowschema-uid']).includes('x,') || headers['x-kubernetes-pf-flowschema-uid'] === 'x' }) }),
    GET(`${things}/empty`, { text: true, compareHeaders: ['content-type', 'content-length'] }),
    GET(`${things}/large`, { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding'], pick: (body) => ({ length: body.text.length }) }),
    GET(`${things}/hop`, { pickHeaders: (headers) => ({ hop: headers['x-hop'] ?? null, proxy: headers['proxy-authenticate'] ?? null, upgrade: headers['upgrade'] ?? null }) }),
    GET(`${things}/nothing`, { text: true, compareHeaders: ['content-type'] }),
  ]),
  aggregated('redirects', 'a redirect is neither followed nor passed on (CVE-2022-3172)', ({ path }) => {
    const status = Number(path.split('/').at(-1));
    if (path.includes('/bare/')) return { status, body: 'no location' };
    return { status, body: 'moved', headers: { location: path.includes('/own/') ? '/apis/elsewhere' : 'https://example.com/secret' } };
  }, [301, 302, 303, 304, 307, 308].flatMap((status) => [
    GET(`${things}/other/${status}`, { text: true, compareHeaders: ['location', 'content-type'] }),
    POST(`${things}/own/${status}`, {}, { text: true, compareHeaders: ['location'] }),
    GET(`${things}/bare/${status}`, { text: true, compareHeaders: ['location'] }),
  ])),
  aggregated('streams', 'answers in pieces, and such that never end well', ({ path }) => {
    if (path.includes('watch=')) return { chunks: [1, 2, 3].map((n) => `{"type":"ADDED","object":{"n":${n}}}\n`), pauseMs: 50 };
    if (path.endsWith('/cut')) return { chunks: ['some ', 'of it'], cut: true };
    if (path.endsWith('/closed')) return { close: true };
    if (path.endsWith('/trailers')) return { body: 'text', trailers: { 'x-sum': '42' } };
    return undefined;
  }, [
    GET(`${things}?watch=true`, { text: true, compareHeaders: ['content-type', 'transfer-encoding'] }),
    GET(`${things}?watch=1&timeoutSeconds=1`, { text: true }),
    GET(`/apis/${group}/v1/watch/namespaces/$ns/things?watch=`, { text: true }),
    GET(`${things}/cut`, { text: true }),
    GET(`${things}/closed`, { text: true, compareHeaders: ['content-type'] }),
    POST(`${things}/closed`, {}, { text: true }),
    GET(`${things}/trailers`, { text: true, compareHeaders: ['trailer?'] }),
  ]),
  aggregated('slow', 'a remote server that is slow, and requests that have less time', ({ path }) => (path.includes('slow') ? { delayMs: 4000, body: { late: true } } : { hang: true }), [
    GET(`${things}/slow`, {}),
    GET(`${things}/never`, { query: { timeout: '1s' }, text: true, compareHeaders: ['content-type'] }),
    POST(`${things}/never`, {}, { query: { timeout: '1s' }, text: true }),
    GET(`${things}`, { query: { timeout: 'x' }, text: true }),
  ]),
  aggregated('tls', 'certificates of others: probes do not verify, requests do', echo, [
    POST('/api/v1/namespaces/$ns/services', service('untrusted'), { compare: 'status' }),
    POST('/api/v1/namespaces/$ns/services', service('misnamed'), { compare: 'status' }),
    ...['untrusted', 'misnamed'].flatMap((name, at) => {
      const of = `${'bc'[at]}.$ns.example.com`;
      return [
        POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ of, name }), { compare: 'status' }),
        untilReason('Passed', { of }),
        POLL(`/apis/${of}/v1/things`, (body) => !String(body).startsWith('service unavailable') && !String(body).startsWith('404'), { text: true, ms: 60_000, compareHeaders: ['content-type'] }),
        GET(`/apis/${of}/v1`, { text: true }),
        POST(`/apis/${of}/v1/namespaces/$ns/things`, {}, { text: true }),
      ];
    }),
    DELETE(apiServicePath('v1', 'b.$ns.example.com'), undefined, { compare: 'status' }),
    DELETE(apiServicePath('v1', 'c.$ns.example.com'), undefined, { compare: 'status' }),
  ]),
  scenario('aggregation-proxy-insecure', { section: 'aggregation', about: 'without verification anybody will do', needs: 'aggregation', cleanup, extension: serving(echo) }, [
    POST('/api/v1/namespaces/$ns/services', service('untrusted'), { compare: 'status' }),
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ name: 'untrusted', caBundle: undefined, insecureSkipTLSVerify: true }), {}),
    untilReason('Passed'),
    untilServed(base),
    GET(things, { pick: echoed('x-remote-user') }),
  ]),
  scenario('aggregation-proxy-uid', { section: 'aggregation', about: 'the uid of a user, with its gate', needs: 'aggregation-uid', cleanup, extension: serving(echo) }, [
    ...registered(),
    untilServed(base),
    GET(things, { pick: identity }),
    GET(things, { headers: { 'x-remote-uid': 'forged' }, pick: identity }),
    GET(things, { headers: { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters', 'impersonate-uid': 'i' }, pick: identity }),
    GET(things, { headers: { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }, pick: identity }),
  ]),
  scenario('aggregation-proxy-unavailable', { section: 'aggregation', about: 'requests to an APIService that is not available', needs: 'aggregation', cleanup, extension: serving(echo) }, [
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ name: 'missing' }), {}),
    untilReason('ServiceNotFound'),
    POLL(base, (_, status) => status === 503, { text: true, compareHeaders: ['content-type', 'retry-after', 'cache-control', 'x-content-type-options'] }),
    GET(things, { text: true, compareHeaders: ['content-type', 'retry-after'] }),
    POST(things, {}, { text: true }),
    GET(`${things}?watch=1`, { text: true }),
    GET(things, { as: 'alice' }),
    GET(things, { as: null }),
    POST('/api/v1/namespaces/$ns/services', service('missing'), { compare: 'status' }),
    untilReason('Passed'),
    untilServed(base),
    GET(things, { pick: echoed('x-remote-user') }),
    DELETE('/api/v1/namespaces/$ns/services/missing', undefined, { compare: 'status' }),
    untilReason('ServiceNotFound'),
    POLL(things, (_, status) => status === 503, { text: true }),
    DELETE(apiServicePath(), undefined, {}),
    POLL(things, (_, status) => status === 404, { text: true }),
    GET(base, { text: true }),
  ]),
];
