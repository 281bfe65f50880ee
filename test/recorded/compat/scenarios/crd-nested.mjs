// Definitions: schemas inside of items and additionalProperties are read by decoders of their own; which faults hide which others.
import { APPLY, GET, POST } from '../steps.ts';
import { CRDS, crd, at, widget, object, string, integer, list, map, boolean, version, anything, tryCrd, withCrd, causeLines, noPointers, rules } from './kit/crd.mjs';

const section = '2.5';
const schemaOf = (b) => (b?.spec?.versions ? b.spec.versions[0].schema.openAPIV3Schema.properties.spec : b?.details?.causes ? causeLines(b) : noPointers(b));
const tried = (id, about, spec, o = {}) => tryCrd(`crd-nested-${id}`, { section, about }, crd({ spec }), { pick: schemaOf, ...o });
const strict = { query: { dryRun: 'All', fieldValidation: 'Strict' } };
const outcome = (b) => (b?.details?.causes ? causeLines(b) : b?.kind === 'Widget' ? 'accepted' : b);
const on = (id, about, definition, objects) =>
  withCrd(`crd-nested-${id}`, { section, about }, crd(definition), objects.map((spec) => POST(at(), widget('w', { spec }), { query: { dryRun: 'All' }, pick: outcome })));
const empty = { description: '', title: '', exclusiveMinimum: false, default: null, anyOf: [], required: [], 'x-kubernetes-validations': [], nullable: false };

