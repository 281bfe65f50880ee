// Ratcheting: what was invalid before an update and did not change in it is tolerated.
import { GET, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { crd, crdPath, at, widget, object, string, integer, list, map, withCrd, settled, causeLines, rules } from './kit/crd.mjs';

const section = '4.9';
const schemaOf = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
const change = (...ops) => [PATCH(crdPath(), 'json-patch', ops, { compare: 'status' }), ...settled()];
const outcome = (b) => (b?.details?.causes ? causeLines(b) : b?.spec ? { spec: b.spec, ...(b.status ? { status: b.status } : {}) } : b);
const patch = (spec, o = {}) => PATCH(at('w'), 'merge', { spec }, { compareHeaders: ['warning'], pick: outcome, ...o });
const label = () => PATCH(at('w'), 'merge', { metadata: { labels: { touched: 'yes' } } }, { compareHeaders: ['warning'], pick: outcome });
/** Stores `before` under schema `loose`, then makes the schema `tight`, then runs the steps. */
const on = (id, about, loose, before, tight, steps, more = {}) => withCrd(`crd-ratchet-${id}`, { section, about }, crd({ spec: loose, ...more }), [
  POST(at(), widget('w', { spec: before }), { id: 'w', compare: 'status' }), ...change({ op: 'replace', path: schemaOf, value: tight }), ...steps,
]);
const s = (more) => object({ a: string(more), b: string() });
const loose = s();
/** Undeclared fields of an object are kept. */
const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
const never = rules({ rule: '!has(self.bad)', message: 'never' });
const open = (more = {}) => object({ bad: string() }, { ...keeps, ...more });
const keyed = (more = {}) => list(object({ k: string(), bad: string() }, { required: ['k'], ...keeps, ...more }), { maxItems: 3, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] });
const nothing = () => PATCH(at('w'), 'merge', {}, { compareHeaders: ['warning'], pick: outcome });
const value = (id, keyword, before, tight) => on(`value-${id}`, `${keyword}: unchanged bad values stay, new ones are refused`, object({ v: { 'x-kubernetes-preserve-unknown-fields': true }, b: string() }), { v: before }, object({ v: tight, b: string() }), [label(), patch({ b: 'new' })]);

