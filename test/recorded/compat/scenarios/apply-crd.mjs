// Server-side apply of custom resources: the markers of their schemas, preserved fields, defaults, status and scale.
import { scenario, GET, POST, PUT, PATCH, APPLY, POLL } from '../steps.ts';
import { WIDGETS, WIDGET_CRD, widgets, widget, withWidgets } from './kit/apply.mjs';

const object = (properties, more) => ({ type: 'object', properties, ...more });
const str = { type: 'string' }, num = { type: 'integer' };
const list = (items, more) => ({ type: 'array', items, ...more });
const root = (spec, more = {}) => object({ spec, ...more });
const keyed = (keys, item, more) => list(item, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys, ...more });
const quiet = { compare: 'status' };
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
/** Defines Widget with that schema of its spec, then runs the steps: [manager, spec, options] stands for an apply to the widget w. */
const one = (id, about, spec, steps, { section = '2.9', more, version } = {}) => scenario(`apply-crd-${id}`, withWidgets(section, about), [
  ...widgets(root(spec, more), { version }),
  ...steps.map((s) => (Array.isArray(s) ? APPLY(`${WIDGETS}/w`, s[0], widget('w', s[1] === undefined ? {} : { spec: s[1] }), s[2]) : s)),
]);
const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
const flag = { force: true };

