// What the server accepts and refuses in the schemas of a CustomResourceDefinition: they must be structural.
import { crd, version, object, string, integer, number, boolean, list, map, anything, tryCrd, causeLines } from './kit/crd.mjs';

const section = '4.9';
/** The schema of field `f` of spec is refused (or accepted) with these causes. */
const field = (id, about, f) => tryCrd(`crd-structural-${id}`, { section, about }, crd({ spec: object({ f }) }), { pick: causesOrSchema });
const root = (id, about, schema) => tryCrd(`crd-structural-${id}`, { section, about }, crd({ schema }), { pick: causesOrSchema });
function causesOrSchema(b) { return b?.spec ? { accepted: b.spec.versions.map((v) => v.schema) } : causeLines(b); }

const pun = { 'x-kubernetes-preserve-unknown-fields': true };
const ios = { 'x-kubernetes-int-or-string': true };
const embedded = { 'x-kubernetes-embedded-resource': true };
const keyed = (keys, items, more = {}) => list(items, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...more });
const set = (items, more = {}) => list(items, { 'x-kubernetes-list-type': 'set', ...more });

const types = [
  root('root-without-type', 'the root has a type', { properties: { spec: object() } }),
  root('root-string', 'the root is an object', { type: 'string' }),
  root('root-preserve-without-type', 'a root that preserves unknown fields needs no type', { ...pun }),
  root('root-nullable', 'the root is not nullable', { type: 'object', nullable: true }),
  root('root-additional-properties', 'the root has no additionalProperties', { type: 'object', additionalProperties: { type: 'string' } }),
  root('root-additional-properties-true', 'not even true', { type: 'object', additionalProperties: true }),
  root('root-list-type', 'a list type at the root', { type: 'object', 'x-kubernetes-list-type': 'atomic' }),
  field('type-missing', 'a field has a type', {}),
  field('type-missing-with-properties', 'a field with properties has a type', { properties: { a: string() } }),
  field('type-missing-preserving', 'a field that preserves unknown fields needs no type', { ...pun }),
  field('type-missing-int-or-string', 'an int-or-string field needs no type', { ...ios }),
  field('type-unknown', 'a type that does not exist', { type: 'text' }),
  field('type-null', 'type null is refused', { type: 'null' }),
  field('type-list', 'several types do not decode', { type: ['string', 'null'] }),
  field('type-file', 'type file of Swagger 2 is refused', { type: 'file' }),
  field('array-without-items', 'an array has items', { type: 'array' }),
  field('items-without-type', 'items have a type', list({})),
  field('items-array', 'items is one schema', { type: 'array', items: [string(), integer()] }),
  field('items-on-string', 'items on a field that is no array', { type: 'string', items: string() }),
  field('properties-on-string', 'properties on a field that is no object', { type: 'string', properties: { a: string() } }),
  field('additional-properties-without-type', 'additionalProperties have a type', map({})),
  field('additional-properties-and-properties', 'additionalProperties and properties exclude each other', object({ a: string() }, { additionalProperties: string() })),
  field('additional-properties-true-and-properties', 'additionalProperties true with properties', object({ a: string() }, { additionalProperties: true })),
  field('additional-properties-false-and-properties', 'additionalProperties false with properties', object({ a: string() }, { additionalProperties: false })),
  field('additional-properties-false', 'additionalProperties false alone', { type: 'object', additionalProperties: false }),
  field('additional-properties-true', 'additionalProperties true alone', { type: 'object', additionalProperties: true }),
];

