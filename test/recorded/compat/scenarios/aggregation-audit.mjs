// Audit events of requests that go to an aggregated API server, and what is counted of them.
import { AUDITED, DELETE, GET, PATCH, POST, PUT, scenario, WATCH, WATCHED } from '../steps.ts';
import { apiService, cleanup, echo, group, registered, service, serving, untilReason, untilServed } from './kit/aggregation.mjs';

const base = `/apis/${group}/v1`;
const things = `${base}/namespaces/$ns/things`;
const quiet = { compare: 'status' };
/** Events of what came before. */
const before = AUDITED(1, { quiet: 500, ...quiet });
const audited = (id, about, more, steps) => scenario(`aggregation-audit-${id}`, { section: 'aggregation', about, needs: 'aggregation-audit', cleanup, extension: serving(more) }, [...registered(), untilServed(base), before, ...steps]);
const thing = (name, more = {}) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, ...more });
const last = ({ path }) => path.split('?')[0].split('/').at(-1);
const agent = { 'user-agent': 'oracle/1.0 ($ns)' };
const upgraded = { text: true, headers: { ...agent, connection: 'Upgrade', upgrade: 'SPDY/3.1' }, ...quiet };

/** Of the requests that ended without an answer of the remote server. */
const terminations = GET('/metrics', {
  text: true,
  note: 'metrics',
  pick: (text) => [...`${text}`.matchAll(/^apiserver_request_terminations_total\{([^}]*component="aggregator"[^}]*)\} (\S+)$/gm)].map(([, labels, value]) => `${labels} ${value}`).filter((line) => line.includes('ns.example.com') || line.includes('$ns')).sort(),
});

