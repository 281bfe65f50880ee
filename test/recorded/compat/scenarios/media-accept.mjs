// Which representation an Accept header chooses, on objects, lists, watches, writes and errors.
import { scenario, GET, POST, PUT, PATCH, DELETE, WATCH, WATCHED } from '../steps.ts';
import { TABLE, TABLE_BETA, PARTIAL, PARTIAL_LIST, PROTOBUF, as, accept, chosen } from './kit/shapes.mjs';

const type = ['content-type', 'vary'];
const cm = (name = 'one', extra = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' }, ...extra });
const maps = '/api/v1/namespaces/$ns/configmaps';

// The same values on one object and on a list.
const values = {
  absent: null, empty: '', any: '*/*', 'any-application': 'application/*', 'any-text': 'text/*', json: 'application/json', yaml: 'application/yaml', protobuf: PROTOBUF, cbor: 'application/cbor', 'cbor-sequence': 'application/cbor-seq',
  xml: 'application/xml', html: 'text/html', plain: 'text/plain', 'text-yaml': 'text/yaml', 'x-yaml': 'application/x-yaml', 'old-protobuf': 'application/x-protobuf', browser: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'first-of-two': 'application/yaml,application/json', 'second-of-two': 'application/xml,application/yaml', 'quality-order': 'application/json;q=0.1,application/yaml;q=0.9', 'quality-ties': 'application/yaml;q=0.5,application/json;q=0.5',
  'quality-zero': 'application/json;q=0', 'quality-zero-and-other': 'application/json;q=0,application/yaml', 'quality-not-a-number': 'application/json;q=x,application/yaml;q=0.5', 'quality-above-one': 'application/json;q=0.9,application/yaml;q=7',
  'wildcard-before-specific': '*/*,application/yaml', 'wildcard-high-quality': '*/*;q=1,application/yaml;q=0.1', 'any-application-then-yaml': 'application/*,application/yaml', 'client-go': `${PROTOBUF},application/json`, 'protobuf-after-json': `application/json,${PROTOBUF}`,
  'cbor-then-json': 'application/cbor,application/json', 'pretty-parameter': 'application/json;pretty=1', 'charset-parameter': 'application/json;charset=utf-8', 'unknown-parameter': 'application/json;foo=bar', 'export-parameter': 'application/json;export=1',
  'stream-parameter': 'application/json;stream=watch', 'stream-other': 'application/json;stream=other', 'protobuf-stream': `${PROTOBUF};stream=watch`, 'yaml-stream': 'application/yaml;stream=watch', 'schema-version': 'application/json;sv=v1', 'schema-version-wrong': 'application/json;sv=v2',
  'upper-case': 'APPLICATION/JSON', 'only-comma': ',', 'trailing-comma': 'application/yaml,', 'trailing-semicolon': 'application/yaml;', 'one-word': 'json', 'no-subtype': 'application', 'three-parts': 'application/json/x', 'spaces': '  application/yaml ;  q=1  ',
  'table': TABLE, 'table-beta': TABLE_BETA, 'table-alpha': as('application/json', 'Table', 'v1alpha1'), 'table-wrong-version': as('application/json', 'Table', 'v2'), 'table-wrong-group': as('application/json', 'Table', 'v1', 'example.com'), 'table-wrong-group-then-json': `${as('application/json', 'Table', 'v1', 'example.com')},application/json`,
  'table-no-group': 'application/json;as=Table;v=v1', 'table-no-version': 'application/json;as=Table;g=meta.k8s.io', 'table-only': 'application/json;as=Table', 'table-lower-case': as('application/json', 'table'), 'table-yaml': as('application/yaml', 'Table'), 'table-protobuf': as(PROTOBUF, 'Table'), 'table-protobuf-then-json': `${as(PROTOBUF, 'Table')},application/json`, 'table-any': as('*/*', 'Table'), 'table-cbor': as('application/cbor', 'Table'),
  'partial': PARTIAL, 'partial-beta': as('application/json', 'PartialObjectMetadata', 'v1beta1'), 'partial-yaml': as('application/yaml', 'PartialObjectMetadata'), 'partial-protobuf': as(PROTOBUF, 'PartialObjectMetadata'), 'partial-list': PARTIAL_LIST, 'partial-list-protobuf': as(PROTOBUF, 'PartialObjectMetadataList'), 'partial-wrong-version': as('application/json', 'PartialObjectMetadata', 'v2'), 'other-kind': as('application/json', 'Pod'), 'other-kind-then-json': `${as('application/json', 'Pod')},application/json`, 'only-group-and-version': 'application/json;g=meta.k8s.io;v=v1', 'aggregated-discovery': as('application/json', 'APIGroupDiscoveryList', 'v2', 'apidiscovery.k8s.io'),
};
const objects = Object.entries(values).map(([id, value]) => scenario(`accept-object-${id}`, { section: '4.4', about: `GET of an object with Accept ${value}` }, [GET('/api/v1/namespaces/$ns', { ...accept(value), compareHeaders: type, pick: chosen })]));
const lists = ['any-application', 'yaml', 'protobuf', 'xml', 'cbor', 'first-of-two', 'quality-order', 'table', 'table-protobuf', 'partial', 'partial-beta', 'partial-list', 'partial-list-protobuf', 'partial-yaml', 'stream-parameter', 'schema-version-wrong', 'table-wrong-group-then-json', 'other-kind']
  .map((id) => scenario(`accept-list-${id}`, { section: '4.4', about: `List with Accept ${values[id]}` }, [GET(maps, { ...accept(values[id]), compareHeaders: type, pick: chosen })]));

const watches = [
  ['json', 'application/json'], ['any', '*/*'], ['absent', null], ['yaml', 'application/yaml'], ['yaml-then-json', 'application/yaml,application/json'], ['xml', 'application/xml'], ['cbor', 'application/cbor'], ['cbor-sequence', 'application/cbor-seq'], ['json-stream', 'application/json;stream=watch'], ['protobuf', PROTOBUF], ['protobuf-stream', `${PROTOBUF};stream=watch`], ['stream-other', 'application/json;stream=other'], ['table', TABLE], ['table-protobuf', as(PROTOBUF, 'Table')], ['partial', PARTIAL], ['partial-list', PARTIAL_LIST], ['yaml-partial', as('application/yaml', 'PartialObjectMetadata')],
].map(([id, value]) => scenario(`accept-watch-${id}`, { section: '4.4', about: `Watch with Accept ${value}: its content type, or the refusal` }, [
  GET(`${maps}?watch=1&timeoutSeconds=1`, { ...accept(value), compareHeaders: ['content-type', 'transfer-encoding'], pick: (b, raw) => (raw?.base64 !== undefined ? { empty: raw.base64 === '' } : b) }),
]));

const writes = [
  ['post', POST(maps, cm(), { ...accept('application/xml') })], ['put', PUT(`${maps}/one`, cm(), { ...accept('application/xml') })], ['patch', PATCH(`${maps}/one`, 'merge', { data: { b: '2' } }, { ...accept('application/xml') })], ['delete', DELETE(`${maps}/one`, undefined, { ...accept('application/xml') })], ['deletecollection', DELETE(maps, undefined, { ...accept('application/xml') })],
].map(([id, write]) => scenario(`accept-write-refused-${id}`, { section: '4.4', about: 'An unacceptable Accept refuses the write before it happens' }, [...(id === 'post' ? [] : [POST(maps, cm(), { compare: 'status' })]), write, GET(maps, { pick: (b) => b.items.map((i) => ({ name: i.metadata.name, data: i.data })) })]));
const answers = [
  scenario('accept-write-yaml', { section: '4.4', about: 'A write answers in YAML on request' }, [POST(maps, cm(), { ...accept('application/yaml'), compareHeaders: type, pick: (t) => t.replace(/resourceVersion: "\d+"/, 'resourceVersion: "<rv>"') })]),
  scenario('accept-delete-yaml', { section: '4.4', about: 'A delete answers its Status in YAML on request' }, [POST(maps, cm(), { compare: 'status' }), DELETE(`${maps}/one`, undefined, { ...accept('application/yaml'), compareHeaders: type })]),
  scenario('accept-write-transform-unknown', { section: '4.4', about: 'An unknown conversion refuses a write too' }, [POST(maps, cm(), accept(values['other-kind'])), GET(`${maps}/one`, { compare: 'status' })]),
];

const errors = [
  ['yaml', 'application/yaml'], ['protobuf', PROTOBUF], ['xml', 'application/xml'], ['absent', null], ['table', TABLE], ['partial', PARTIAL], ['any', '*/*'], ['table-then-yaml', `${TABLE},application/yaml`], ['pretty', 'application/json;pretty=1'],
].map(([id, value]) => scenario(`accept-error-${id}`, { section: '7', about: `A missing object with Accept ${value}: how the Status is written` }, [GET(`${maps}/none`, { ...accept(value), compareHeaders: type, ...(id === 'pretty' ? { text: true } : {}), pick: (b, raw) => (raw?.base64 !== undefined ? chosen(b, raw) : b) })]));
const otherErrors = [
  scenario('accept-error-forbidden-yaml', { section: '7', about: 'A refusal by authorization in YAML', namespace: false }, [GET('/api/v1/nodes', { as: 'bob', ...accept('application/yaml'), compareHeaders: type })]),
  scenario('accept-error-forbidden-xml', { section: '7', about: 'A refusal by authorization to a caller who accepts neither', namespace: false }, [GET('/api/v1/nodes', { as: 'bob', ...accept('application/xml'), compareHeaders: type })]),
  scenario('accept-error-forbidden-protobuf', { section: '7', about: 'A refusal by authorization in protobuf', namespace: false }, [GET('/api/v1/nodes', { as: 'bob', ...accept(PROTOBUF), compareHeaders: type, pick: chosen })]),
  scenario('accept-error-unauthorized', { section: '7', about: 'A wrong token, in each representation', namespace: false }, ['application/json', 'application/yaml', PROTOBUF, 'application/xml', null].map((a) => GET('/api/v1/nodes', { note: `accept ${a}`, headers: { authorization: 'Bearer wrong', accept: a }, compareHeaders: type, pick: (b, raw) => (raw?.base64 !== undefined ? chosen(b, raw) : b) }))),
  scenario('accept-error-method', { section: '7', about: 'A method that is not allowed, in each representation', namespace: false }, ['application/json', 'application/yaml', PROTOBUF, 'application/xml'].map((a) => POST('/api/v1/namespaces/default', {}, { note: `accept ${a}`, ...accept(a), compareHeaders: type, pick: (b, raw) => (raw?.base64 !== undefined ? chosen(b, raw) : b) }))),
  scenario('accept-error-no-such-resource', { section: '7', about: 'A resource that does not exist, in each representation', namespace: false }, ['application/json', 'application/yaml', PROTOBUF, 'application/xml'].map((a) => GET('/api/v1/nopes', { note: `accept ${a}`, ...accept(a), compareHeaders: type, pick: (b, raw) => (raw?.base64 !== undefined ? chosen(b, raw) : b) }))),
  scenario('accept-error-validation-yaml', { section: '7', about: 'A validation error in YAML' }, [POST(maps, cm('Not_A_Name'), { ...accept('application/yaml'), compareHeaders: type })]),
  scenario('accept-error-unacceptable-in-yaml', { section: '7', about: 'The refusal of a conversion is itself written in the type that was asked for' }, [GET(maps, { ...accept(values['partial-yaml']), compareHeaders: type }), GET('/api/v1/namespaces/$ns', { ...accept(as('application/yaml', 'Pod')), compareHeaders: type })]),
  scenario('accept-error-in-watch', { section: '7', about: 'A watch that fails to start answers a plain Status' }, [GET(`${maps}?watch=1&resourceVersion=x`, { compareHeaders: type }), GET(`${maps}?watch=1&resourceVersion=x`, { ...accept(TABLE), compareHeaders: type }), GET(`${maps}?watch=1&resourceVersion=x`, { ...accept(PROTOBUF), compareHeaders: type, pick: chosen })]),
];

const subresources = [
  ['scale', '/apis/apps/v1/namespaces/$ns/deployments/d/scale'], ['status', '/apis/apps/v1/namespaces/$ns/deployments/d/status'],
].flatMap(([id, path]) => ['yaml', 'protobuf', 'xml', 'partial'].map((v) => scenario(`accept-${id}-${v}`, { section: '4.4', about: `The ${id} subresource with Accept ${values[v]}` }, [
  POST('/apis/apps/v1/namespaces/$ns/deployments', { metadata: { name: 'd' }, spec: { replicas: 2, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, { compare: 'status' }),
  GET(path, { ...accept(values[v]), compareHeaders: type, pick: chosen }),
])));

const reviews = [['json', 'application/json'], ['yaml', 'application/yaml'], ['protobuf', PROTOBUF], ['table', TABLE], ['partial', PARTIAL]].map(([id, value]) => scenario(`accept-review-${id}`, { section: '4.4', about: `A SelfSubjectReview with Accept ${value}`, namespace: false }, [
  POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }, { ...accept(value), compareHeaders: type, pick: (b, raw) => (raw?.base64 !== undefined ? chosen(b, raw) : typeof b === 'object' && b.columnDefinitions ? { ...b, columnDefinitions: b.columnDefinitions.map((c) => c.name) } : b) }),
]));

const log = '/api/v1/namespaces/$ns/pods/p/log';
const logs = [scenario('accept-log', { section: '4.4', about: 'The log of a Pod that runs nowhere, by Accept' }, [
  POST('/api/v1/namespaces/$ns/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, { compare: 'status' }),
  ...['application/json', 'application/json, */*', '*/*', 'text/plain', 'application/yaml', PROTOBUF, 'application/xml', null].map((a) => GET(log, { note: `accept ${a}`, ...accept(a), compareHeaders: ['content-type'], pick: (b, raw) => (raw?.base64 !== undefined ? { empty: raw.base64 === '' } : b) })),
])];
const validators = [
  scenario('accept-conditional', { section: '4.4', about: 'Resources have no ETag and ignore conditional and range requests' }, [GET('/api/v1/namespaces/$ns', { compareHeaders: ['etag', 'last-modified', 'accept-ranges'], pick: chosen }), GET('/api/v1/namespaces/$ns', { headers: { 'if-none-match': '*' }, pick: chosen }), GET('/api/v1/namespaces/$ns', { headers: { 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' }, pick: chosen }), GET('/api/v1/namespaces/$ns', { headers: { range: 'bytes=0-9' }, pick: chosen }), PUT(`${maps}/none`, cm('none'), { headers: { 'if-match': '"x"' }, pick: chosen })]),
];

const compression = [
  scenario('accept-encoding-small', { section: '4.4', about: 'A small answer is not compressed' }, [GET('/api/v1/namespaces/$ns', { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: chosen })]),
  ...[['gzip', 'gzip'], ['list', 'deflate, gzip, br'], ['quality', 'gzip;q=1.0'], ['quality-zero', 'gzip;q=0'], ['any', '*'], ['other', 'br'], ['upper-case', 'GZIP']].map(([id, value]) => scenario(`accept-encoding-large-${id}`, { section: '4.4', about: `An answer of over 128 KiB with Accept-Encoding ${value}` }, [
    POST(maps, cm('big', { data: { a: 'x'.repeat(140000) } }), { compare: 'status' }), GET(maps, { headers: { 'accept-encoding': value }, compareHeaders: ['content-encoding', 'vary', 'content-type'], pick: chosen }), GET(`${maps}/big`, { headers: { 'accept-encoding': value }, compareHeaders: ['content-encoding', 'vary'], pick: chosen }),
  ])),
  scenario('accept-encoding-threshold', { section: '4.4', about: 'Just below and above the threshold' }, [POST(maps, cm('below', { data: { a: 'x'.repeat(130000) } }), { compare: 'status' }), POST(maps, cm('above', { data: { a: 'x'.repeat(131100) } }), { compare: 'status' }), GET(`${maps}/below`, { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: chosen }), GET(`${maps}/above`, { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: chosen })]),
  scenario('accept-encoding-write', { section: '4.4', about: 'The answer to a write compresses as well' }, [POST(maps, cm('big', { data: { a: 'x'.repeat(140000) } }), { headers: { 'accept-encoding': 'gzip' }, compareHeaders: ['content-encoding', 'vary'], pick: chosen })]),
  scenario('accept-encoding-watch', { section: '4.4', about: 'A watch is never compressed' }, [POST(maps, cm('big', { data: { a: 'x'.repeat(140000) } }), { compare: 'status' }), WATCH('w', `${maps}?watch=1&timeoutSeconds=2`, { headers: { 'accept-encoding': 'gzip' } }), WATCHED('w', { compareHeaders: ['content-encoding', 'content-type'], pick: (b) => b.map((e) => e.type) })]),
];

export default [...objects, ...lists, ...watches, ...writes, ...answers, ...errors, ...otherErrors, ...subresources, ...reviews, ...logs, ...validators, ...compression];
