// Content types that are not accepted (415, 406), and limits on sizes.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const about = (text, section = '7') => ({ section, about: text });
const made = POST(cms, cm('c'), { compare: 'status' });
const type = { compareHeaders: ['content-type'] };
const brief = (b) => (typeof b === 'string' ? b.replace(/(resourceVersion): "\d+"/, '$1: "?"') : b.kind === 'Status' ? b : { kind: b.kind, name: b.metadata?.name });
/** A ConfigMap whose JSON takes exactly `total` bytes. */
const big = (n) => JSON.stringify(cm('big', { data: { k: 'x'.repeat(n) } }));
const sized = (total) => { const empty = big(0); return big(total - empty.length); };

export default [
  ...['application/json', '*/*', 'application/*', 'text/html', 'text/plain', 'application/xml', 'application/yaml', 'application/json;q=0', 'application/json, text/html', 'text/html, */*;q=0.1', 'foo', '', 'application/json;as=Nope;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v9;g=meta.k8s.io', 'application/cbor', 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io', 'application/json;charset=utf-8', 'APPLICATION/JSON', 'application/json;stream=watch'].map((accept, i) => scenario(`crud-media-accept-${i + 1}`, about(`Accept: ${accept}`), [made, GET(`${cms}/c`, { headers: { accept }, ...type, pick: brief })])),
  scenario('crud-media-accept-none', about('no Accept header'), [made, GET(`${cms}/c`, { headers: { accept: null }, ...type, pick: brief }), GET(`${cms}/none`, { headers: { accept: null }, ...type })]),
  scenario('crud-media-accept-list', about('406 of a list, a create, a delete and a subresource'), [made,
    GET(cms, { headers: { accept: 'text/html' }, ...type }), POST(cms, cm('d'), { headers: { accept: 'text/html' }, ...type }), GET(`${cms}/d`, { pick: brief }), DELETE(`${cms}/c`, undefined, { headers: { accept: 'text/html' }, ...type }), GET(`${cms}/c`, { pick: brief }), GET('/apis/apps/v1/namespaces/$ns/deployments/x/scale', { headers: { accept: 'text/html' }, ...type }), PATCH(`${cms}/c`, 'merge', {}, { headers: { accept: 'text/html' }, ...type }), GET(`${cms}/none`, { headers: { accept: 'text/html' }, ...type }), GET('/api/v1/foos', { headers: { accept: 'text/html' }, ...type }),
  ]),
  scenario('crud-media-accept-text', about('the bytes of a 406 answer'), [made, GET(`${cms}/c`, { headers: { accept: 'text/html' }, text: true, compareHeaders: ['content-type', 'content-length', 'cache-control'] })]),
  scenario('crud-media-accept-errors', about('errors in other representations'), [GET(`${cms}/none`, { headers: { accept: 'application/yaml' }, text: true, ...type }), GET(`${cms}/none`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }, text: true, ...type }), GET(`${cms}/none`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, text: true, ...type })]),
  scenario('crud-media-accept-plain-paths', { ...about('Accept on paths outside of resources'), namespace: false }, ['/version', '/api', '/apis', '/apis/apps', '/apis/apps/v1', '/foo', '/healthz'].map((p) => GET(p, { headers: { accept: 'text/html' }, ...type, pick: (b) => (typeof b === 'string' ? b : b.kind === 'Status' ? b : { kind: b.kind, major: b.major }) }))),
  ...['text/plain', 'application/xml', 'application/*', '*/*', 'application/json; charset=utf-8', 'application/json;foo', 'APPLICATION/JSON', 'application/vnd.api+json', 'application/merge-patch+json', 'application/cbor', 'json', ';', 'application/x-www-form-urlencoded', ''].map((t, i) => scenario(`crud-media-content-type-${i + 1}`, about(`Content-Type of POST and PUT: ${t}`), [made, POST(cms, cm(`n${i}`), { headers: { 'content-type': t }, pick: brief }), PUT(`${cms}/c`, cm('c'), { headers: { 'content-type': t }, pick: brief })])),
  scenario('crud-media-content-type-none', about('no Content-Type'), [made, POST(cms, JSON.stringify(cm('a')), { headers: { 'content-type': null }, pick: brief }), PUT(`${cms}/c`, JSON.stringify(cm('c')), { headers: { 'content-type': null }, pick: brief }), PATCH(`${cms}/c`, 'merge', '{}', { headers: { 'content-type': null } }), DELETE(`${cms}/c`, '{"dryRun":["All"]}', { headers: { 'content-type': null } })]),
  scenario('crud-media-content-type-protobuf', about('a JSON body that says it is protobuf'), [POST(cms, cm('a'), { type: 'application/vnd.kubernetes.protobuf' }), POST(cms, '', { type: 'application/vnd.kubernetes.protobuf' }), POST(cms, 'k8s\u0000', { type: 'application/vnd.kubernetes.protobuf' })]),
  scenario('crud-media-content-type-patch', about('Content-Type of PATCH'), [made, ...['application/json', 'text/plain', 'application/merge-patch+json;charset=utf-8', 'application/strategic-merge-patch+json; x=y', 'Application/Merge-Patch+JSON', 'application/json-patch', 'application/apply-patch', 'application/apply-patch+json', 'application/apply-patch+cbor', '*/*', 'application/yaml'].map((t) => PATCH(`${cms}/c`, t, '{}', { pick: brief })), PATCH(`${cms}/none`, 'text/plain', '{}')]),
  scenario('crud-media-content-type-patch-subresource', about('415 of PATCH to subresources and other groups'), [PATCH('/apis/apps/v1/namespaces/$ns/deployments/x', 'text/plain', '{}'), PATCH('/apis/apps/v1/namespaces/$ns/deployments/x/scale', 'text/plain', '{}'), PATCH('/apis/apps/v1/namespaces/$ns/deployments/x/status', 'text/plain', '{}'), { ...PATCH(`${cms}/x`, 'text/plain', undefined), headers: { 'content-type': 'text/plain' } }]),
  scenario('crud-media-content-type-delete', about('Content-Type of DELETE, with and without a body'), [made, DELETE(`${cms}/c`, '{"dryRun":["All"]}', { type: 'text/plain' }), DELETE(`${cms}/c?dryRun=All`, undefined, { headers: { 'content-type': 'text/plain' } }), DELETE(cms, '{"dryRun":["All"]}', { type: 'text/plain' }), DELETE(`${cms}/c`, '{"dryRun":["All"]}', { type: 'application/merge-patch+json' })]),
  scenario('crud-media-both', about('a bad Accept and a bad Content-Type together'), [POST(cms, 'x', { headers: { accept: 'text/html', 'content-type': 'text/plain' } }), PATCH(`${cms}/c`, 'text/plain', 'x', { headers: { accept: 'text/html' } })]),
  scenario('crud-media-order', about('406 and 415 against 404 and 405'), [POST('/api/v1/foos', 'x', { type: 'text/plain' }), POST(`${cms}/x`, 'x', { type: 'text/plain' }), POST(`${cms}/x`, {}, { headers: { accept: 'text/html' } }), POST('/api/v1/namespaces/$ns-none/configmaps', 'x', { type: 'text/plain' })]),

  // Sizes.
  scenario('crud-media-too-large', about('a body of more than 3 MiB is 413', '8'), [
    POST(cms, sized(3145729), { compareHeaders: ['content-type', 'retry-after', 'connection'] }),
    PUT(`${cms}/big`, sized(3145729)),
    PATCH(`${cms}/big`, 'merge', sized(3145729)),
    PATCH(`${cms}/big`, 'apply-yaml', sized(3145729), { query: { fieldManager: 'm' } }),
    DELETE(`${cms}/big`, sized(3145729)),
  ]),
  scenario('crud-media-limit-exact', about('a body of exactly 3 MiB is read', '8'), [
    POST(cms, sized(3145728)),
    PUT(`${cms}/big`, sized(3145728)),
  ]),
  scenario('crud-media-too-large-chunked', about('the limit holds for bodies without a length', '8'), [
    POST(cms, sized(3145729), { headers: { 'transfer-encoding': 'chunked' } }),
  ]),
  scenario('crud-media-store-limit', about('an object that is too large for the store', '8'), [
    POST('/apis/apps/v1/namespaces/$ns/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1, data: { k: 'x'.repeat(1600000) } }),
    POST('/apis/apps/v1/namespaces/$ns/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1, data: { k: 'x'.repeat(1400000) } }, { compare: 'status' }),
    PUT('/apis/apps/v1/namespaces/$ns/controllerrevisions/r', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r', annotations: { a: 'y'.repeat(200000) } }, revision: 2, data: { k: 'x'.repeat(1400000) } }),
  ]),
  scenario('crud-media-json-patch-limit', about('a JSON patch may hold 10000 operations', '8'), [
    POST(cms, cm('c', { data: { a: '1' } }), { compare: 'status' }),
    PATCH(`${cms}/c`, 'json-patch', Array.from({ length: 10001 }, () => ({ op: 'test', path: '/data/a', value: '1' }))),
    PATCH(`${cms}/c`, 'json-patch', Array.from({ length: 10000 }, () => ({ op: 'test', path: '/data/a', value: '1' })), { pick: brief }),
  ]),
  scenario('crud-media-gzip-off', { ...about('with its gate off no answer is gzipped', '4.4'), needs: 'gates-off' }, [
    POST(cms, cm('b', { data: { k: 'x'.repeat(140000) } }), { compare: 'status' }),
    GET(`${cms}/b`, { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary', 'content-type'], text: true, pick: () => undefined }),
    GET('/openapi/v2', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary', 'content-type'], text: true, pick: () => undefined }),
  ]),
  scenario('crud-media-gzip-answer', about('answers over 128 KiB are gzipped when asked for', '4.4'), [
    POST(cms, cm('s', { data: { k: 'x'.repeat(1000) } }), { compare: 'status' }), POST(cms, cm('b', { data: { k: 'x'.repeat(140000) } }), { compare: 'status' }),
    ...['gzip', 'gzip, deflate', 'deflate', 'gzip;q=1', '*'].flatMap((e) => [GET(`${cms}/b`, { headers: { 'accept-encoding': e }, compareHeaders: ['content-encoding', 'vary', 'content-type'], text: true, pick: () => undefined })]),
    GET(`${cms}/s`, { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: brief }),
  ]),
];