const item = object({ name: str, value: str, nested: object({ x: str }) }, { required: ['name'] });
const lists = [
  // What an applier gives up takes with it a struct of which nothing is left but empty sets, whoever owns those.
  ...[
    ['owned-empty-set', { c: [] }, {}],
    ['owned-empty-set-and-value', { c: [], d: 'x' }, {}],
    ['owned-full-set', { c: ['x'] }, {}],
    ['owned-empty-set-kept-map', { c: [], e: {} }, {}],
    ['owned-empty-set-in-part', { c: [], f: { g: [] } }, {}],
    ['owned-empty-set-applied-value', { c: [] }, { d: 'y' }],
  ].map(([id, first, last]) =>
    one(`gives-up-beside-${id}`, 'an apply gives up a map beside what another wrote', object({ a: { type: 'object', additionalProperties: str }, c: list(str, { 'x-kubernetes-list-type': 'set' }), d: str, e: { type: 'object', additionalProperties: str }, f: object({ g: list(str, { 'x-kubernetes-list-type': 'set' }) }) }), [
      POST(WIDGETS, widget('w', { spec: first }), by('u')),
      ['m', { a: {} }, flag],
      ['m', last, flag],
      ['m', undefined, flag],
    ])),
  one('list-atomic-default', 'a list without marker is atomic', object({ list: list(str) }), [['m1', { list: ['a', 'b'] }], ['m2', { list: ['b'] }], ['m2', { list: ['b'] }, flag]]),
  one('list-atomic', 'a list marked atomic', object({ list: list(item, { 'x-kubernetes-list-type': 'atomic' }) }), [['m1', { list: [{ name: 'a' }] }], ['m2', { list: [{ name: 'a', value: 'x' }] }], ['m2', { list: [{ name: 'a' }] }]]),
  one('list-set', 'a list marked set', object({ list: list(str, { 'x-kubernetes-list-type': 'set' }) }), [['m1', { list: ['a', 'b'] }], ['m2', { list: ['b', 'c'] }], ['m1', { list: ['a'] }], ['m1', {}], ['m2', { list: ['c', 'c'] }]]),
  one('list-set-numbers', 'a set of numbers', object({ list: list(num, { 'x-kubernetes-list-type': 'set' }) }), [['m1', { list: [1, 10, 2] }], ['m2', { list: [2, 3] }], ['m1', { list: [1] }]]),
  one('list-set-booleans', 'a set of booleans and one of floating point numbers', object({ b: list({ type: 'boolean' }, { 'x-kubernetes-list-type': 'set' }), n: list({ type: 'number' }, { 'x-kubernetes-list-type': 'set' }) }), [['m', { b: [true, false], n: [1.5, 2] }]]),
  one('list-map', 'a list marked map with one key', object({ list: keyed(['name'], item) }), [['m1', { list: [{ name: 'a', value: '1' }] }], ['m2', { list: [{ name: 'a', nested: { x: 'y' } }, { name: 'b' }] }], ['m2', { list: [{ name: 'a', value: '2' }] }], ['m1', {}]]),
  one('list-map-no-key', 'an item without its key', object({ list: keyed(['name'], item) }), [['m', { list: [{ value: '1' }] }], POST(WIDGETS, widget('w', { spec: { list: [{ value: '1' }] } }))]),
  one('list-map-duplicate', 'two items with the same key', object({ list: keyed(['name'], item) }), [['m', { list: [{ name: 'a' }, { name: 'a', value: '1' }] }], POST(WIDGETS, widget('w', { spec: { list: [{ name: 'a' }, { name: 'a', value: '1' }] } }))]),
  one('list-map-two-keys', 'a list marked map with two keys, one a number', object({ list: keyed(['port', 'proto'], object({ port: num, proto: str, name: str }, { required: ['port', 'proto'] })) }), [['m1', { list: [{ port: 1, proto: 'a' }, { port: 1, proto: 'b' }] }], ['m2', { list: [{ port: 1, proto: 'b', name: 'x' }, { proto: 'a', port: 10 }] }]]),
  one('list-map-default-key', 'a key with a default may be left out', object({ list: keyed(['port', 'proto'], object({ port: num, proto: { ...str, default: 'TCP' }, name: str }, { required: ['port'] })) }), [['m1', { list: [{ port: 1 }] }], ['m2', { list: [{ port: 1, proto: 'TCP', name: 'x' }, { port: 1, proto: 'UDP' }] }], ['m1', { list: [{ port: 1 }, { port: 1, proto: 'TCP' }] }]]),
  one('list-map-boolean-key', 'a boolean key', object({ list: keyed(['on'], object({ on: { type: 'boolean' }, name: str }, { required: ['on'] })) }), [['m', { list: [{ on: true, name: 'a' }, { on: false }] }]]),
  one('list-map-nested', 'lists with keys inside lists with keys', object({ list: keyed(['name'], object({ name: str, inner: keyed(['id'], object({ id: str, v: str }, { required: ['id'] })) }, { required: ['name'] })) }), [['m1', { list: [{ name: 'a', inner: [{ id: 'x', v: '1' }] }] }], ['m2', { list: [{ name: 'a', inner: [{ id: 'y', v: '1' }] }] }], ['m2', { list: [{ name: 'a', inner: [{ id: 'x', v: '2' }] }] }], ['m1', { list: [] }]]),
  one('list-map-odd-keys', 'key values with quotes, dots, slashes and letters beyond ASCII', object({ list: keyed(['name'], item) }), [['m1', { list: [{ name: 'a"b\\c' }, { name: 'x.y/z' }, { name: 'ü<>&' }, { name: '' }] }], ['m2', { list: [{ name: 'a"b\\c', value: '1' }] }], ['m3', { list: [{ name: 'a"b\\c', value: '2' }, { name: 'ü<>&', value: '1' }] }]]),
  one('list-map-atomic-items', 'items that are atomic themselves', object({ list: keyed(['name'], { ...item, 'x-kubernetes-map-type': 'atomic' }) }), [['m1', { list: [{ name: 'a', value: '1' }] }], ['m2', { list: [{ name: 'a', value: '1', nested: { x: '1' } }] }], ['m2', { list: [{ name: 'b', value: '1' }] }]]),
];

