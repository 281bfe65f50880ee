// Custom resources where validation, defaulting and publishing meet: embedded metadata in defaults, replicas beyond 32 bits, versions in
// validation, lists by keys in another order, selectable fields in OpenAPI.
import { GET, POST, PUT, PATCH, POLL, SLEEP } from '../steps.ts';
import { GROUP, at, anything, crd, crdPath, integer, list, object, settled, string, version, widget, withCrd } from './kit/crd.mjs';

const section = 'crd edges';
const embedded = (more) => ({ type: 'object', 'x-kubernetes-embedded-resource': true, ...more });
const whole = { apiVersion: 'foos/v1', kind: 'Foo', metadata: { name: 'Bar', unknown: 'unknown' } };
const named = { apiVersion: string({ default: 'foos/v1' }), kind: string({ default: 'Foo' }) };
const byField = { ...named, metadata: object({ name: string({ default: 'Bar' }), unknown: string({ default: 'unknown' }) }) };
const byMetadata = { ...named, metadata: { type: 'object', default: { name: 'Bar', unknown: 'unknown' } } };
const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
const metadataSchema = object({
  fields: embedded({ properties: byField }), fullMetadata: embedded({ properties: byMetadata }), fullObject: embedded({ properties: { foo: string() }, default: whole }),
  spanning: object({ embedded: embedded({ properties: { foo: string() } }) }, { default: { embedded: whole } }),
  keptFields: embedded({ ...keeps, properties: byField }), keptMetadata: embedded({ ...keeps, properties: byMetadata }), keptObject: embedded({ ...keeps, default: whole }),
  keptSpanning: object({ embedded: embedded(keeps) }, { default: { embedded: whole } }),
});
const spec = (b) => b?.spec ?? b;
const defaults = [
  withCrd('crd-edges-default-embedded-metadata', { section, about: 'defaults of embedded objects hold only what metadata can hold' }, crd({ spec: metadataSchema }), [
    POST(at(), widget('w', { spec: { fields: { metadata: {} }, fullMetadata: {}, keptFields: { metadata: {} }, keptMetadata: {} } }), { pick: spec }), GET(at('w'), { pick: spec }),
  ]),
];

const scale = { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } };
const replicas = (value) => `{"apiVersion":"${GROUP}/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"replicas":${value}}}`;
const scales = [
  withCrd('crd-edges-replicas-beyond-32-bits', { section, about: 'replicas that a scale cannot hold' }, crd({ spec: object({ replicas: integer() }), status: anything(), subresources: scale }), [
    ...['2147483648', '9223372036854775807', '-1'].map((value) => POST(at(), replicas(value), { type: 'application/json' })),
    POST(at(), replicas('2147483647'), { type: 'application/json', pick: spec }), PATCH(at('w'), 'merge', '{"spec":{"replicas":9223372036854775807}}'), PATCH(at('w/status'), 'merge', '{"status":{"replicas":9223372036854775807}}'),
  ]),
];

