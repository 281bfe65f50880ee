// Pruning, defaulting and field validation of custom resources.
import { GET, POST, PUT, PATCH, APPLY, WATCH, WATCHED } from '../steps.ts';
import { GROUP, crd, crdPath, at, widget, version, object, string, integer, boolean, number, list, map, anything, withCrd, content, settled, sortedCauses } from './kit/crd.mjs';

const section = '4.9';
const on = (id, about, spec, steps, more = {}) => withCrd(`crd-fields-${id}`, { section, about }, crd({ spec, ...more }), steps);
const parts = (b) => (b?.kind === 'Status' ? (b.details?.causes?.length > 1 ? sortedCauses(b) : b) : { spec: b?.spec, ...(b?.status ? { status: b.status } : {}) });
const create = (spec, o = {}) => POST(at(), widget('w', { spec }), { compareHeaders: ['warning'], pick: parts, ...o });
const strict = { query: { fieldValidation: 'Strict' } };
const ignore = { query: { fieldValidation: 'Ignore' } };
const pun = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded = { 'x-kubernetes-embedded-resource': true };
const schemaOf = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
const change = (...ops) => [PATCH(crdPath(), 'json-patch', ops, { compare: 'status' }), ...settled()];

const pruning = [
  on('prune-nested', 'unknown fields are dropped at every level, with a warning each', object({ a: string(), o: object({ x: string() }), l: list(object({ k: string() })), m: map(object({ v: string() })) }), [
    create({ a: 'x', z: 1, o: { x: '1', z: 2 }, l: [{ k: '1', z: 3 }, { z: 4 }], m: { one: { v: '1', z: 5 } } }), GET(at('w'), { pick: parts }),
  ]),
  on('prune-strict', 'unknown fields are refused with Strict', object({ a: string(), o: object({ x: string() }), l: list(object({ k: string() })), m: map(object({ v: string() })) }), [
    create({ a: 'x', z: 1, o: { x: '1', z: 2 }, l: [{ k: '1', z: 3 }, { z: 4 }], m: { one: { v: '1', z: 5 } } }, strict),
  ]),
  on('prune-ignore', 'unknown fields are dropped silently with Ignore', object({ a: string() }), [create({ a: 'x', z: 1 }, ignore), create({ a: 'x' }, { query: { fieldValidation: 'Loose' } }), create({ a: 'x' }, { query: { fieldValidation: 'strict' } })]),
  on('prune-object-without-properties', 'an object without properties loses all fields', object(), [create({ a: 1 })]),
  on('prune-scalars-untouched', 'a value of the wrong type is not pruned but refused', object({ o: object({ x: string() }) }), [create({ o: 'text', z: 1 })]),
  on('preserve', 'a subtree that preserves unknown fields keeps them', object({ any: anything(), a: string() }), [create({ any: { x: { y: [1, { z: null }] } }, b: 1 }, { query: { fieldValidation: 'Strict' } }), create({ any: { x: { y: [1, { z: null }] } }, b: 1 })]),
  on('preserve-with-properties', 'specified fields below are pruned again', object({ any: anything({ properties: { known: object({ a: string() }) } }) }), [create({ any: { known: { a: 'x', z: 1 }, other: { z: 1 } } }), GET(at('w'), { pick: parts })]),
  on('preserve-in-items', 'items that preserve unknown fields', object({ l: list(anything({ properties: { o: object() } })) }), [create({ l: [{ a: 1, o: { b: 1 } }] })]),
  on('preserve-without-type', 'a field without a type takes any value', object({ free: { ...pun } }), [create({ free: 'text' }), PATCH(at('w'), 'merge', { spec: { free: [1, { a: null }] } }, { pick: parts }), PATCH(at('w'), 'merge', { spec: { free: 5 } }, { pick: parts }), PATCH(at('w'), 'json-patch', [{ op: 'replace', path: '/spec/free', value: [null, { a: null }] }], { pick: parts }), PATCH(at('w'), 'json-patch', [{ op: 'replace', path: '/spec/free', value: null }], { pick: parts })]),
  on('preserve-root', 'a root that preserves unknown fields', undefined, [POST(at(), { ...widget('w'), data: { x: 1 }, list: [1] }, { compareHeaders: ['warning'], pick: content }), POST(at(), { ...widget('v', {}, { metadata: { color: 'red' } }) }, { compareHeaders: ['warning'], pick: content })], { schema: anything() }),
  on('additional-properties-true', 'additionalProperties true keeps any field', object({ m: { type: 'object', additionalProperties: true }, f: { type: 'object', additionalProperties: false } }), [create({ m: { a: { b: 1 } }, f: { a: 1 } })]),
  on('embedded', 'an embedded resource keeps apiVersion, kind and metadata', object({ e: object({ spec: object({ a: string() }) }, { ...embedded }) }), [
    create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { l: '1' }, color: 'red' }, spec: { a: 'x', z: 1 }, status: {} } }), create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', color: 'red' } } }, strict),
  ]),
  on('embedded-preserving', 'an embedded resource that preserves unknown fields', object({ e: anything({ ...embedded }) }), [create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', color: 'red', creationTimestamp: null }, spec: { a: 'x', z: 1 } } })]),
  on('embedded-invalid', 'embedded resources need apiVersion and kind, and valid metadata', object({ e: anything({ ...embedded }) }), [
    create({ e: {} }), create({ e: { apiVersion: 'v1', kind: 'Pod' } }, { query: { dryRun: 'All' } }), create({ e: { apiVersion: 'a/b/c', kind: 'Pod', metadata: { name: 'p' } } }), create({ e: { apiVersion: 'v1', kind: 'Not Good', metadata: { name: 'a/b' } } }),
    create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'Up_Per', labels: { 'bad key!': 'x' } } } }), create({ e: { apiVersion: 5, kind: 'Pod' } }), create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: 'x' } }), create({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 } } } }),
    create({ e: 'text' }),
  ]),
  on('embedded-list', 'embedded resources in a list', object({ l: list(anything({ ...embedded })) }), [create({ l: [{ apiVersion: 'v1', kind: 'Pod' }, { kind: 'Pod' }, { apiVersion: 'v1', kind: 'Pod', metadata: { annotations: { 'no good': '1' } } }] })]),
  on('prune-put-patch', 'unknown fields in PUT, merge patch, JSON patch and apply', object({ a: string() }), [
    create({ a: 'x' }, { id: 'w', compare: 'status' }),
    PUT(at('w'), widget('w', { spec: { a: 'y', z: 1 } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { compareHeaders: ['warning'], pick: parts }),
    PATCH(at('w'), 'merge', { spec: { z: 1 }, other: 1 }, { compareHeaders: ['warning'], pick: parts }),
    PATCH(at('w'), 'json-patch', [{ op: 'add', path: '/spec/z', value: 1 }], { compareHeaders: ['warning'], pick: parts }),
    PUT(at('w'), widget('w', { spec: { z: 1 } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), strict),
    PATCH(at('w'), 'merge', { spec: { z: 1 } }, { ...strict, pick: (b) => ({ ...b, message: b.message?.replace(/Invalid value: "\{.*\}": strict/, 'Invalid value: <object>: strict'), details: { ...b.details, causes: b.details?.causes?.map((c) => ({ ...c, message: c.message.replace(/"\{.*\}": strict/, '<object>: strict') })) } }) }),
    APPLY(at('w'), 'me', widget('w', { spec: { z: 1 } }), strict),
  ]),
  on('prune-stored', 'fields stored under an older schema are pruned when read', object({ a: string(), b: string() }), [
    create({ a: 'x', b: 'y' }, { id: 'w', compare: 'status' }), ...change({ op: 'remove', path: `${schemaOf}/properties/b` }), GET(at('w'), { pick: parts }), GET(at(), { pick: (b) => b.items.map(parts) }),
    ...change({ op: 'add', path: `${schemaOf}/properties/b`, value: string() }), GET(at('w'), { pick: parts }),
    ...change({ op: 'remove', path: `${schemaOf}/properties/b` }), PATCH(at('w'), 'merge', { spec: { a: 'z' } }, { pick: parts }), ...change({ op: 'add', path: `${schemaOf}/properties/b`, value: string() }), GET(at('w'), { pick: parts }),
  ]),
  on('duplicates-strict', 'fields given twice, with their paths', object({ a: string(), l: list(object({ k: string() })), m: map(string()) }), [
    POST(at(), '{"apiVersion":"$ns.example.com/v1","kind":"Widget","kind":"Widget","metadata":{"name":"w","labels":{"x":"1","x":"2"}},"spec":{"a":"1","l":[{"k":"1"},{"k":"1","k":"2"}],"m":{"q":"1","q":"2"},"a":"3","zz":1}}', { ...strict }),
    POST(at(), '{"apiVersion":"$ns.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":"1","a":"3","zz":1,"zz":2}}', { compareHeaders: ['warning'], pick: parts }),
  ]),
  on('duplicates-yaml', 'fields given twice in YAML', object({ a: string() }), [
    POST(at(), 'apiVersion: $ns.example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  a: one\n  a: two\n  z: 1\n', { type: 'application/yaml', ...strict }), POST(at(), 'apiVersion: $ns.example.com/v1\nkind: Widget\nmetadata:\n  name: w\nspec:\n  a: one\n  a: two\n  z: 1\n', { type: 'application/yaml', compareHeaders: ['warning'], pick: parts }),
  ]),
  on('unknown-in-embedded-metadata', 'where unknown fields of embedded metadata are reported', object({ e: object({ metadata: object({ labels: map(string()) }), x: object({ y: string() }) }, { ...embedded }) }), [create({ e: { apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 'b' }, nope: 1, annotations: { c: 'd' } }, x: { y: '1', z: 2 } } }), create({ e: { apiVersion: 'v1', kind: 'A', metadata: { nope: 1 }, x: { z: 2 }, q: 1 } }, strict)]),
];