const maps = [
  one('struct-granular', 'objects are granular by default', object({ o: object({ a: str, b: str }) }), [['m1', { o: { a: '1' } }], ['m2', { o: { b: '1' } }], ['m1', { o: {} }], ['m1', {}]]),
  one('struct-atomic', 'an object marked atomic', object({ o: object({ a: str, b: str }, { 'x-kubernetes-map-type': 'atomic' }) }), [['m1', { o: { a: '1' } }], ['m2', { o: { b: '1' } }], ['m2', { o: { b: '1' } }, flag], ['m1', {}], ['m2']]),
  one('map-granular', 'additionalProperties are granular by default', object({ o: { type: 'object', additionalProperties: str } }), [['m1', { o: { a: '1', b: '1' } }], ['m2', { o: { c: '1' } }], ['m1', { o: { a: '1' } }]]),
  one('map-atomic', 'additionalProperties marked atomic', object({ o: { type: 'object', additionalProperties: str, 'x-kubernetes-map-type': 'atomic' } }), [['m1', { o: { a: '1' } }], ['m2', { o: { c: '1' } }], ['m2', { o: { a: '1' } }]]),
  one('map-of-objects', 'additionalProperties that are objects: the key itself is owned too', object({ o: { type: 'object', additionalProperties: object({ x: str }) } }), [['m1', { o: { a: { x: '1' }, b: {} } }], ['m2', { o: { c: { x: '1' } } }], ['m1', { o: {} }]]),
  one('map-odd-keys', 'keys with colons, dots, slashes, quotes, spaces and letters beyond ASCII', object({ o: { type: 'object', additionalProperties: str } }), [['m1', { o: { 'f:x': '1', '.': '2', 'a.b/c': '3', 'q"q': '4', 'k:{}': '5', ' ': '6', ü: '7', '<&>': '8', 'back\\slash': '9' } }], ['m2', { o: { '.': 'x', 'q"q': 'y', ü: 'z' } }]]),
  one('embedded', 'an embedded resource: its metadata is owned like any field', object({ e: { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserve } }), [['m1', { e: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels: { a: 'b' } }, data: { k: 'v' } } }], ['m2', { e: { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'w' } } }]]),
  one('int-or-string', 'an int-or-string field', object({ v: { 'x-kubernetes-int-or-string': true } }), [['m1', { v: 5 }], ['m2', { v: '5' }], ['m1', { v: '50%' }]]),
  one('nullable', 'a nullable field', object({ v: { ...str, nullable: true }, w: str }), [['m', { v: null, w: 'x' }], ['m2', { v: null }], ['m', { v: 'a', w: null }]]),
];

