// Definitions: corners that a fuzzer found: lists by keys, columns, scale, selectable fields, unknown fields and defaults.
import { GET, POST } from '../steps.ts';
import { CRDS, crd, at, widget, version, object, string, integer, list, anything, rules, tryCrd, withCrd, causeLines } from './kit/crd.mjs';

const section = '2.5';
const outcome = (b) => (b?.details?.causes ? causeLines(b) : b?.spec !== undefined || b?.kind === 'Widget' ? 'accepted' : b);
const tried = (id, about, spec, more = {}) => tryCrd(`crd-corners-${id}`, { section, about }, crd({ spec, ...more }), { pick: outcome });
const keyed = (keys, items, more = {}) => list(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...more });
const table = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' };
const column = (name, jsonPath) => ({ name, type: 'string', jsonPath });
const columns = (id, about, ...paths) =>
  withCrd(`crd-corners-${id}`, { section, about }, crd({ spec: anything(), additionalPrinterColumns: paths.map((path, at) => column(`C${at}`, path)) }), [
    POST(at(), widget('w', { spec: { a: 'a', b: 'b' } }), { compare: 'status' }),
    GET(at(), { headers: table, pick: (b) => ({ columns: b?.columnDefinitions?.map((c) => c.name), rows: b?.rows?.map((r) => r.cells) }) }),
  ]);
const scaled = (id, about, spec, objects) =>
  withCrd(`crd-corners-${id}`, { section, about }, crd({ spec, status: object({ a: integer(), s: string() }), subresources: { scale: { specReplicasPath: '.spec.a.b', statusReplicasPath: '.status.a', labelSelectorPath: '.status.s' } } }), objects.map((o) => POST(at(), { ...widget('w'), ...o }, { query: { dryRun: 'All' }, pick: outcome })));
const selectable = (id, about, fields, more = {}) =>
  tryCrd(`crd-corners-${id}`, { section, about }, crd({ versions: [version('v1', { spec: object({ a: string(), i: integer(), l: list(string()), o: object({}) }), selectableFields: fields.map((jsonPath) => ({ jsonPath })), ...more })] }), { pick: outcome });

const ruled = integer(rules('self > 1'));
const always = rules('true');
const ruledBelow = {
  'items-of-ruled-object': object({ a: { type: 'object', items: ruled, ...always } }),
  'items-of-object-below-rule': object({ a: { type: 'object', items: ruled } }, always),
  'items-of-object-far-below-rule': object({ b: object({ a: { type: 'object', items: ruled } }) }, always),
  'items-of-ruled-string': object({ a: { type: 'string', items: ruled, ...always } }),
  'items-of-ruled-map': object({ a: { type: 'object', items: ruled, additionalProperties: string(), ...always } }),
  'items-of-ruled-map-of-numbers': object({ a: { type: 'object', items: ruled, additionalProperties: integer(), ...always } }),
  'values-of-ruled-array': object({ a: { type: 'array', items: string(), additionalProperties: ruled, ...always } }),
  'values-of-ruled-string': object({ a: { type: 'string', additionalProperties: ruled, ...always } }),
  'properties-of-ruled-string': object({ a: { type: 'string', properties: { b: ruled }, ...always } }),
  'items-of-ruled-object-with-wrong-rule': object({ a: { type: 'object', items: integer(rules('self.nope', 'self > 1')), ...always } }),
  'items-of-ruled-object-with-wrong-parts': object({ a: { type: 'object', items: integer({ 'x-kubernetes-validations': [{ rule: '' }, { rule: 'self > 1', message: 'a\nb' }] }), ...always } }),
};