// The version of the path is what is checked, and nothing is ratcheted of it.
const two = (schema) => [version('v1', { schema, storage: false }), version('v2', { schema })];
const onlyV1 = (more = {}) => object({ apiVersion: string({ pattern: '/v1$' }), ...more }, { required: ['apiVersion'] });
const handlers = [
  withCrd('crd-edges-version-of-the-path-pruned', { section, about: 'the version of the path is validated, also by a patch that changes nothing' }, crd({ versions: two(anything()) }), [
    POST(at(), widget('w', { content: 'x' }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [0, 1].map((n) => ({ op: 'replace', path: `/spec/versions/${n}/schema/openAPIV3Schema`, value: onlyV1() })), { compare: 'status' }), ...settled(),
    PATCH(at('w'), 'merge', { i: 0 }, { compare: 'status' }), PATCH(at('w', { v: 'v2' }), 'merge', { i: 0 }), PATCH(at('w', { v: 'v2' }), 'merge', { i: 1 }), PATCH(at('w', { v: 'v2' }), 'merge', {}),
    GET(at('w', { v: 'v2' }), { id: 'w', compare: 'status' }), PUT(at('w', { v: 'v2' }), widget('w', {}, { v: 'v2', metadata: { resourceVersion: '${w.metadata.resourceVersion}' } })),
  ]),
  withCrd('crd-edges-version-of-the-path-kept', { section, about: 'the version of the path is validated when something changes' }, crd({ versions: two(anything()) }), [
    POST(at(), widget('w', { i: 5 }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [0, 1].map((n) => ({ op: 'replace', path: `/spec/versions/${n}/schema/openAPIV3Schema`, value: onlyV1({ i: integer() }) })), { compare: 'status' }), ...settled(),
    PATCH(at('w'), 'merge', { i: 0 }, { compare: 'status' }), PATCH(at('w', { v: 'v2' }), 'merge', { i: 0 }), PATCH(at('w', { v: 'v2' }), 'merge', { i: 1 }),
  ]),
];

// Selectable fields are published with the resource.
/** Of this definition: others are published by scenarios that run beside it. */
const published = (b) => Object.values(b?.definitions ?? {}).map((d) => d['x-kubernetes-selectable-fields']).filter((f) => f && JSON.stringify(f).includes('spec.hue'));
const selectable = [
  withCrd('crd-edges-selectable-fields-openapi', { section, about: 'selectable fields in OpenAPI v2 and v3' }, crd({ spec: object({ hue: string(), size: integer() }), selectableFields: [{ jsonPath: '.spec.hue' }, { jsonPath: '.spec.size' }] }), [
    POLL(`/openapi/v3/apis/${GROUP}/v1`, (b, s) => s === 200 && Object.keys(b?.components?.schemas ?? {}).some((k) => /Widget$/.test(k)), { ms: 20000, pick: (b) => Object.entries(b?.components?.schemas ?? {}).filter(([k]) => /Widget$/.test(k)).map(([, v]) => v['x-kubernetes-selectable-fields']) }),
    POLL('/openapi/v2', (b) => published(b).length > 0, { ms: 20000, pick: published }),
  ]),
];

// Lists by keys: an item that is invalid already stays so in another place.
const items = (more) => object({ list: list(object({ name: string(), value: string(more) }, { required: ['name'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }), other: string() });
const few = { maxItems: 2 };
const bounded = (more) => object({ list: list(object({ name: string(), value: string() }, { required: ['name'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], ...more }), plain: list(string(), more), other: string() });
const ratcheted = [
  withCrd('crd-edges-ratcheting-reordered-map-list-whole', { section, about: 'a list by keys that is too long stays so in another order, any other list does not' }, crd({ spec: bounded({}) }), [
    POST(at(), widget('w', { spec: { list: ['a', 'b', 'c'].map((name) => ({ name })), plain: ['a', 'b', 'c'] } }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec', value: bounded(few) }], { compare: 'status' }), ...settled(),
    PATCH(at('w'), 'merge', { spec: { other: 'x' } }, { pick: spec }),
    PATCH(at('w'), 'merge', { spec: { list: ['c', 'a', 'b'].map((name) => ({ name })) } }, { pick: spec }),
    PATCH(at('w'), 'merge', { spec: { plain: ['c', 'a', 'b'] } }),
    PATCH(at('w'), 'merge', { spec: { list: ['c', 'a', 'd'].map((name) => ({ name })) } }),
    PATCH(at('w'), 'merge', { spec: { list: ['c', 'a', 'b'].map((name) => ({ name, value: 'x' })) } }),
  ]),
  withCrd('crd-edges-ratcheting-reordered-map-list', { section, about: 'items of a list by keys are found again in another order' }, crd({ spec: items({}) }), [
    POST(at(), widget('w', { spec: { list: [{ name: 'a', value: 'too long' }, { name: 'b', value: 'also too long' }, { name: 'c', value: 'x' }] } }), { compare: 'status' }),
    PATCH(crdPath(), 'json-patch', [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec', value: items({ maxLength: 3 }) }], { compare: 'status' }), ...settled(),
    PATCH(at('w'), 'merge', { spec: { list: [{ name: 'b', value: 'also too long' }, { name: 'a', value: 'too long' }, { name: 'c', value: 'x' }] } }, { pick: spec }),
    PATCH(at('w'), 'merge', { spec: { list: [{ name: 'b', value: 'also too long' }, { name: 'd', value: 'y' }, { name: 'a', value: 'too long' }] } }, { pick: spec }),
    PATCH(at('w'), 'merge', { spec: { list: [{ name: 'b', value: 'changed too' }, { name: 'a', value: 'too long' }] } }),
    PATCH(at('w'), 'merge', { spec: { list: [{ name: 'e', value: 'new and long' }, { name: 'a', value: 'too long' }] } }),
  ]),
];

export default [...defaults, ...scales, ...handlers, ...selectable, ...ratcheted];