const forbidden = [
  field('unique-items', 'uniqueItems true is refused', list(string(), { uniqueItems: true })),
  field('unique-items-false', 'uniqueItems false is accepted', list(string(), { uniqueItems: false })),
  field('ref', '$ref is refused', { $ref: '#/definitions/x' }),
  field('ref-with-type', '$ref next to a type is refused', { type: 'string', $ref: '#/definitions/x' }),
  field('definitions', 'definitions is refused', { type: 'object', definitions: { a: string() } }),
  field('dependencies', 'dependencies is refused', object({ a: string(), b: string() }, { dependencies: { a: ['b'] } })),
  field('pattern-properties', 'patternProperties is refused', { type: 'object', patternProperties: { '^a': string() } }),
  field('additional-items', 'additionalItems is refused', list(string(), { additionalItems: true })),
  field('id', 'id is refused', string({ id: 'x' })),
  field('schema-keyword', '$schema is refused', string({ $schema: 'http://json-schema.org/schema#' })),
  field('external-docs', 'externalDocs is accepted', string({ externalDocs: { url: 'https://example.com' } })),
  field('example', 'example is accepted', string({ example: 'x' })),
  field('title', 'title and description are accepted', string({ title: 'T', description: 'D' })),
  field('bad-pattern', 'a pattern must be a regular expression', string({ pattern: '(' })),
  field('bad-pattern-lookahead', 'a pattern with a lookahead is not RE2', string({ pattern: '^(?=a)b$' })),
  field('bad-pattern-nested', 'also patterns inside of anyOf are checked', string({ anyOf: [{ pattern: '[' }] })),
  field('unknown-keyword', 'unknown keywords are dropped', string({ const: 'x', if: {}, contains: {} })),
  field('keywords-of-other-types', 'keywords of other types are accepted', string({ minimum: 1, maxItems: 3, minProperties: 1, required: ['a'] })),
  field('negative-limits', 'limits may be negative or contradict each other', string({ minLength: -1, maxLength: -2 })),
  field('enum-of-wrong-type', 'enum values need not have the type', string({ enum: ['a', 1, null] })),
  field('enum-empty', 'an empty enum', string({ enum: [] })),
  field('required-unknown', 'required may name fields that do not exist', object({ a: string() }, { required: ['b', 'b'] })),
  field('exclusive-as-number', 'exclusiveMinimum is a boolean', integer({ exclusiveMinimum: 3 })),
  field('multiple-of-zero', 'multipleOf may be zero', number({ multipleOf: 0 })),
  field('preserve-false', 'x-kubernetes-preserve-unknown-fields is never false', object({ a: string() }, { 'x-kubernetes-preserve-unknown-fields': false })),
  field('preserve-on-string', 'x-kubernetes-preserve-unknown-fields on a string', string({ ...pun })),
  field('nullable-field', 'a nullable field', string({ nullable: true })),
];

const junctors = ['allOf', 'anyOf', 'oneOf'].flatMap((j) => [
  field(`${j.toLowerCase()}-type`, `no type inside of ${j}`, { type: 'string', [j]: [{ type: 'string' }] }),
  field(`${j.toLowerCase()}-good`, `value validations inside of ${j}`, object({ a: string(), b: integer() }, { [j]: [{ required: ['a'] }, { properties: { b: { minimum: 3 } } }] })),
  field(`${j.toLowerCase()}-unknown-property`, `properties inside of ${j} need not stand outside, below the root`, object({ a: string() }, { [j]: [{ properties: { zz: { minLength: 1 } } }] })),
]).concat(['allOf', 'anyOf', 'oneOf'].map((j) =>
  root(`${j.toLowerCase()}-unknown-property-at-root`, `what ${j} at the root mentions must also stand outside`, object({ spec: object({ a: string() }) }, { [j]: [{ properties: { spec: { properties: { zz: { minLength: 1 } } } } }, { properties: { yy: { minimum: 1 } } }] })))).concat([
  root('not-unknown-property-at-root', 'what not at the root mentions must also stand outside', object({ spec: object({ l: list(object({ a: string() })) }) }, { not: { properties: { spec: { properties: { l: { items: { properties: { b: { minLength: 1 } } } } } } } } })),
  root('any-of-items-at-root', 'items mentioned at the root must also stand outside', object({ spec: object() }, { anyOf: [{ properties: { spec: { items: { minimum: 1 } } } }] })),
  field('not-type', 'no type inside of not', { type: 'string', not: { type: 'string' } }),
  field('not-good', 'value validations inside of not', object({ a: string(), b: integer() }, { not: { required: ['a', 'b'] } })),
  field('nested-items-without-outer', 'items inside of allOf need not stand outside, below the root', { type: 'object', allOf: [{ items: { minLength: 1 } }] }),
  field('nested-unknown-deep', 'deep properties inside of anyOf need not stand outside, below the root', object({ a: object({ b: string() }) }, { anyOf: [{ properties: { a: { properties: { c: { minLength: 1 } } } } }] })),
  field('nested-description', 'no description inside of allOf', string({ allOf: [{ description: 'd' }] })),
  field('nested-title', 'no title inside of allOf', string({ allOf: [{ title: 't' }] })),
  field('nested-default', 'no default inside of allOf', string({ allOf: [{ default: 'd' }] })),
  field('nested-nullable', 'no nullable inside of allOf', string({ allOf: [{ nullable: true }] })),
  field('nested-additional-properties', 'no additionalProperties inside of allOf', map(string(), { allOf: [{ additionalProperties: { minLength: 1 } }] })),
  field('nested-preserve', 'no x-kubernetes-preserve-unknown-fields inside of allOf', anything({ allOf: [{ ...pun }] })),
  field('nested-embedded', 'no x-kubernetes-embedded-resource inside of allOf', anything({ ...embedded, allOf: [{ ...embedded }] })),
  field('nested-int-or-string', 'no x-kubernetes-int-or-string inside of anyOf', { ...ios, anyOf: [{ ...ios }] }),
  field('nested-list-type', 'no x-kubernetes-list-type inside of allOf', set(string(), { allOf: [{ 'x-kubernetes-list-type': 'set' }] })),
  field('nested-list-map-keys', 'no x-kubernetes-list-map-keys inside of allOf', keyed(['a'], object({ a: string() }, { required: ['a'] }), { allOf: [{ 'x-kubernetes-list-map-keys': ['a'] }] })),
  field('nested-map-type', 'no x-kubernetes-map-type inside of allOf', object({ a: string() }, { allOf: [{ 'x-kubernetes-map-type': 'atomic' }] })),
  field('nested-validations', 'no x-kubernetes-validations inside of allOf', string({ allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] })),
  root('nested-metadata', 'no metadata inside of junctors', object({ metadata: object() }, { anyOf: [{ properties: { metadata: { required: ['name'] } } }] })),
]);