const unknown = [
  one('preserve-root', 'a schema that preserves unknown fields: objects granular, lists atomic', { type: 'object', ...preserve }, [['m1', { a: { b: { c: 1 } }, l: [{ x: 1 }, { y: 2 }], s: 'x', n: null, e: {}, el: [] }], ['m2', { a: { b: { d: 1 } }, l: [{ x: 1 }] }], ['m2', { a: { b: { d: 1 } } }], ['m1', { a: {} }]]),
  one('preserve-with-properties', 'known fields with markers beside preserved ones', object({ list: list(str, { 'x-kubernetes-list-type': 'set' }) }, preserve), [['m1', { list: ['a'], other: { list: ['a'] } }], ['m2', { list: ['b'], other: { list: ['b'] } }], ['m2', { list: ['b'], other: { x: 1 } }]]),
  one('preserve-inside', 'all that is inside of an object with preserved fields may have others', object({ f: object({ k: object({ a: num, l: keyed(['name'], item), g: object({ b: str }) }), m: { type: 'object', additionalProperties: object({ a: num }) } }, preserve), o: object({ a: num }) }), [['m1', { f: { k: { a: 1, x: 1, l: [{ name: 'a', x: 2 }], g: { x: [1] } }, m: { k: { x: 1 } } } }], ['m2', { f: { k: { x: 2, l: [{ name: 'a', x: 3 }] } } }, { ...flag, ignore: ['metadata.generation'] }], ['m2', { f: { k: { y: [] } }, o: { x: [] } }], ['m2', { f: { k: { g: { x: [2] } } } }]]),
  one('unknown-field', 'a field that the schema does not know', object({ a: str }), [['m', { a: '1', nope: '2' }], ['m', { a: '1', nope: '2' }, { query: { fieldValidation: 'Ignore' } }], APPLY(`${WIDGETS}/w`, 'm', widget('w', { nope: 1 }))]),
  one('wrong-type', 'a value of the wrong type', object({ a: str, n: num, b: { type: 'boolean' }, o: object({ x: str }), l: list(str), f: { type: 'number' } }), [['m', { a: 1 }], ['m', { n: 'x' }], ['m', { n: 1.5 }], ['m', { b: 'true' }], ['m', { o: [] }], ['m', { l: {} }], ['m', { l: [1] }], ['m', { f: 'x' }]]),
  one('validation', 'a value that the schema rejects', object({ n: { ...num, maximum: 5 }, e: { ...str, enum: ['a', 'b'] }, r: str }, { required: ['r'] }), [['m', { n: 9, r: 'x' }], ['m', { e: 'c', r: 'x' }], ['m', { n: 1 }], ['m', { n: 1, e: 'a', r: 'x' }], ['m', { n: 1, e: 'a' }]]),
  one('defaults', 'defaulted fields belong to nobody and come back when given up', object({ a: { ...str, default: 'dflt' }, o: object({ x: { ...num, default: 3 } }, { default: {} }) }), [['m', {}], ['m', { a: 'set', o: { x: 1 } }], ['m'], ['m2', { a: 'other' }], PATCH(`${WIDGETS}/w`, 'merge', { spec: { o: { x: 7 } } }, by('u'))]),
  one('emptied', 'an applier that owned all fields of a struct and now applies it empty: the struct becomes null, here 422', object({ a: str }), [['m', { a: '1' }], ['m', {}], ['m']]),
  one('emptied-nested', 'the same below the spec: a nullable struct becomes null, one that is not is 422', object({ o: object({ a: str }, { nullable: true }), p: object({ a: str }), k: str }), [['m', { o: { a: '1' }, p: { a: '1' }, k: 'x' }], ['m', { o: {}, p: { a: '1' }, k: 'x' }], ['m', { o: {}, p: {}, k: 'x' }]]),
  one('defaults-on-post', 'defaulted fields belong to the creator by POST', object({ a: { ...str, default: 'dflt' }, b: str }), [POST(WIDGETS, widget('w', { spec: { b: '1' } }), by('u')), ['m', { a: 'mine' }]]),
  one('pruned', 'a field pruned by POST is not owned', object({ a: str }), [POST(WIDGETS, widget('w', { spec: { a: '1', nope: '2' } }), by('u', { compareHeaders: ['warning'] }))]),
  one('large-numbers', 'large integers and fractions keep their value', object({ n: { type: 'integer', format: 'int64' }, f: { type: 'number' } }), [APPLY(`${WIDGETS}/w`, 'm', `{"apiVersion":"$ns.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"n":9007199254740993,"f":0.1}}`, { text: true, pick: (t) => /"spec":(\{[^}]*\})/.exec(t)?.[1] ?? t })]),
];

