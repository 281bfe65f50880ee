// Aggregated discovery: all groups, versions and resources in one document, with an ETag.
import { scenario, GET } from '../steps.ts';
import { groups, isBuiltIn, dashed, accept } from './kit/shapes.mjs';

const none = { namespace: false };
const list = (v = 'v2', type = 'application/json', g = 'apidiscovery.k8s.io') => `${type};g=${g};v=${v};as=APIGroupDiscoveryList`;
const V2 = list();
const BETA = list('v2beta1');
const KUBECTL = `${V2},${BETA},application/json`;
const headers = ['content-type', 'vary', 'cache-control', 'etag?'];
const item = (name) => (b) => b.items.find((i) => (i.metadata.name ?? '') === name) ?? null;
const shape = (b, raw) => (raw?.base64 ? { prefix: Buffer.from(raw.base64, 'base64').subarray(0, 4).toString('hex') } : typeof b === 'string' ? { text: b.slice(0, 40) } : b.kind === 'Status' ? b : { kind: b.kind, apiVersion: b.apiVersion, keys: Object.keys(b) });

const documents = [
  scenario('discovery-aggregated-api', { section: '9.1', about: 'The core group in aggregated form, in full', ...none }, [GET('/api', { ...accept(V2), compareHeaders: headers })]),
  scenario('discovery-aggregated-apis-order', { section: '9.1', about: 'The order of groups and versions in the aggregated document', ...none }, [
    GET('/apis', { ...accept(V2), compareHeaders: headers, pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, metadata: b.metadata, items: b.items.filter((i) => isBuiltIn(i.metadata.name)).map((i) => `${i.metadata.name}: ${i.versions.map((v) => v.version)}`) }) }),
  ]),
  ...Object.keys(groups).map((g) => scenario(`discovery-aggregated-${dashed(g)}`, { section: '9.1', about: `The group ${g} in aggregated form, in full`, ...none }, [GET('/apis', { ...accept(V2), pick: item(g) })])),
];

const choices = [
  ['kubectl', KUBECTL], ['beta-only', BETA], ['beta-then-json', `${BETA},application/json`], ['json-then-v2', `application/json,${V2}`], ['json-preferred-by-q', `${V2};q=0.5,application/json`],
  ['v3-only', list('v3')], ['v3-then-json', `${list('v3')},application/json`], ['wrong-group', list('v2', 'application/json', 'meta.k8s.io')], ['no-version', 'application/json;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList'],
  ['no-group', 'application/json;v=v2;as=APIGroupDiscoveryList'], ['only-as', 'application/json;as=APIGroupDiscoveryList'], ['wrong-kind', 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscovery'],
  ['protobuf', list('v2', 'application/vnd.kubernetes.protobuf')], ['yaml', list('v2', 'application/yaml')], ['cbor', list('v2', 'application/cbor')], ['cbor-then-json', `${list('v2', 'application/cbor')},${V2}`],
  ['wildcard', list('v2', '*/*')], ['xml', list('v2', 'application/xml')], ['order-of-parameters', 'application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io'], ['extra-parameter', `${V2};profile=nopeer`], ['spaces', V2.replaceAll(';', '; ')],
].map(([id, value]) => scenario(`discovery-aggregated-accept-${id}`, { section: '4.4', about: `/api and /apis with Accept ${value}`, ...none }, ['/api', '/apis'].map((p) => GET(p, { ...accept(value), compareHeaders: headers, pick: shape }))));

const caching = [
  scenario('discovery-aggregated-not-modified', { section: '9.1', about: 'If-None-Match with the current ETag answers 304 without a body', ...none }, [
    GET('/api', { id: 'first', ...accept(V2), compareHeaders: headers, pick: () => null }),
    GET('/api', { headers: { accept: V2, 'if-none-match': '${first@headers.etag}' }, compareHeaders: headers, text: true }),
  ]),
  scenario('discovery-aggregated-modified', { section: '9.1', about: 'If-None-Match with another ETag, or in forms a cache might send', ...none }, [
    GET('/api', { id: 'first', ...accept(V2), pick: () => null }),
    GET('/api', { headers: { accept: V2, 'if-none-match': '"0123"' }, compareHeaders: headers, pick: shape }),
    GET('/api', { headers: { accept: V2, 'if-none-match': '*' }, compareHeaders: headers, pick: shape }),
    GET('/api', { note: 'list of tags', headers: { accept: V2, 'if-none-match': '"0123", ${first@headers.etag}' }, compare: 'status' }),
    GET('/api', { note: 'weak form', headers: { accept: V2, 'if-none-match': 'W/${first@headers.etag}' }, compare: 'status' }),
  ]),
  scenario('discovery-aggregated-etag-form', { section: '9.1', about: 'The ETag is a quoted upper-case SHA-512', ...none }, [
    GET('/api', { ...accept(V2), pick: () => null, pickHeaders: (h) => ({ form: /^"[0-9A-F]{128}"$/.test(h.etag) }) }),
    GET('/apis', { ...accept(V2), pick: () => null, pickHeaders: (h) => ({ form: /^"[0-9A-F]{128}"$/.test(h.etag) }) }),
  ]),
  scenario('discovery-aggregated-etag-per-type', { section: '9.1', about: 'The ETag does not depend on the serialisation', ...none }, [
    GET('/api', { id: 'first', ...accept(V2), pick: () => null }),
    GET('/api', { note: 'protobuf with the JSON tag', headers: { accept: list('v2', 'application/vnd.kubernetes.protobuf'), 'if-none-match': '${first@headers.etag}' }, compareHeaders: headers, pick: () => null }),
    GET('/api', { note: 'unaggregated with the tag', headers: { accept: 'application/json', 'if-none-match': '${first@headers.etag}' }, compareHeaders: headers, pick: (b) => ({ kind: b.kind }) }),
  ]),
  scenario('discovery-aggregated-head', { section: '9.1', about: 'HEAD and other methods on the aggregated document', ...none }, [GET('/api', { method: 'HEAD', ...accept(V2), compareHeaders: headers }), GET('/apis', { method: 'HEAD', ...accept(V2), compareHeaders: headers }), GET('/apis', { method: 'POST', body: {}, ...accept(V2), compareHeaders: ['content-type'], pick: shape })]),
  scenario('discovery-aggregated-not-below', { section: '9.1', about: 'Groups and versions have no aggregated form', ...none }, ['/apis/apps', '/apis/apps/v1', '/api/v1'].flatMap((p) => [GET(p, { ...accept(V2), compareHeaders: ['content-type'], pick: shape }), GET(p, { ...accept(KUBECTL), compareHeaders: ['content-type'], pick: shape })])),
  scenario('discovery-aggregated-access', { section: '9.1', about: 'Who may read the aggregated document', ...none }, [GET('/apis', { as: null, ...accept(V2) }), GET('/apis', { as: 'bob', ...accept(V2), pick: shape })]),
];

export default [...documents, ...choices, ...caching];