export default [
  tried('list-map-keys-unknown', 'each key that is no property is told', object({ l: keyed(['a', 'b', 'c'], object({ v: string() })) })),
  tried('list-map-keys-repeated', 'each key that is repeated is told', object({ l: keyed(['a', 'a', 'b', 'a', 'b'], object({ a: string() }, { required: ['a'] })) })),
  tried('list-map-keys-not-scalar', 'keys are scalars', object({ l: keyed(['a', 'b'], object({ a: object(), b: list(string()) }, { required: ['a', 'b'] })) })),
  tried('list-type-everything-wrong', 'a list type on another type, with keys', object({ l: string({ 'x-kubernetes-list-type': 'nope', 'x-kubernetes-list-map-keys': ['a'] }), m: object({}, { 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'] }), n: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] } })),
  tried('set-of-lists', 'sets have items that are compared whole', object({ l: list(list(string(), { 'x-kubernetes-list-type': 'set' }), { 'x-kubernetes-list-type': 'set' }), m: list(object({ a: string() }), { 'x-kubernetes-list-type': 'set' }), n: list(object({ a: string() }, { 'x-kubernetes-map-type': 'atomic' }), { 'x-kubernetes-list-type': 'set' }) })),
  columns('columns-broken-last', 'columns before a broken one stay', '.spec.a', '.spec['),
  columns('columns-broken-first', 'those behind it do not', '.spec[', '.spec.a'),
  columns('columns-broken-between', 'a broken column between others', '.spec.a', '.spec[', '.spec.b'),
  scaled('scale-of-null', 'what is null on the way has no replicas', object({ a: object({ b: integer({ nullable: true }) }, { nullable: true }) }, { nullable: true }), [{ spec: null }, { spec: { a: null } }, { spec: { a: { b: null } } }, {}]),
  scaled('scale-of-others', 'what is no object on the way', anything(), [{ spec: { a: 1 } }, { spec: { a: { b: 'x' } } }, { spec: { a: [] } }, { spec: { a: { b: 1.5 } } }, { spec: { a: { b: -1 } } }, { spec: { a: { b: 4294967296 } } }]),
  selectable('selectable', 'fields that cannot be selected by', ['.spec.a', '.spec.a', '.spec.l', '.spec.o', '.spec.x', '.metadata.name', 'c', '.spec.l[0]', "['spec'].a", '']),
  selectable('selectable-many', 'nine fields', ['.spec.a', '.spec.i', '.spec.a', '.spec.a', '.spec.a', '.spec.a', '.spec.a', '.spec.a', '.spec.a']),
  tryCrd('crd-corners-selectable-without-schema', { section, about: 'selectable fields without a schema' }, crd({ versions: [{ name: 'v1', served: true, storage: true, selectableFields: [{ jsonPath: '.spec.a' }] }] }), { pick: outcome }),
  tried('preserve-and-defaults', 'unknown fields are not kept where there are defaults', object({ a: string({ default: 'a' }) }), { extra: { preserveUnknownFields: true } }),
  tried('preserve-and-deep-defaults', 'nor where they are below', object({ l: list(object({ a: string({ default: 'a' }) })) }), { extra: { preserveUnknownFields: true } }),
  tried('int-or-string-default', 'what is an integer or a string may be given any default', object({ a: { 'x-kubernetes-int-or-string': true, default: 1.5 }, b: { 'x-kubernetes-int-or-string': true, anyOf: [integer(), string()], default: 1.5 }, o: object({ c: { 'x-kubernetes-int-or-string': true } }, { default: { c: true } }) })),
  tried('int-or-string-default-good', 'or none', object({ a: { 'x-kubernetes-int-or-string': true, default: 1.5 } })),
  tried('items-of-object', 'items of what is no list have no type for rules', object({ a: { type: 'object', items: integer({ 'x-kubernetes-validations': [{ rule: 'self > 1' }] }), default: {} } })),
  ...Object.entries(ruledBelow).map(([id, spec]) => tried(`ruled-${id}`, `rules whose type comes from a schema above: ${id.replaceAll('-', ' ')}`, spec)),
  tried('default-of-unknown-format', 'a format that is not known is a type where a default is checked', object({ a: integer({ format: 'x', default: {} }), b: integer({ format: 'x', default: 1 }), c: string({ format: 'x', default: 1 }), d: string({ format: 'x', default: 'y' }), e: integer({ format: 'int32', default: true }), f: list(string(), { format: 'x', default: 1 }) })),
  tried('keywords-empty', 'keywords that are not supported, but empty', object({ a: string({ dependencies: {} }), b: string({ $ref: '' }), c: string({ definitions: {} }), d: string({ patternProperties: {} }), e: string({ id: '' }) })),
  tried('default-of-broken-pattern', 'a default beside a pattern that is none', object({ a: string({ pattern: '(?=a)', default: 'x' }) })),
  tried('additional-properties-text', 'what else is allowed is no text', object({ a: object(undefined, { additionalProperties: '-' }) })),
  tried('additional-properties-number', 'nor a number, however deep', object({ a: list(object(undefined, { additionalProperties: 1 })) })),
  selectable('selectable-order', 'paths are read from the left', ['.spec.x[0]', '.spec.a[0]', '.spec.l[0].x', '.x.y', '.spec..a', '.', '.spec.', '.spec.a.', '.spec.a']),
  withCrd('crd-corners-watch-path-methods', { section, about: 'the old paths of watches watch, whatever the method' }, crd({ spec: anything() }), [
    POST(at(), widget('w', {}), { compare: 'status' }),
    ...['DELETE', 'PUT', 'PATCH', 'POST'].flatMap((method) =>
      [at('w'), at()].map((path) => ({ ...GET(path.replace(/\/v1\//, '/v1/watch/'), { query: { timeoutSeconds: '1' }, compare: 'status' }), method, note: method })),
    ),
    GET(at('w'), { compare: 'status' }),
  ]),
  tryCrd('crd-corners-no-versions', { section, about: 'no versions at all' }, crd({ versions: [] }), { pick: outcome }),
];