const intOrString = [
  field('int-or-string-any-of', 'int-or-string with the usual anyOf', { ...ios, anyOf: [{ type: 'integer' }, { type: 'string' }] }),
  field('int-or-string-any-of-swapped', 'int-or-string with anyOf the other way round', { ...ios, anyOf: [{ type: 'string' }, { type: 'integer' }] }),
  field('int-or-string-all-of', 'int-or-string with anyOf inside of allOf, and more', { ...ios, allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }] }),
  field('int-or-string-second-all-of', 'anyOf only in the first allOf', { ...ios, allOf: [{ pattern: '^a' }, { anyOf: [{ type: 'integer' }, { type: 'string' }] }] }),
  field('int-or-string-with-type', 'int-or-string with a type', { ...ios, type: 'string' }),
  field('int-or-string-with-preserve', 'int-or-string excludes preserving unknown fields', { ...ios, ...pun }),
  field('int-or-string-with-embedded', 'int-or-string excludes embedded resources', { ...ios, ...embedded, type: 'object', ...pun }),
  field('any-of-types-without-int-or-string', 'types in anyOf are accepted without int-or-string too, if exactly those', { type: 'string', anyOf: [{ type: 'integer' }, { type: 'string' }] }),
];

const meta = [
  root('metadata-name-pattern', 'metadata may restrict the name', object({ metadata: object({ name: string({ pattern: '^a', maxLength: 10 }) }) })),
  root('metadata-generate-name', 'metadata may restrict name and generateName', object({ metadata: object({ name: string({ maxLength: 10 }), generateName: string({ maxLength: 5 }) }) })),
  root('metadata-labels', 'metadata may not restrict labels', object({ metadata: object({ labels: map(string()) }) })),
  root('metadata-name-and-labels', 'metadata may not restrict labels next to the name', object({ metadata: object({ name: string(), labels: map(string()) }) })),
  root('metadata-type-string', 'metadata is an object', object({ metadata: string() })),
  root('metadata-preserve', 'metadata may not preserve unknown fields', object({ metadata: anything() })),
  root('metadata-required', 'metadata may not have required', object({ metadata: object(undefined, { required: ['name'] }) })),
  root('metadata-min-properties', 'metadata may not count properties', object({ metadata: object(undefined, { minProperties: 1 }) })),
  root('metadata-description', 'metadata may not have a description', object({ metadata: object(undefined, { description: 'x' }) })),
  root('metadata-default', 'metadata has no default', object({ metadata: object({ name: string({ default: 'x' }) }) })),
  root('metadata-rules', 'metadata has no rules', object({ metadata: object({ name: string() }, { 'x-kubernetes-validations': [{ rule: 'true' }] }) })),
  root('metadata-name-rules', 'metadata.name may have rules', object({ metadata: object({ name: string({ 'x-kubernetes-validations': [{ rule: 'self.startsWith("a")' }] }) }) })),
  root('kind-not-string', 'kind is a string', object({ kind: integer() })),
  root('api-version-not-string', 'apiVersion is a string', object({ apiVersion: object() })),
  root('kind-enum', 'kind may have an enum', object({ kind: string({ enum: ['Widget'] }), apiVersion: string() })),
  root('kind-default', 'kind has no default', object({ kind: string({ default: 'Widget' }) })),
];