const defaulting = [
  on('default-create', 'defaults of every type', object({ s: string({ default: 'x' }), i: integer({ default: 3 }), f: number({ default: 1.5 }), b: boolean({ default: false }), l: list(string(), { default: ['a'] }), o: object({ k: string() }, { default: { k: 'v' } }), e: object({}, { default: {} }) }), [create({}), POST(at(), widget('v'), { pick: content })]),
  on('default-spec', 'a default of spec itself', object({ a: string({ default: 'inner' }) }, { default: {} }), [POST(at(), widget('w'), { pick: content }), POST(at(), widget('v', { spec: null }), { pick: content })]),
  on('default-nested', 'defaults below an object apply only if it is there', object({ o: object({ a: string({ default: 'x' }) }), d: object({ a: string({ default: 'x' }), b: string({ default: 'y' }) }, { default: { a: 'own' } }) }), [create({}), POST(at(), widget('v', { spec: { o: {}, d: {} } }), { pick: parts })]),
  on('default-list-items', 'defaults in items and in map values', object({ l: list(object({ a: string({ default: 'x' }), b: string() })), m: map(object({ c: integer({ default: 7 }) })) }), [create({ l: [{}, { a: 'own' }, { b: 'z' }], m: { one: {}, two: { c: 1 } } })]),
  on('default-item-values', 'defaults of items and of map values replace nulls', object({ l: list(string({ default: 'x' })), m: map(string({ default: 'y' })), nl: list(string({ default: 'x', nullable: true })) }), [create({ l: ['a', null], m: { k: null }, nl: [null] })]),
  on('default-null', 'null takes the default, unless the field is nullable', object({ a: string({ default: 'x' }), b: string({ default: 'y', nullable: true }), c: string({ nullable: true }), d: string() }), [create({ a: null, b: null, c: null, d: null })]),
  on('null-object', 'null of an object that is not nullable and has no default is dropped', object({ o: object({ a: string() }), no: object({ a: string() }, { nullable: true }), l: list(string()), m: map(string()) }, {}), [create({ o: null, no: null, l: null, m: null })]),
  on('null-required', 'null of a required field', object({ a: string() }, { required: ['a'] }), [create({ a: null })]),
  on('default-update', 'defaults also come back on update', object({ a: string({ default: 'x' }) }), [create({ a: 'own' }, { compare: 'status' }), PATCH(at('w'), 'merge', { spec: { a: null } }, { pick: (b) => [b.metadata.generation, b.spec] })]),
  on('default-on-read', 'a default added later shows when reading, listing and watching', object({ a: string() }), [
    create({ a: 'x' }, { id: 'w', compare: 'status' }), ...change({ op: 'add', path: `${schemaOf}/properties/b`, value: string({ default: 'new' }) }),
    GET(at('w'), { pick: (b) => [b.metadata.generation, b.metadata.resourceVersion, b.spec] }), GET(at(), { pick: (b) => b.items.map(parts) }),
    WATCH('ws', at(), { query: { watch: 'true' } }), WATCHED('ws', { events: 1, pick: (es) => es.map((e) => [e.type, e.object.spec]) }),
    PATCH(at('w'), 'merge', { metadata: { labels: { l: '1' } } }, { pick: (b) => [b.metadata.generation, b.spec] }),
  ]),
  on('default-managed-fields', 'who owns defaulted fields', object({ a: string(), b: string({ default: 'y' }) }), [POST(at(), widget('w', { spec: { a: 'x' } }), { pick: (b) => b.metadata.managedFields }), APPLY(at('v'), 'me', widget('v', { spec: { a: 'x' } }), { pick: (b) => [b.spec, b.metadata.managedFields] })]),
  on('default-in-keyed-list', 'a default of a list key', object({ l: list(object({ port: integer(), proto: string({ default: 'TCP' }) }, { required: ['port'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['port', 'proto'] }) }), [create({ l: [{ port: 1 }, { port: 1, proto: 'UDP' }] }), PATCH(at('w'), 'merge', { spec: { l: [{ port: 1 }, { port: 1, proto: 'TCP' }] } }), APPLY(at('v'), 'me', widget('v', { spec: { l: [{ port: 1 }] } }), { pick: (b) => [b.spec, b.metadata?.managedFields?.map((m) => m.fieldsV1)] })]),
  on('default-embedded', 'defaults inside an embedded resource', object({ e: object({ metadata: object({ labels: map(string()), name: string({ default: 'named' }) }, { default: {} }), spec: object({ a: string({ default: 'x' }) }, { default: {} }) }, { ...embedded }) }), [create({ e: { apiVersion: 'v1', kind: 'A' } })]),
  on('default-status', 'defaults in the status', undefined, [POST(at(), widget('w'), { pick: content }), PATCH(at('w/status'), 'merge', { status: {} }, { pick: content })], { status: object({ phase: string({ default: 'New' }) }), subresources: { status: {} } }),
  on('default-status-of-root', 'a default of the status itself', undefined, [POST(at(), widget('w'), { pick: content }), GET(at('w'), { pick: content })], { status: object({ phase: string({ default: 'New' }) }, { default: {} }), subresources: { status: {} } }),
  on('default-int-or-string', 'defaults of int-or-string and of untyped fields', object({ p: { 'x-kubernetes-int-or-string': true, default: '25%' }, q: { 'x-kubernetes-int-or-string': true, default: 5 }, r: { ...pun, default: { any: ['thing'] } } }), [create({})]),
  on('default-validated', 'a default that is replaced by an invalid value', object({ a: string({ default: 'ok', enum: ['ok', 'good'] }) }), [create({ a: 'bad' }), create({})]),
  on('default-versions', 'each version has its own defaults', undefined, [
    POST(at(), widget('w', { spec: {} }), { pick: parts }), GET(at('w', { v: 'v2' }), { pick: parts }), POST(at('', { v: 'v2' }), widget('v', { spec: {} }, { v: 'v2' }), { pick: parts }), GET(at('v'), { pick: parts }),
  ], { versions: [version('v1', { spec: object({ a: string({ default: 'one' }) }) }), version('v2', { storage: false, spec: object({ a: string({ default: 'two' }), b: string({ default: 'extra' }) }) })] }),
];

export default [...pruning, ...defaulting];
