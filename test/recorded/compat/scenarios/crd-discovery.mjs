// How the group of a definition shows in discovery, aggregated discovery and OpenAPI.
import { GET, POST, PATCH, DELETE, POLL } from '../steps.ts';
import { GROUP, crd, crdPath, at, widget, version, object, string, integer, number, boolean, list, map, anything, withCrd, rules } from './kit/crd.mjs';

const section = '9.1';
const spec = object({ a: string({ maxLength: 5 }) });
const group = `/apis/${GROUP}`;
const on = (id, about, definition, steps) => withCrd(`crd-discovery-${id}`, { section, about }, definition, steps);
const found = (b, s) => s === 200;
/** Names made from the group are not renamed by the tool, and the storage version hash depends on them. */
const plain = (b) => JSON.parse(JSON.stringify(b ?? null).replace(/oracle-[0-9a-f]{10}/g, '$ns').replace(/Oracle[0-9a-fA-F]{10}(?=ExampleCom)/g, 'Ns').replace(/"storageVersionHash":"[^"]{12}"/g, '"storageVersionHash":"<hash>"'));
const ours = (b) => b?.groups?.filter((g) => g.name === '$ns.example.com');
const sub = { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } };
const v2 = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };
const mine = (b) => b?.items?.filter((i) => i.metadata.name === '$ns.example.com').map(({ metadata, ...g }) => ({ name: metadata.name, ...g }));
/** Aggregated discovery and /apis hold the groups of other scenarios too: wait by the group's own document. */
const inGroup = (...versions) => POLL(group, (b, s) => s === 200 && versions.every((v) => b.versions.some((x) => x.version === v)) && b.versions.length === versions.length, { compare: 'status' });

const discovery = [
  on('resources', 'the resources of a version', crd({ spec, names: { shortNames: ['wi', 'wd'], categories: ['all', 'mine'], singular: 'gizmo' } }), [POLL(`${group}/v1`, found, { pick: plain })]),
  on('subresources', 'subresources in discovery', crd({ spec, subresources: sub }), [POLL(`${group}/v1`, found, { pick: plain })]),
  on('cluster-scope', 'a cluster-scoped resource in discovery', crd({ spec, scope: 'Cluster' }), [POLL(`${group}/v1`, found, { pick: plain })]),
  on('group', 'the group document', crd({ spec }), [inGroup('v1'), GET(group)]),
  on('two-resources', 'two definitions in one group', [crd({ spec }), crd({ spec, plural: 'gadgets', kind: 'Gadget' })], [POLL(`${group}/v1`, (b) => b?.resources?.length === 2, { pick: (b) => [...b.resources].map((r) => r.name).sort() })]),
  on('version-order', 'the order of versions', crd({ versions: ['v1', 'v2', 'v10', 'v1beta1', 'v1beta2', 'v2alpha1', 'foo10', 'foo1', 'v11alpha2', 'v3beta1'].map((v, i) => version(v, { spec, storage: i === 0 })) }), [
    POLL(group, (b) => b?.versions?.length === 10, { pick: (b) => ({ versions: b.versions.map((v) => v.version), preferred: b.preferredVersion }) }),
  ]),
  on('unserved-version', 'a version that is not served is not in discovery', crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false, served: false })] }), [inGroup('v1'), GET(group), GET(`${group}/v2`)]),
  on('storage-version-hash', 'the storage version hash is that of the storage version', crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false })] }), [
    inGroup('v1', 'v2'), ...['v1', 'v2'].map((v) => GET(`${group}/${v}`, { pick: (b) => b.resources.map((r) => [r.name, typeof r.storageVersionHash, r.version ?? null]) })),
  ]),
  on('updated', 'discovery follows the definition', crd({ spec }), [
    PATCH(crdPath(), 'merge', { spec: { names: { shortNames: ['zz'] } } }, { compare: 'status' }), POLL(`${group}/v1`, (b) => b?.resources?.[0]?.shortNames?.length === 1, { pick: (b) => plain(b.resources[0]) }),
  ]),
  on('removed', 'discovery forgets a deleted definition', crd({ spec }), [
    inGroup('v1'), DELETE(crdPath(), undefined, { compare: 'status' }), POLL(`${group}/v1`, (b, s) => s === 404, { ms: 100000 }), POLL(group, (b, s) => s === 404),
  ]),
  on('terminating', 'while a definition is being deleted, discovery offers no verbs that write', crd({ spec }), [
    POST(at(), widget('w', {}, { metadata: { finalizers: ['example.com/hold'] } }), { compare: 'status' }), DELETE(crdPath(), undefined, { compare: 'status' }),
    POLL(`${group}/v1`, (b) => !b?.resources?.[0]?.verbs?.includes('create'), { pick: (b) => b?.resources?.map((r) => [r.name, r.verbs]) ?? b }), PATCH(at('w'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }),
  ]),
  on('aggregated', 'the group in aggregated discovery', crd({ spec, names: { shortNames: ['wi'], categories: ['all'] }, subresources: sub }), [
    inGroup('v1'), POLL('/apis', (b) => b?.items?.some((i) => i.metadata.name.startsWith('oracle-')), { headers: v2, compare: 'status' }),
    { kind: 'sleep', ms: 2500 }, GET('/apis', { headers: v2, pick: mine }),
  ]),
  on('aggregated-two-versions', 'versions in aggregated discovery', crd({ versions: [version('v1', { spec }), version('v2', { spec, storage: false }), version('v1beta1', { spec, storage: false, deprecated: true })] }), [
    inGroup('v1', 'v2', 'v1beta1'), { kind: 'sleep', ms: 2500 }, GET('/apis', { headers: v2, pick: (b) => mine(b)?.map((g) => g.versions.map((v) => [v.version, v.freshness, v.resources.map((r) => r.resource)])) }),
  ]),
  on('in-groups', 'the group in the list of groups', crd({ spec }), [inGroup('v1'), { kind: 'sleep', ms: 2500 }, GET('/apis', { pick: ours })]),
];