const embeddedResources = [
  field('embedded-no-properties', 'an embedded resource has properties or preserves unknown fields', { type: 'object', ...embedded }),
  field('embedded-no-type', 'an embedded resource has type object', { ...embedded, ...pun }),
  field('embedded-string', 'an embedded resource is an object', string({ ...embedded, ...pun })),
  field('embedded-good', 'an embedded resource that preserves unknown fields', anything({ ...embedded })),
  field('embedded-properties', 'an embedded resource with properties', object({ apiVersion: string(), kind: string(), metadata: object(), spec: object({ a: string() }) }, { ...embedded })),
  field('embedded-additional-properties', 'an embedded resource has no additionalProperties', map(string(), { ...embedded, ...pun })),
  field('embedded-metadata-labels', 'metadata of an embedded resource may be restricted', anything({ ...embedded, properties: { metadata: object({ labels: map(string({ maxLength: 3 })) }) } })),
  field('embedded-metadata-string', 'metadata of an embedded resource is an object', anything({ ...embedded, properties: { metadata: string() } })),
  field('embedded-kind-integer', 'kind of an embedded resource is a string', anything({ ...embedded, properties: { kind: integer() } })),
  field('embedded-default-metadata', 'metadata of an embedded resource may have defaults', anything({ ...embedded, properties: { metadata: object({ name: string({ default: 'a-name' }) }) } })),
  field('embedded-default-bad-metadata', 'such a default must be valid metadata', anything({ ...embedded, properties: { metadata: object({ name: string({ default: 'a/b' }) }) } })),
  field('embedded-default-label-map', 'no defaults inside of additionalProperties of metadata', anything({ ...embedded, properties: { metadata: object({ labels: map(string({ default: 'x' })) }) } })),
  root('embedded-inside-metadata', 'no embedded resources inside of metadata', object({ metadata: object({ name: object(undefined, { ...embedded, ...pun }) }) })),
  root('embedded-root', 'the root may be marked as embedded resource', anything({ ...embedded })),
];