const updates = [
  one('update-fields', 'fields after POST, PUT and patch', object({ a: str, m: { type: 'object', additionalProperties: str }, s: list(str, { 'x-kubernetes-list-type': 'set' }), l: keyed(['name'], item), x: list(str) }), [
    POST(WIDGETS, widget('w', { spec: { a: '1', m: { k: 'v' }, s: ['x'], l: [{ name: 'n', nested: { x: '1' } }], x: ['y'] } }), by('u', { id: 'w' })),
    PUT(`${WIDGETS}/w`, { ...widget('w', { spec: { a: '2', m: { k: 'v', l: 'w' }, s: ['x', 'y'], l: [{ name: 'n', nested: { x: '2' } }, { name: 'o' }], x: ['z'] } }), metadata: { name: 'w', resourceVersion: '${w.metadata.resourceVersion}' } }, by('v')),
    PATCH(`${WIDGETS}/w`, 'merge', { spec: { m: null, s: [] } }, by('x')),
  ]),
  one('no-change', 'the same apply again changes nothing', object({ a: str, list: list(str) }), [['m', { a: '1', list: ['x'] }], ['m', { a: '1', list: ['x'] }]]),
  one('generation', 'an apply of the spec increments the generation, one of labels does not', object({ a: str }), [['m', { a: '1' }], APPLY(`${WIDGETS}/w`, 'm', { ...widget('w', { spec: { a: '1' } }), metadata: { name: 'w', labels: { l: '1' } } }), ['m', { a: '2' }]]),
  one('metadata', 'metadata of a custom resource is typed: finalizers a set, labels granular', object({ a: str }), [
    APPLY(`${WIDGETS}/w`, 'm1', { ...widget('w'), metadata: { name: 'w', labels: { a: '1' }, annotations: { b: '1' }, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '11111111-2222-3333-4444-555555555555' }] } }),
    APPLY(`${WIDGETS}/w`, 'm2', { ...widget('w'), metadata: { name: 'w', labels: { c: '1' } } }),
    APPLY(`${WIDGETS}/w`, 'm2', { ...widget('w'), metadata: { name: 'w', nope: '1' } }), APPLY(`${WIDGETS}/w`, 'm2', { ...widget('w'), metadata: { name: 'w', labels: { c: 1 } } }),
  ]),
  one('identity', 'wrong kind, version, name, namespace; managedFields', object({ a: str }), [
    APPLY(`${WIDGETS}/w`, 'm', { ...widget('w'), kind: 'Gadget' }), APPLY(`${WIDGETS}/w`, 'm', widget('w', {}, 'v2')), APPLY(`${WIDGETS}/w`, 'm', widget('x')), APPLY(`${WIDGETS}/w`, 'm', { ...widget('w'), metadata: { name: 'w', namespace: 'x' } }), APPLY(`${WIDGETS}/w`, 'm', { ...widget('w'), metadata: { name: 'w', managedFields: [] } }), APPLY(`${WIDGETS}/w`, 'm', { apiVersion: '$ns.example.com/v1', kind: 'Widget', spec: { a: '1' } }),
  ]),
  one('dry-run', 'dryRun=All', object({ a: str }), [['m', { a: '1' }, { query: { dryRun: 'All' } }], GET(`${WIDGETS}/w`)], { section: '4.8' }),
];

const sub = { subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } } };
const statusSchema = { more: { status: object({ size: num, conditions: keyed(['type'], object({ type: str, status: str }, { required: ['type'] })) }) }, version: sub };
const status = (s) => widget('w', { status: s });
const scale = (replicas) => ({ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'w' }, spec: { replicas } });
const subresources = [
  one('status', 'the status by apply to /status', object({ size: num }), [['m', { size: 1 }], APPLY(`${WIDGETS}/w/status`, 'c', status({ size: 1, conditions: [{ type: 'A', status: 'x' }] })), APPLY(`${WIDGETS}/w/status`, 'd', status({ conditions: [{ type: 'B', status: 'x' }] })), APPLY(`${WIDGETS}/w/status`, 'c', status({ size: 1 }))], statusSchema),
  one('status-spec-ignored', 'a spec applied to /status and a status applied to the main resource are neither stored nor owned', object({ size: num }), [APPLY(`${WIDGETS}/w`, 'm', widget('w', { spec: { size: 1 }, status: { size: 5 } })), APPLY(`${WIDGETS}/w/status`, 'c', widget('w', { spec: { size: 7 }, status: { size: 2 } }))], statusSchema),
  one('status-labels', 'labels applied to /status of a custom resource are owned but not stored', object({ size: num }), [['m', { size: 1 }], APPLY(`${WIDGETS}/w/status`, 'c', { ...status({ size: 1 }), metadata: { name: 'w', labels: { l: '1' } } })], statusSchema),
  one('status-absent', 'apply to /status of an absent object is 404', object({ size: num }), [APPLY(`${WIDGETS}/w/status`, 'c', status({ size: 1 }))], statusSchema),
  one('status-without-subresource', 'without the subresource the status is a field like any other', object({ size: num }), [APPLY(`${WIDGETS}/w`, 'm', widget('w', { spec: { size: 1 }, status: { size: 2 } })), APPLY(`${WIDGETS}/w/status`, 'm', status({ size: 3 }))], { more: statusSchema.more }),
  one('status-post', 'a status in POST is dropped and not owned', object({ size: num }), [POST(WIDGETS, widget('w', { spec: { size: 1 }, status: { size: 5 } }), by('u')), PATCH(`${WIDGETS}/w/status`, 'merge', { status: { size: 3 }, spec: { size: 9 } }, by('c'))], statusSchema),
  one('scale', 'replicas of a custom resource through /scale: a conflict is 409, but what would change them is 500', object({ size: num }), [['m', { size: 1 }, quiet], GET(`${WIDGETS}/w/scale`), APPLY(`${WIDGETS}/w/scale`, 's', scale(3)), APPLY(`${WIDGETS}/w/scale`, 's', scale(3), flag), GET(`${WIDGETS}/w`), ['m', { size: 4 }]], statusSchema),
  one('scale-update', 'a PUT of the Scale of a custom resource takes the replicas over', object({ size: num }), [['m', { size: 1 }, { id: 'w', ...quiet }], PUT(`${WIDGETS}/w/scale`, { ...scale(5), metadata: { name: 'w', resourceVersion: '${w.metadata.resourceVersion}' } }, by('hpa')), GET(`${WIDGETS}/w`)], statusSchema),
  one('scale-absent-replicas', 'a custom resource without replicas has no Scale: 500', object({ size: num }), [['m', {}, quiet], GET(`${WIDGETS}/w/scale`), APPLY(`${WIDGETS}/w/scale`, 's', scale(3)), APPLY(`${WIDGETS}/w/scale`, 's', scale(3), flag), GET(`${WIDGETS}/w`)], statusSchema),
];