// OpenAPI v3: the paths and the shape of the schemas, without prose.
const openapi = `/openapi/v3/apis/${GROUP}/v1`;
const noProse = (v, key) => (Array.isArray(v) ? v.map((x) => noProse(x)) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).filter(([k, x]) => !(k === 'description' && typeof x === 'string' && key !== 'properties')).map(([k, x]) => [k, noProse(x, k)])) : v);
const schemas = (b) => Object.fromEntries(Object.entries(b?.components?.schemas ?? { none: b }).filter(([k]) => !k.startsWith('io.k8s.')).map(([k, v]) => [k, noProse(v)]));
const published = (b, s) => s === 200 && Object.keys(b?.components?.schemas ?? {}).some((k) => /Widget$/.test(k));
const oa = (id, about, definition, pick) => on(`openapi-${id}`, about, definition, [POLL(openapi, published, { pick: (b) => plain(pick(b)), ms: 20000 })]);
const every = object({
  s: string({ minLength: 1, maxLength: 5, pattern: '^a', enum: ['a', 'ab'], default: 'a', format: 'password' }), i: integer({ minimum: 1, maximum: 9, exclusiveMinimum: true, multipleOf: 2, format: 'int64' }), f: number({ format: 'double' }), b: boolean(),
  l: list(string(), { minItems: 1, maxItems: 3, 'x-kubernetes-list-type': 'set' }), k: list(object({ name: string() }, { required: ['name'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  m: map(integer(), { 'x-kubernetes-map-type': 'granular', maxProperties: 3 }), any: anything(), ios: { 'x-kubernetes-int-or-string': true }, emb: anything({ 'x-kubernetes-embedded-resource': true }), nul: string({ nullable: true }),
  j: string({ oneOf: [{ maxLength: 1 }, { minLength: 3 }], not: { pattern: 'x' } }), r: string(rules({ rule: 'self == "a"', message: 'm', reason: 'FieldValueForbidden' })), t: string({ title: 'T' }), d: object({}, { default: {} }), free: { 'x-kubernetes-preserve-unknown-fields': true },
}, { required: ['s'] });
const openApi = [
  oa('paths', 'the paths of a namespaced resource', crd({ spec, subresources: sub }), (b) => Object.fromEntries(Object.entries(b?.paths ?? {}).map(([p, v]) => [p, Object.keys(v).sort()]))),
  oa('paths-cluster', 'the paths of a cluster-scoped resource', crd({ spec, scope: 'Cluster' }), (b) => Object.fromEntries(Object.entries(b?.paths ?? {}).map(([p, v]) => [p, Object.keys(v).sort()]))),
  oa('operations', 'operation ids, actions and media types of one path', crd({ spec }), (b) => { const p = Object.entries(b?.paths ?? {}).find(([k]) => k.endsWith('/widgets/{name}'))?.[1] ?? {}; return Object.fromEntries(Object.entries(p).map(([m, op]) => [m, op.operationId ? [op.operationId, op['x-kubernetes-action'], op['x-kubernetes-group-version-kind'], Object.keys(op.requestBody?.content ?? {}).sort(), Object.keys(op.responses ?? {}).sort(), Object.keys(op.responses?.['200']?.content ?? {}).sort()] : op.map?.((q) => [q.name, q.in])])); }),
  oa('schema-names', 'the names of the schemas', crd({ spec, subresources: sub }), (b) => Object.keys(plain(b)?.components?.schemas ?? {}).sort()),
  oa('schema', 'the schema of a kind and of its list', crd({ spec, names: { listKind: 'WidgetCollection' } }), schemas),
  oa('schema-every-keyword', 'every keyword of a schema as published', crd({ spec: every }), (b) => noProse(Object.entries(b?.components?.schemas ?? {}).find(([k]) => k.endsWith('.Widget'))?.[1]?.properties?.spec)),
  oa('schema-preserving-root', 'a root that preserves unknown fields', crd({ schema: anything() }), schemas),
  oa('schema-metadata', 'restrictions of metadata.name as published', crd({ schema: object({ metadata: object({ name: string({ maxLength: 5 }) }) }) }), (b) => noProse(Object.entries(b?.components?.schemas ?? {}).find(([k]) => k.endsWith('.Widget'))?.[1])),
];

export default [...discovery, ...openApi];