export default [
  on('unchanged', 'an unchanged bad value is tolerated, a changed one is not', loose, { a: 'x' }, s({ minLength: 3 }), [label(), patch({ b: 'new' }), patch({ a: 'y' }), patch({ a: 'long enough' })]),
  on('create-not', 'a create is never ratcheted', loose, { a: 'x' }, s({ minLength: 3 }), [POST(at(), widget('v', { spec: { a: 'x' } }), { pick: outcome })]),
  on('put', 'a PUT is ratcheted too', loose, { a: 'x' }, s({ minLength: 3 }), [PUT(at('w'), widget('w', { spec: { a: 'x', b: 'new' } }, { metadata: { resourceVersion: '${w.metadata.resourceVersion}' } }), { pick: outcome })]),
  on('apply', 'an apply is ratcheted too', loose, { a: 'x' }, s({ minLength: 3 }), [APPLY(at('w'), 'me', widget('w', { spec: { b: 'new' } }), { pick: outcome })]),
  value('pattern', 'pattern', 'x', string({ pattern: '^a' })),
  value('enum', 'enum', 'x', string({ enum: ['a'] })),
  value('maximum', 'maximum', 9, integer({ maximum: 5 })),
  value('max-items', 'maxItems', ['a', 'b'], list(string(), { maxItems: 1 })),
  value('max-length', 'maxLength', 'long', string({ maxLength: 2 })),
  value('max-properties', 'maxProperties', { a: '1', b: '2' }, map(string(), { maxProperties: 1 })),
  value('format', 'format', 'x', string({ format: 'ipv4' })),
  value('type', 'type', 'x', integer()),
  value('all-of', 'allOf', 1, integer({ allOf: [{ minimum: 3 }] })),
  value('one-of', 'oneOf', 1, integer({ oneOf: [{ minimum: 3 }, { minimum: 5 }] })),
  value('not', 'not', 1, integer({ not: { maximum: 3 } })),
  value('required', 'required in an unchanged object', { x: '1' }, object({ x: string(), y: string() }, { required: ['y'] })),
  on('required-changed-parent', 'required in an object that changed', loose, { a: 'x' }, object({ a: string(), b: string(), c: string() }, { required: ['c'] }), [label(), patch({ b: 'new' })]),
  on('parent-changed', 'a bad field next to a changed one', object({ o: loose }), { o: { a: 'x' } }, object({ o: s({ minLength: 3 }) }), [patch({ o: { b: 'new' } }), patch({ o: { a: 'z' } })]),
  on('map-values', 'unchanged values of a map are tolerated', object({ m: map(string()) }), { m: { k: 'x', l: 'long' } }, object({ m: map(string({ minLength: 3 })) }), [patch({ m: { n: 'other' } }), patch({ m: { n: 'o' } }), patch({ m: { k: 'y' } })]),
  on('atomic-list', 'items of an atomic list are not correlated: the list is unchanged or not', object({ l: list(string()), b: string() }), { l: ['x'] }, object({ l: list(string({ minLength: 3 })), b: string() }), [patch({ b: 'new' }), patch({ l: ['x', 'long'] })]),
  on('set-list', 'items of a set are not correlated either', object({ l: list(string(), { 'x-kubernetes-list-type': 'set' }), b: string() }), { l: ['x'] }, object({ l: list(string({ minLength: 3 }), { 'x-kubernetes-list-type': 'set' }), b: string() }), [patch({ b: 'new' }), patch({ l: ['x', 'long'] })]),
  on('keyed-list', 'items of a keyed list are correlated by key', object({ l: list(object({ k: string(), v: string() }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) }), { l: [{ k: 'a', v: 'x' }] }, object({ l: list(object({ k: string(), v: string({ minLength: 3 }) }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) }), [
    patch({ l: [{ k: 'b', v: 'long' }, { k: 'a', v: 'x' }] }), patch({ l: [{ k: 'a', v: 'x' }, { k: 'b', v: 'z' }] }), patch({ l: [{ k: 'a', v: 'y' }] }),
  ]),
  on('duplicates', 'repeated items: tolerated if the old list had some', object({ l: list(string()), b: string() }), { l: ['a', 'a'] }, object({ l: list(string(), { 'x-kubernetes-list-type': 'set' }), b: string() }), [patch({ b: 'new' }), patch({ l: ['a', 'a', 'c', 'c'] }), patch({ l: ['a'] }), patch({ l: ['a', 'a'] })]),
  on('inside-all-of', 'inside of an alternative nothing is tolerated', loose, { a: 'long' }, object({ a: string(), b: string() }, { allOf: [{ properties: { a: { maxLength: 1 } } }] }), [label(), patch({ b: 'new' })]),
  on('inside-one-of', 'an alternative that matched before counts as before', object({ a: string(), n: integer() }), { a: 'A', n: 1 }, object({ a: string(), n: integer() }, { oneOf: [{ properties: { a: { enum: ['A'] } } }, { properties: { a: { enum: ['B'] } } }] }), [patch({ n: 2 }), patch({ a: 'C' })]),
  on('inside-any-of', 'none matches: the object is what it was, or it is refused', object({ a: string(), n: integer() }), { a: 'C', n: 1 }, object({ a: string(), n: integer() }, { anyOf: [{ properties: { a: { enum: ['A'] } } }, { properties: { a: { enum: ['B'] } } }] }), [label(), patch({ n: 2 })]),
  on('unknown-fields', 'fields that left the schema are pruned, not ratcheted', loose, { a: 'x', b: 'y' }, object({ a: string() }), [label()]),
  on('status', 'the status is ratcheted by itself', loose, { a: 'x' }, s({ minLength: 3 }), [PATCH(at('w/status'), 'merge', { status: { p: 'x' } }, { pick: outcome })], { status: object({ p: string() }), subresources: { status: {} } }),
  on('rule-unchanged', 'a rule that fails on an unchanged value is tolerated', object({ a: string(), b: string() }), { a: 'x' }, object({ a: string(rules({ rule: 'self.size() > 2', message: 'a is too short' })), b: string() }), [label(), patch({ b: 'new' }), patch({ a: 'y' })]),
  on('rule-on-parent', 'a rule on an object that changed is not tolerated', loose, { a: 'x' }, { ...loose, ...rules({ rule: 'self.a.size() > 2', message: 'a is too short' }) }, [label(), patch({ b: 'new' })]),
  on('rule-on-root', 'a rule at the root: any change counts, also of metadata', loose, { a: 'x' }, loose, [
    ...change({ op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations', value: [{ rule: 'self.spec.a.size() > 2', message: 'too short' }] }), label(), patch({ b: 'new' }),
  ]),
  on('rule-transition', 'a rule with oldSelf is never tolerated', loose, { a: 'x' }, s(rules({ rule: 'self == oldSelf && self.size() > 2', message: 'never' })), [label(), patch({ b: 'new' })]),
  on('rule-optional-old-self', 'a rule with optionalOldSelf is not ratcheted', loose, { a: 'x' }, s(rules({ rule: 'oldSelf.hasValue() && self.size() > 2', optionalOldSelf: true, message: 'seen' })), [label()]),
  on('rule-in-keyed-list', 'rules on items of a keyed list', object({ l: list(object({ k: string(), v: string() }, { required: ['k'] }), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) }), { l: [{ k: 'a', v: 'x' }] }, object({ l: list(object({ k: string(), v: string() }, { required: ['k'], ...rules('self.v.size() > 2') }), { maxItems: 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }) }), [patch({ l: [{ k: 'b', v: 'long' }, { k: 'a', v: 'x' }] }), patch({ l: [{ k: 'a', v: 'y' }] })]),
  on('rule-in-atomic-list', 'rules on items of an atomic list', object({ l: list(string()), b: string() }), { l: ['x'] }, object({ l: list(string(rules('self.size() > 2')), { maxItems: 5 }), b: string() }), [patch({ b: 'new' }), patch({ l: ['x', 'long'] })]),
  on('rule-undeclared-field', 'a rule on an unchanged object with a field that the schema does not declare', object({ o: open(), b: string() }), { o: { bad: 'x', y: 'z' } }, object({ o: open(never), b: string() }), [nothing(), label(), patch({ b: 'new' })]),
  on('rule-no-undeclared-field', 'a rule on an unchanged object that may have undeclared fields but has none', object({ o: open(), b: string() }), { o: { bad: 'x' } }, object({ o: open(never), b: string() }), [nothing(), label(), patch({ b: 'new' })]),
  on('rule-undeclared-below', 'a rule on an unchanged object with an undeclared field further down', object({ o: object({ bad: string(), p: open() }) }), { o: { bad: 'x', p: { y: 'z' } } }, object({ o: object({ bad: string(), p: open() }, never) }), [nothing()]),
  on('rule-undeclared-beside', 'a rule on an unchanged value beside an undeclared field', object({ o: open() }), { o: { bad: 'x', y: 'z' } }, object({ o: object({ bad: string(rules({ rule: 'false', message: 'never' })) }, keeps) }), [nothing(), patch({ o: { y: 'w' } })]),
  on('rule-undeclared-in-map', 'a rule on unchanged values of a map with undeclared fields', object({ m: map(open()) }), { m: { j: { bad: 'x', y: 'z' }, k: { bad: 'x' } } }, object({ m: map(open(never), { maxProperties: 3 }) }), [nothing()]),
  on('rule-undeclared-in-atomic-list', 'a rule on unchanged items of an atomic list with undeclared fields', object({ l: list(open()), b: string() }), { l: [{ bad: 'x', y: 'z' }] }, object({ l: list(open(never), { maxItems: 3 }), b: string() }), [nothing(), patch({ b: 'new' })]),
  on('rule-undeclared-in-keyed-list', 'a rule on unchanged items of a keyed list with undeclared fields', object({ l: keyed(), b: string() }), { l: [{ k: 'a', bad: 'x', y: 'z' }, { k: 'b', bad: 'x' }] }, object({ l: keyed(never), b: string() }), [nothing(), patch({ b: 'new' })]),
  on('rule-embedded', 'a rule on an unchanged embedded object, whose metadata is not declared', object({ o: open({ 'x-kubernetes-embedded-resource': true }) }), { o: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, bad: 'x' } }, object({ o: open({ ...never, 'x-kubernetes-embedded-resource': true }) }), [nothing()]),
  on('rule-keyed-list-reordered', 'a rule on an object with a keyed list whose items changed places', object({ o: object({ bad: string(), l: keyed() }) }), { o: { bad: 'x', l: [{ k: 'a' }, { k: 'b' }] } }, object({ o: object({ bad: string(), l: keyed() }, never) }), [patch({ o: { l: [{ k: 'b' }, { k: 'a' }] } }), patch({ o: { l: [{ k: 'b' }] } })]),
  on('defaulted', 'a default that arrived later counts as unchanged', loose, { a: 'x' }, object({ a: string(), b: string(), c: string({ default: 'dd' }) }), [...change({ op: 'replace', path: `${schemaOf}/properties/c`, value: string({ default: 'dddd', minLength: 3 }) }), label(), GET(at('w'), { pick: outcome })]),
];