/** Waits until a changed schema is served: the change comes with a new field that has a default. */
const settled = (until) => POLL(`${WIDGETS}/w`, until, { compare: 'status', ms: 8000 });
const topology = [
  one('topology-to-atomic', 'a list of items that becomes atomic: every owner of an item owns the list', object({ list: keyed(['name'], item), probe: str }), [
    ['m1', { list: [{ name: 'a' }] }], ['m2', { list: [{ name: 'b' }] }],
    PATCH(WIDGET_CRD, 'json-patch', [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/list', value: list(item, { 'x-kubernetes-list-type': 'atomic' }) }, { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mark', value: { ...str, default: 'new' } }], quiet),
    settled((b) => b.spec?.mark === 'new'),
    ['m3', { list: [{ name: 'c' }] }, { pick: causes }], ['m1', { list: [{ name: 'a' }] }, { pick: causes }], ['m2', { list: [{ name: 'a' }, { name: 'b' }] }, { pick: causes }],
  ], { section: '3.2' }),
  one('topology-to-granular', 'an atomic struct that becomes granular: the struct stays owned, its fields are free', object({ o: object({ a: str, b: str }, { 'x-kubernetes-map-type': 'atomic' }) }), [
    ['m1', { o: { a: '1', b: '1' } }],
    PATCH(WIDGET_CRD, 'json-patch', [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/o', value: object({ a: str, b: str }, { 'x-kubernetes-map-type': 'granular' }) }, { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mark', value: { ...str, default: 'new' } }], quiet),
    settled((b) => b.spec?.mark === 'new'),
    ['m2', { o: { a: '2' } }], ['m1', { o: { a: '1', b: '1' } }], ['m1', { o: { b: '1' } }],
  ], { section: '3.2' }),
  one('field-removed-from-schema', 'a field that the schema loses stays in the entry until the next write of its manager', object({ a: str, b: str }), [
    ['m', { a: '1', b: '1' }],
    PATCH(WIDGET_CRD, 'json-patch', [{ op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/b' }, { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mark', value: { ...str, default: 'new' } }], quiet),
    settled((b) => b.spec?.mark === 'new'),
    GET(`${WIDGETS}/w`), ['m2', { a: '1' }], ['m', { a: '2' }, flag],
  ], { section: '3.2' }),
];
function causes(b) {
  return b.details?.causes ? { ...b, details: { ...b.details, causes: b.details.causes.slice().sort((x, y) => (x.message + x.field < y.message + y.field ? -1 : 1)) } } : b;
}

export default [...lists, ...maps, ...unknown, ...updates, ...subresources, ...topology];