export default [
  tried('zero-values', 'what is zero or empty is not kept, however deep', object({ a: integer(empty), l: list(integer(empty)), m: map(object({ a: string(empty), l: list(integer(empty)) }, { properties: {} })), n: map(map(integer(empty))) })),
  tried('kept-values', 'what has a pointer is kept when it is zero', object({ l: list(string({ minLength: 0, maximum: 0, 'x-kubernetes-preserve-unknown-fields': true, default: '', enum: [null, ''] })), m: map(true), n: map(false), o: map({ 'x-kubernetes-preserve-unknown-fields': true }) })),
  tried('unknown-fields', 'unknown fields inside are dropped', object({ l: list(string({ foo: 1, MinLength: 3 })), m: map(object({ a: string({ bar: 'x' }) })) })),
  tried('unknown-fields-strict', 'and not told', object({ l: list(string({ foo: 1 })), m: map(object({ a: string({ bar: 'x' }) })) }), strict),
  tried('unknown-fields-strict-outside', 'but those outside', object({ a: string({ foo: 1 }), l: list(string({ foo: 1 })) }), strict),
  tried('wrong-type-in-items', 'a value of a wrong type is told with the path to the items', object({ a: object({ l: list(object({ b: string({ format: 3 }) })) }) })),
  tried('wrong-type-in-additional-properties', 'or the additionalProperties', object({ a: map(object({ b: integer({ maximum: 'x' }) })) })),
  tried('wrong-type-deep', 'the outermost ones', object({ a: map(list(object({ b: integer({ maxLength: 1.5 }) }))) })),
  tried('wrong-type-before', 'and before a value outside that stands first', object({ a: string({ minLength: '1' }), b: list(string({ minLength: '1' })) })),
  tried('wrong-type-twice', 'the first inside counts', object({ a: list(string({ minLength: '1', maxLength: true })), b: list(integer({ type: {} })) })),
  tried('items-of-other-types', 'items that are no schema and no list', object({ a: list('x'), b: list(1), c: list(true) })),
  tried('items-list', 'a list of schemas', object({ a: list([string(), integer({ exclusiveMinimum: false })]) })),
  tried('items-list-wrong', 'with a value that is none', object({ a: list(['x']) })),
  tried('additional-properties-wrong-inside', 'neither a schema nor a boolean, inside', object({ a: list(map('x')) })),
  tried('dependencies-wrong', 'dependencies with a wrong value', object({ a: object({}, { dependencies: { a: { type: 1 } } }) })),
  tried('pattern-hides-defaults', 'a pattern that is none hides what is wrong with defaults', object({ a: string({ pattern: '(' }), b: integer({ default: 'x' }) })),
  tried('pattern-hides-rules', 'and what is wrong with rules', object({ a: string({ pattern: '(' }), b: integer(rules('nope')) })),
  tried('pattern-hides-rules-in-any-of', 'also in an alternative', object({ a: string({ anyOf: [{ pattern: '(' }, { items: { pattern: '[' } }] }), b: integer(rules('nope')) })),
  tried('pattern-beside-unsupported', 'beside a keyword that is not supported it is not looked at', object({ a: string({ pattern: '(', id: 'x' }) })),
  tried('pattern-beside-keywords', 'beside other faults of keywords', object({ a: string({ pattern: '(', uniqueItems: true }), c: { type: 'nope' }, d: { pattern: '[' } })),
  tried('default-of-other-type', 'a rule that does not look at a default of another type', object({ a: string({ format: 'ipv4', default: [], ...rules('1 > 2', 'self == "x"', 'true || self == "x"') }) })),
  tried('default-rule-path', 'the path of a rule below a default', object({ m: map(integer(), { default: { a: 1 }, ...rules({ rule: 'false', fieldPath: "['a']" }) }), o: object({ x: map(integer()) }, { default: { x: { b: 1 } }, ...rules({ rule: 'false', fieldPath: ".x['b']" }) }) })),
  on('rule-path-of-map', 'the path of a rule about a key', { spec: object({ m: map(integer(), rules({ rule: 'false', fieldPath: "['a']" })), o: object({ x: map(boolean()) }, rules({ rule: 'false', fieldPath: '.x' }, { rule: 'false', fieldPath: ".x['b']" })) }) }, [{ m: { a: 1 }, o: {} }]),
  on('scale-of-trees', 'what is no number where replicas are', { spec: object({ a: { 'x-kubernetes-preserve-unknown-fields': true } }), subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } } }, [{ a: {} }, { a: { b: [1, 'x y', null, 1.5, true], a: { c: '' } } }, { a: [] }, { a: ['', {}] }, { a: 1e21 }, { a: 'x' }]),
  withCrd('crd-nested-stored', { section, about: 'what is dropped inside is not stored' }, crd({ spec: object({ l: list(integer({ exclusiveMinimum: false, description: '', foo: 1 })) }) }), [
    GET(`${CRDS}/widgets.$ns.example.com`, { pick: schemaOf }),
  ]),
  withCrd('crd-nested-apply-types', { section, about: 'texts with a format are any scalars to an apply, and what is an integer or a string is anything' }, crd({ spec: object({ a: { 'x-kubernetes-int-or-string': true }, b: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, s: string({ format: 'ipv4' }), t: string({ format: 'byte' }), v: string({ format: 'nope' }), l: list(object({ k: string(), n: integer() }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) }) }),
    [{ a: {} }, { b: [1] }, { s: 5 }, { s: [] }, { t: 5 }, { v: true }, { v: {} }, { l: [{ k: 'a', n: 'x' }, { n: 1 }, { k: 'b', n: 'x' }] }].map((spec) => APPLY(at('w'), widget('w', { spec }), { query: { fieldManager: 'm' }, pick: outcome }))),
  withCrd('crd-nested-scale-hidden', { section, about: 'a scale of numbers that are none' }, crd({ spec: anything(), status: anything(), subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } } }), [
    POST(at(), widget('w', { spec: {} }), { compare: 'status' }),
    GET(`${at('w')}/scale`),
    POST(at(), widget('v', { spec: {}, status: { a: 'x' } }), { pick: outcome }),
  ]),
  withCrd('crd-nested-strict-metadata', { section, about: 'metadata that cannot be read is told before unknown fields' }, crd({ spec: object({ m: map(anything({ 'x-kubernetes-embedded-resource': true })) }) }), [
    POST(at(), widget('w', { spec: { m: { a: { kind: 'X', apiVersion: 'v1', metadata: { labels: { a: 1 } } } }, unknown: 1 } }), { query: { fieldValidation: 'Strict' }, pick: noPointers }),
    POST(at(), widget('w', { spec: { m: { a: { kind: 'X', apiVersion: 'a/b/c' }, '': { kind: '' } } } }), { pick: outcome }),
  ]),
  tryCrd('crd-nested-versions-almost-same', { section, about: 'versions whose schemas differ in an empty default' }, crd({ versions: [version('v1', { spec: object({ a: object({}), b: integer(rules('nope')) }) }), version('v2', { storage: false, spec: object({ a: object({}, { default: {} }), b: integer(rules('nope')) }) })] }), { pick: outcome }),
  tryCrd('crd-nested-subresources-almost-same', { section, about: 'versions whose subresources differ in an empty status' }, crd({ versions: [version('v1', { spec: object({}), subresources: { scale: { specReplicasPath: '.x', statusReplicasPath: '.y' } } }), version('v2', { storage: false, spec: object({}), subresources: { status: {}, scale: { specReplicasPath: '.x', statusReplicasPath: '.y' } } })] }), { pick: outcome }),
  tried('items-empty-list', 'an empty list of schemas', object({ a: list([], { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }), b: list([]) })),
  tried('keyed-items-of-other-types', 'items of a keyed list that are no schema', object(Object.fromEntries(['x', 1, true, null].map((items, i) => [`l${i}`, { ...list(items), 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }])))),
  tried('items-of-other-types-kept', 'items that are no schema where none are needed', object({ a: object({}, { items: 3 }), b: object({}, { items: [] }), c: string({ items: null }), d: integer({ items: 'x' }) })),
  tried('defaults-of-unknown-types', 'a default of a type that is none', object(Object.fromEntries(['a=b', '*', 'null', 'String'].flatMap((type) => ['x', 1, 1.5, true, [], {}].map((value) => [type, value])).map(([type, value], i) => [`p${i}`, { type, default: value }])))),
  tried('defaults-inside-of-unknown-types', 'and in what is inside of a default', object({ a: object({ l: list({ type: 'x' }), m: map({ type: 'y' }), o: object({ p: { type: 'null' }, q: { type: 'null', nullable: true }, r: { type: 'z', nullable: true } }) }, { default: { l: ['a', 1, null], m: { k: true }, o: { p: null, q: null, r: null } } }), n: list({ type: 'x', items: string() }, { default: [['a']] }) })),
  tried('defaults-of-unknown-types-with-formats', 'with formats, and those of numbers', object(Object.fromEntries([{ type: 'string', format: 'int64' }, { type: 'boolean', format: 'float64' }, { type: 'string', format: 'int32' }, { type: 'x', format: 'ipv4' }, { type: 'x', format: 'nope' }, { type: 'array', items: string(), format: 'int64' }].flatMap((schema) => ['x', 1, 1.5, true, ['a'], {}, 1e20].map((value) => ({ ...schema, default: value }))).map((schema, i) => [`p${i}`, schema])))),
  tried('defaults-of-unknown-types-with-rules', 'with rules', object({ a: { type: 'x', default: 'y', ...rules('self == "y"', 'true') }, b: object({ c: { type: 'x', ...rules('true') } }, { default: { c: 1 } }) })),
];