const lists = [
  field('list-type-unknown', 'three list types', list(string(), { 'x-kubernetes-list-type': 'bag' })),
  field('list-type-on-object', 'list types are for arrays', { type: 'object', 'x-kubernetes-list-type': 'set' }),
  field('list-type-without-type', 'list types need type array', { ...pun, 'x-kubernetes-list-type': 'set', items: string() }),
  field('set-of-objects', 'items of a set are atomic', set(object({ a: string() }))),
  field('set-of-atomic-objects', 'a set of atomic objects', set(object({ a: string() }, { 'x-kubernetes-map-type': 'atomic' }))),
  field('set-of-lists', 'a set of lists', set(list(string()))),
  field('set-of-sets', 'a set of sets is refused', set(set(string()))),
  field('set-of-nullable', 'items of a set are not nullable', set(string({ nullable: true }))),
  field('map-without-keys', 'a keyed list has keys', list(object({ a: string() }), { 'x-kubernetes-list-type': 'map' })),
  field('keys-without-list-type', 'keys need list type map', list(object({ a: string() }), { 'x-kubernetes-list-map-keys': ['a'] })),
  field('keys-with-set', 'keys need list type map, not set', list(string(), { 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'] })),
  field('map-of-strings', 'items of a keyed list are objects', keyed(['a'], string())),
  field('map-unknown-key', 'keys are properties of the items', keyed(['zz'], object({ a: string() }))),
  field('map-repeated-key', 'keys are unique', keyed(['a', 'a'], object({ a: string() }, { required: ['a'] }))),
  field('map-key-object', 'keys are scalars', keyed(['a'], object({ a: object() }, { required: ['a'] }))),
  field('map-key-optional', 'keys are required or have a default', keyed(['a'], object({ a: string() }))),
  field('map-key-default', 'a key with a default', keyed(['a', 'b'], object({ a: string(), b: string({ default: 'x' }) }, { required: ['a'] }))),
  field('map-key-nullable', 'keys are not nullable', keyed(['a'], object({ a: string({ nullable: true }) }, { required: ['a'] }))),
  field('map-items-nullable', 'items of a keyed list are not nullable', keyed(['a'], object({ a: string() }, { required: ['a'], nullable: true }))),
  field('map-key-int-or-string', 'a key may be int-or-string', keyed(['a'], object({ a: { ...ios } }, { required: ['a'] }))),
  field('map-of-preserving-objects', 'a keyed list of objects that preserve unknown fields', keyed(['a'], anything())),
  field('map-type-unknown', 'two map types', object({ a: string() }, { 'x-kubernetes-map-type': 'loose' })),
  field('map-type-on-array', 'map types are for objects', list(string(), { 'x-kubernetes-map-type': 'atomic' })),
  field('map-type-without-type', 'map types need type object', { ...pun, 'x-kubernetes-map-type': 'granular' }),
];

const defaults = [
  field('default-wrong-type', 'a default has the type of its field', string({ default: 5 })),
  field('default-against-pattern', 'a default is valid', string({ default: 'abc', pattern: '^x' })),
  field('default-not-in-enum', 'a default is in the enum', string({ default: 'c', enum: ['a', 'b'] })),
  field('default-unknown-field', 'a default has no unknown fields', object({ a: string() }, { default: { a: 'x', b: 'y' } })),
  field('default-unknown-field-preserved', 'unless they are preserved', anything({ default: { b: 'y' } })),
  field('default-missing-required', 'a default has the required fields', object({ a: string() }, { required: ['a'], default: {} })),
  field('default-required-defaulted', 'a default does not get the defaults inside', object({ a: string({ default: 'x' }) }, { required: ['a'], default: {} })),
  field('default-null', 'a null default of a field that is not nullable', string({ default: null })),
  field('default-null-nullable', 'a null default of a nullable field', string({ default: null, nullable: true })),
  field('default-in-items', 'defaults inside of items', list(object({ a: string({ default: 'x' }) }))),
  field('default-of-items', 'a default of items', list(string({ default: 'x' }))),
  field('default-in-additional-properties', 'defaults inside of additionalProperties', map(object({ a: string({ default: 'x' }) }))),
  field('default-of-additional-properties', 'a default of additionalProperties', map(string({ default: 'x' }))),
  field('default-list', 'a default of a list', list(integer(), { default: [1, 2] })),
  field('default-list-wrong-item', 'a default with a bad item', list(integer(), { default: [1, 'x'] })),
  field('default-set-repeated', 'a default of a set may repeat items', set(integer(), { default: [1, 1] })),
  field('default-against-rule', 'a default satisfies the rules', integer({ default: 5, 'x-kubernetes-validations': [{ rule: 'self > 10', message: 'too small' }] })),
  field('default-number-for-integer', 'a fraction is no integer', integer({ default: 1.5 })),
  field('default-whole-number-for-integer', 'a whole number with a fraction part', integer({ default: 2.0 })),
  field('default-embedded', 'a default of an embedded resource needs kind and apiVersion', anything({ ...embedded, default: { metadata: { name: 'a' } } })),
  root('default-of-root', 'a default at the root', { type: 'object', default: { spec: {} }, properties: { spec: object() } }),
];

const several = [
  tryCrd('crd-structural-two-versions-paths', { section, about: 'with several different schemas the path names the version' },
    crd({ versions: [version('v1', { spec: object({ f: {} }) }), version('v2', { spec: object({ f: { type: 'text' } }), storage: false })] }), { pick: causesOrSchema }),
  tryCrd('crd-structural-two-versions-same', { section, about: 'with equal schemas the path is spec.validation' },
    crd({ versions: [version('v1', { spec: object({ f: {} }) }), version('v2', { spec: object({ f: {} }), storage: false })] }), { pick: causesOrSchema }),
  tryCrd('crd-structural-many-errors', { section, about: 'structural errors come sorted, and stop the check of defaults and rules' },
    crd({ spec: object({ a: {}, b: { type: 'array' }, c: string({ default: 5 }), d: string({ 'x-kubernetes-validations': [{ rule: 'nonsense' }] }) }) }), { pick: causesOrSchema }),
];

export default [...types, ...forbidden, ...junctors, ...intOrString, ...meta, ...embeddedResources, ...lists, ...defaults, ...several];