export default [
  audited('verbs', 'every verb; no bodies are recorded, whatever the policy says', ({ body }) => ({ body: { kind: 'Thing', got: body } }), [
    GET(`${things}/one`, quiet), AUDITED(2),
    GET(things, quiet), AUDITED(2),
    POST(things, thing('two'), quiet), AUDITED(2),
    PUT(`${things}/one`, thing('one'), quiet), AUDITED(2),
    PATCH(`${things}/one`, 'merge', { a: 1 }, quiet), AUDITED(2),
    DELETE(`${things}/one`, { propagationPolicy: 'Orphan' }, quiet), AUDITED(2),
    DELETE(things, undefined, quiet), AUDITED(2),
    GET(`${things}/one/status`, quiet), AUDITED(2),
    GET(`${base}/clusterthings/$ns`, quiet), AUDITED(2),
    GET(base, quiet), AUDITED(2),
    GET(things, { method: 'OPTIONS', ...quiet }), AUDITED(2),
    GET(`${things}/one`, { method: 'HEAD', ...quiet }), AUDITED(2),
  ]),
  audited('answers', 'what the remote server answers', (request) => {
    const of = last(request);
    if (of === 'missing') return { status: 404, body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'not here', reason: 'NotFound', code: 404 } };
    if (of === 'fails') return { status: 500, body: 'it failed' };
    if (of === 'moved') return { status: 302, headers: { location: '/elsewhere' }, body: '' };
    if (of === 'closed') return { close: true };
    if (of === 'cut') return { chunks: ['some'], cut: true };
    if (of === 'same') return { status: 304, headers: { 'content-type': null } };
    if (of === 'never') return { hang: true };
    return { body: {} };
  }, [
    GET(`${things}/missing`, quiet), AUDITED(2),
    GET(`${things}/fails`, quiet), AUDITED(2),
    GET(`${things}/moved`, quiet), AUDITED(2),
    POST(`${things}/closed`, {}, quiet), AUDITED(2),
    GET(`${things}/cut`, quiet), AUDITED(2),
    GET(`${things}/same`, quiet), AUDITED(2),
    GET(`${things}/never?timeout=1s`, quiet), AUDITED(2, { pick: (events) => events.map(({ stage }) => stage) }),
    GET(things, { as: 'alice', ...quiet }), AUDITED(2),
    POST(things, thing('x'), { headers: { ...agent, 'audit-id': 'id of $ns', 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }, ...quiet }), AUDITED(2),
  ]),
  audited('watch', 'a watch that the remote server ends, and one whose client goes', () => ({ chunks: [1, 2].map((n) => `{"type":"ADDED","object":{"n":${n}}}\n`), pauseMs: 50 }), [
    GET(`${things}?watch=1`, { text: true, ...quiet }), AUDITED(3),
    GET(`${base}/watch/namespaces/$ns/things`, { text: true, ...quiet }), AUDITED(3),
  ]),
  audited('watch-left', 'a watch whose client goes', () => ({ chunks: [1, 2, 3].map((n) => `{"type":"ADDED","object":{"n":${n}}}\n`), pauseMs: 5000 }), [
    WATCH('w', things, { query: { watch: 1 } }), WATCHED('w', quiet), AUDITED(3),
  ]),
  audited('upgrades', 'a switch of protocols, and one that is refused', (request) => (last(request) === 'agreed' ? { upgrade: 'SPDY/3.1', body: 'hello' } : last(request) === 'closed' ? { close: true } : { status: 403, body: 'no' }), [
    GET(`${things}/agreed`, upgraded), AUDITED(2),
    // Of a connection that was to be switched upstream records 101, whatever the client was told.
    GET(`${things}/refused`, upgraded), AUDITED(2, { ignore: ['*.responseStatus.code'] }),
    GET(`${things}/closed`, upgraded), AUDITED(2),
    POST(`${things}/one/exec`, undefined, { ...upgraded, headers: { ...upgraded.headers, 'content-length': '0' } }), AUDITED(3, { ignore: ['*.responseStatus.code'] }),
    GET(`${things}/one/log`, quiet), AUDITED(3),
    GET(`${things}/one/proxy`, quiet), AUDITED(3),
  ]),
  audited('untrusted', 'a server that nobody vouches for', echo, [
    POST('/api/v1/namespaces/$ns/services', service('untrusted'), quiet),
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ of: 'b.$ns.example.com', name: 'untrusted' }), quiet),
    untilReason('Passed', { of: 'b.$ns.example.com' }),
    untilServed('/apis/b.$ns.example.com/v1/things'),
    before,
    GET('/apis/b.$ns.example.com/v1/namespaces/$ns/things', quiet), AUDITED(2),
    DELETE('/apis/apiregistration.k8s.io/v1/apiservices/v1.b.$ns.example.com', undefined, quiet),
  ]),
  scenario('aggregation-audit-unavailable', { section: 'aggregation', about: 'requests to an APIService that is not available, and their counter', needs: 'aggregation-audit', cleanup, extension: serving(echo) }, [
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService({ name: 'missing' }), quiet),
    untilReason('ServiceNotFound'),
    untilServed(`${base}/x`, { ms: 2000 }),
    before,
    GET(`${things}/one`, quiet), AUDITED(2),
    POST(things, thing('two'), quiet), AUDITED(2),
    GET(`${things}?watch=1`, quiet), AUDITED(3),
    GET(`${things}/one/log`, quiet), AUDITED(3),
    GET(`${things}/a`, upgraded), AUDITED(2),
    GET(`${things}/a`, { as: 'alice', ...quiet }), AUDITED(2),
    GET(base, quiet), AUDITED(2),
  ]),
  scenario('aggregation-audit-terminations', { section: 'aggregation', about: 'what is counted of requests that ended without an answer of the remote server', needs: 'aggregation-audit', cleanup, extension: serving((request) => (last(request) === 'closed' ? { close: true } : { status: 500, body: 'no' })) }, [
    POST('/apis/apiregistration.k8s.io/v1/apiservices', apiService(), quiet),
    untilReason('ServiceNotFound'),
    GET(`${things}/one`, quiet),
    POST(things, {}, quiet),
    PUT(`${things}/one`, {}, quiet),
    PATCH(`${things}/one`, 'application/apply-patch+yaml', 'a: b', { query: { fieldManager: 'm', force: true }, ...quiet }),
    DELETE(things, undefined, quiet),
    GET(`${things}?watch=1`, quiet),
    GET(`${base}/things`, quiet),
    GET(`${base}/things/c/status`, quiet),
    GET(`${things}/one/log`, quiet),
    GET(base, quiet),
    GET(things, { method: 'OPTIONS', ...quiet }),
    terminations,
    POST('/api/v1/namespaces/$ns/services', service(), quiet),
    untilReason('Passed'),
    untilServed(base),
    GET(`${things}/closed`, quiet),
    GET(`${things}/fails`, quiet),
    GET(`${things}/hangs`, quiet),
    terminations,
  ]),
];
