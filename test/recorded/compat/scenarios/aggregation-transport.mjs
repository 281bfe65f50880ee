// Between the two servers: what is sent again, what comes before and after an answer, upgrades, and answers that meet a limit of time.
import { DELETE, GET, PATCH, POST, PUT, scenario } from '../steps.ts';
import { apiService, cleanup, echo, echoed, group, registered, serving, untilReason, untilServed } from './kit/aggregation.mjs';

const base = `/apis/${group}/v1`;
const things = `${base}/namespaces/$ns/things`;
const aggregated = (id, about, more, steps) => scenario(`aggregation-transport-${id}`, { section: 'aggregation', about, needs: 'aggregation', cleanup, extension: serving(more) }, [...registered(), untilServed(base), ...steps]);
const last = ({ path }) => path.split('?')[0].split('/').at(-1);
const upgraded = (headers = {}) => ({ text: true, headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', ...headers }, compareHeaders: ['upgrade', 'content-type', 'content-length'] });

/** Closes the connection at the first request to each path, and answers the next one. */
const closingOnce = () => {
  const seen = new Map();
  return (request) => {
    const key = `${request.namespace} ${request.method} ${request.path}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 1 ? { close: true } : { body: { method: request.method, count } };
  };
};

export default [
  aggregated('again', 'a server that closes a connection just as it is used again: what is sent once more', closingOnce(), [
    GET(`${things}/a`, { text: true }),
    GET(base, { compare: 'status' }),
    GET(`${things}/b`, { method: 'HEAD', text: true }),
    GET(base, { compare: 'status' }),
    GET(`${things}/c`, { method: 'OPTIONS', text: true }),
    GET(base, { compare: 'status' }),
    POST(`${things}/d`, {}, { text: true }),
    GET(base, { compare: 'status' }),
    PUT(`${things}/e`, {}, { text: true }),
    GET(base, { compare: 'status' }),
    PATCH(`${things}/f`, 'merge', {}, { text: true }),
    GET(base, { compare: 'status' }),
    DELETE(`${things}/g`, undefined, { text: true }),
    GET(base, { compare: 'status' }),
    DELETE(`${things}/h`, { propagationPolicy: 'Background' }, { text: true }),
    GET(base, { compare: 'status' }),
    POST(`${things}/i`, undefined, { text: true }),
    GET(base, { compare: 'status' }),
    POST(`${things}/j`, undefined, { text: true, headers: { 'idempotency-key': 'k', 'content-length': '0' } }),
    GET(base, { compare: 'status' }),
    POST(`${things}/k`, {}, { text: true, headers: { 'x-idempotency-key': 'k' } }),
    GET(base, { compare: 'status' }),
    DELETE(`${things}/l`, undefined, { text: true, headers: { 'x-idempotency-key': 'k' } }),
    GET(base, { compare: 'status' }),
    GET(`${things}/m?watch=1`, { text: true }),
  ]),
  aggregated('expect', 'a client that waits to be told to go on', echo, [
    POST(things, { a: 1 }, { headers: { expect: '100-continue' }, json: true, pick: echoed('content-length') }),
    PUT(`${things}/x`, { a: 1 }, { headers: { expect: 'something' }, text: true, compareHeaders: ['content-type'] }),
  ]),
  aggregated('trailers', 'headers after the body', (request) => {
    if (last(request) === 'known') return { body: 'text', trailers: { 'x-sum': '42', 'X-Other': 'a b' } };
    if (last(request) === 'fails') return { status: 500, chunks: ['a', 'b'], trailers: { 'x-sum': '43' } };
    if (last(request) === 'cut') return { chunks: ['a'], cut: true, trailers: { 'x-sum': '44' } };
    return { status: 204, headers: { 'content-type': null }, trailers: { 'x-sum': '45' } };
  }, [
    GET(`${things}/known`, { text: true, compareHeaders: ['trailer?'] }),
    GET(`${things}/known`, { text: true, headers: { te: 'trailers' }, compareHeaders: ['trailer?'] }),
    GET(`${things}/known?watch=1`, { text: true, compareHeaders: ['trailer?'] }),
    POST(`${things}/fails`, {}, { text: true }),
    GET(`${things}/cut`, { text: true }),
  ]),
  aggregated('unread', 'a server that answers before it has read the body', ({ path }) => (path.includes('/refused') ? { status: 413, body: 'too much', headers: { connection: 'close' } } : { body: 'enough' }), [
    POST(`${things}/unread`, { text: 'x'.repeat(100) }, { text: true }),
    POST(`${things}/unread/refused`, { text: 'x'.repeat(100) }, { text: true }),
    POST(`${things}/unread`, { text: 'x'.repeat(3_000_000) }, { text: true }),
    GET(things, { compare: 'status' }),
  ]),
  aggregated('late', 'answers that have begun when the time of the request is up', (request) => {
    if (last(request) === 'chunks') return { chunks: ['a', 'b', 'c', 'd', 'e', 'f'], pauseMs: 500 };
    if (last(request) === 'body') return { chunks: ['{"a":'], headers: { 'content-length': '20' }, pauseMs: 4000, cut: true };
    return { delayMs: 4000, body: 'late' };
  }, [
    GET(`${things}/chunks`, { query: { timeout: '1s' }, text: true }),
    GET(`${things}/chunks`, { query: { timeout: '1s', watch: '1' }, text: true }),
    GET(`${things}/body`, { query: { timeout: '1s' }, text: true }),
    POST(`${things}/chunks`, {}, { query: { timeout: '1s' }, text: true }),
    DELETE(`${things}/none`, undefined, { query: { timeout: '1s' }, text: true, compareHeaders: ['content-type'] }),
    GET(`${things}/none`, { query: { timeout: '1s' }, method: 'HEAD', text: true }),
    GET(`${things}/none`, { query: { timeout: '1s' }, method: 'OPTIONS', text: true }),
  ]),
  aggregated('heads', 'answers to methods that have no body, and answers that must have none', (request) => {
    if (last(request) === 'reset') return { status: 205, body: 'text' };
    if (last(request) === 'long') return { body: 'x'.repeat(100_000) };
    if (last(request) === 'typed') return { body: 'text', headers: { 'content-type': null } };
    if (last(request) === 'json') return { body: '{"a":1}', headers: { 'content-type': null } };
    if (last(request) === 'odd') return { status: 299, body: 'odd' };
    if (last(request) === 'high') return { status: 599, body: 'high' };
    return { status: 404, body: { kind: 'Status' }, headers: { allow: 'GET, HEAD' } };
  }, [
    GET(`${things}/long`, { method: 'HEAD', text: true, compareHeaders: ['content-length', 'content-type'] }),
    GET(`${things}/none`, { method: 'HEAD', text: true, compareHeaders: ['content-length', 'content-type', 'allow'] }),
    GET(`${things}/none`, { method: 'OPTIONS', compareHeaders: ['allow'] }),
    GET(`${things}/reset`, { text: true, compareHeaders: ['content-length'] }),
    GET(`${things}/typed`, { text: true, compareHeaders: ['content-type', 'x-content-type-options'] }),
    GET(`${things}/json`, { text: true, compareHeaders: ['content-type'] }),
    GET(`${things}/odd`, { text: true }),
    GET(`${things}/high`, { text: true }),
  ]),
  aggregated('upgrades', 'a connection that speaks another protocol, and servers that refuse to', (request) => {
    const of = last(request);
    if (of === 'agreed') return { upgrade: request.headers.upgrade, body: `hello ${request.headers['x-remote-user']}` };
    if (of === 'forbidden') return { status: 403, body: { kind: 'Status', code: 403 }, headers: { 'x-why': 'because' } };
    if (of === 'broken') return { status: 500, body: 'it failed' };
    if (of === 'long') return { status: 400, body: 'x'.repeat(100_000) };
    if (of === 'chunks') return { status: 400, chunks: ['one ', 'two ', 'three'], pauseMs: 20 };
    if (of === 'moved') return { status: 302, body: 'moved', headers: { location: 'https://example.com/' } };
    if (of === 'closed') return { close: true };
    if (of === 'slow') return { delayMs: 3000, status: 400, body: 'slow' };
    return { status: 200, body: 'no' };
  }, [
    GET(`${things}/agreed`, upgraded()),
    GET(`${things}/agreed`, upgraded({ upgrade: 'websocket', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' })),
    POST(`${things}/agreed`, undefined, upgraded({ 'content-length': '0' })),
    GET(`${things}/forbidden`, { ...upgraded(), compareHeaders: ['x-why', 'content-type'] }),
    GET(`${things}/broken`, upgraded()),
    GET(`${things}/long`, { ...upgraded(), pick: (text) => ({ length: text.length }) }),
    GET(`${things}/chunks`, { ...upgraded(), compareHeaders: ['content-type'] }),
    GET(`${things}/fine`, upgraded()),
    GET(`${things}/moved`, upgraded()),
    GET(`${things}/closed`, upgraded()),
    GET(`${things}/slow`, { ...upgraded(), query: { timeout: '1s' } }),
    GET(`${things}/agreed`, { ...upgraded(), as: 'alice' }),
  ]),
  scenario('aggregation-transport-upgrade-unavailable', { section: 'aggregation', about: 'an upgrade while the server is not available', needs: 'aggregation', cleanup, extension: serving(echo) }, [
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ name: 'missing' }), { compare: 'status' }),
    untilReason('ServiceNotFound'),
    GET(`${things}/a`, upgraded()),
    GET(`${things}/a?watch=1`, upgraded()),
  ]),
];
