// MutatingAdmissionPolicy on custom kinds. The reference reads their schemas every five seconds, so that is waited for.
import { APPLY, PATCH, POST, SLEEP, scenario } from '../steps.ts';
import { only, quiet, rule } from './kit/admission.mjs';
import { CRDS, GROUP, anything, at, boolean, crd, integer, list, map, number, object, serve, string, version, widget } from './kit/crd.mjs';
import { binding, cleanupOf, install, policy } from './kit/mutating-policy.mjs';

const spec = only('spec');
const keyed = (keys, properties, more = {}) => list(object(properties, more), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
const schema = object({
  size: integer(), ratio: number(), host: string({ default: 'h' }), on: boolean(),
  set: list(string(), { 'x-kubernetes-list-type': 'set' }), atomic: list(string()), explicit: list(string(), { 'x-kubernetes-list-type': 'atomic' }),
  items: keyed(['name'], { name: string(), value: integer(), note: string({ default: 'n' }) }, { required: ['name'] }),
  two: keyed(['a', 'b'], { a: string(), b: integer(), v: string() }, { required: ['a', 'b'] }),
  labels: map(string()), frozen: map(string(), { 'x-kubernetes-map-type': 'atomic' }), block: object({ a: string(), b: string() }, { 'x-kubernetes-map-type': 'atomic' }),
  free: anything(), either: { 'x-kubernetes-int-or-string': true }, nullable: string({ nullable: true }), deep: object({ er: object({ x: integer() }) }),
});
const widgets = (o = {}) => rule('widgets', { groups: [GROUP], operations: ['CREATE', 'UPDATE'], ...o });
const wait = SLEEP(6500);
const custom = (id, about, mutations, steps, { definition = crd({ spec: schema }), ...settings } = {}) => {
  const objects = [policy({ rules: [widgets()], mutations, ...settings }), binding()];
  return scenario(`mutating-policy-custom-${id}`, { section: '7', about, needs: 'mutating-policies', cleanup: [...cleanupOf(objects), `${CRDS}/${definition.metadata.name}`] }, [...serve(definition), ...install(...objects), wait, ...steps]);
};
const full = { size: 1, set: ['a'], atomic: ['a'], items: [{ name: 'a', value: 1 }], two: [{ a: 'x', b: 1, v: 'v' }], labels: { a: 'b' }, free: { q: 1 } };
const post = (o = spec, body = { spec: full }) => POST(at(''), widget('w', body), o);
/** Several expressions on one definition, each its own policy for an object of its name. */
const each = (id, about, table, body = { spec: full }) => {
  const names = Object.keys(table);
  const objects = names.flatMap((name) => [
    policy({ name: `$ns-${name}`, rules: [{ ...widgets(), resourceNames: [name] }], mutations: table[name] }), binding({ name: `$ns-${name}`, policyName: `$ns-${name}` }),
  ]);
  const definition = crd({ spec: schema });
  return scenario(`mutating-policy-custom-${id}`, { section: '7', about, needs: 'mutating-policies', cleanup: [...cleanupOf(objects), `${CRDS}/${definition.metadata.name}`] }, [
    ...serve(definition), ...install(...objects), wait, ...names.map((name) => POST(at(''), widget(name, body), { ...spec, note: name })),
  ]);
};

export default [
  custom('whole', 'the whole answer', 'Object{spec: Object.spec{size: object.spec.size + 1}}', [post({}), PATCH(at('w'), 'merge', { spec: { host: 'x' } }), APPLY(at('w'), 'm', widget('w', { spec: { on: true } }))]),
  each('merges', 'what is merged', {
    scalars: 'Object{spec: Object.spec{size: 5, ratio: 1.5, host: "other", on: true}}', 'ratio-int': 'Object{spec: Object.spec{ratio: 2}}', set: 'Object{spec: Object.spec{set: ["b", "a"]}}', items: 'Object{spec: Object.spec{items: [Object.spec.items{name: "a", value: 2}, Object.spec.items{name: "b"}]}}',
    two: 'Object{spec: Object.spec{two: [Object.spec.two{a: "x", b: 1, v: "w"}, Object.spec.two{a: "x", b: 2}]}}', labels: 'Object{spec: Object.spec{labels: {"c": "d"}}}', free: 'Object{spec: Object.spec{free: Object.spec.free{r: 2, deep: Object.spec.free.deep{s: [1, 2]}}}}', 'free-map': 'Object{spec: Object.spec{free: {"r": 2}}}',
    'either-int': 'Object{spec: Object.spec{either: 1}}', 'either-text': 'Object{spec: Object.spec{either: "x"}}', deep: 'Object{spec: Object.spec{deep: Object.spec.deep{er: Object.spec.deep.er{x: 1}}}}', json: '[JSONPatch{op: "add", path: "/spec/atomic/-", value: "z"}, JSONPatch{op: "add", path: "/spec/free/z", value: Object.spec.free.z{a: [1, 2], b: dyn({"c": 1.5})}}]',
  }),
  each('faults', 'what is refused', {
    unknown: 'Object{spec: Object.spec{nothing: 1}}', root: 'Object{other: 1}', atomic: 'Object{spec: Object.spec{atomic: ["b"]}}', explicit: 'Object{spec: Object.spec{explicit: ["b"]}}', frozen: 'Object{spec: Object.spec{frozen: {"a": "b"}}}', block: 'Object{spec: Object.spec{block: Object.spec.block{a: "b"}}}',
    'type-text': 'Object{spec: Object.spec{size: "x"}}', 'type-int': 'Object{spec: Object.spec{host: 1}}', 'no-key': 'Object{spec: Object.spec{items: [Object.spec.items{value: 2}]}}', either: 'Object{spec: Object.spec{either: true}}', 'json-unknown': '[JSONPatch{op: "add", path: "/spec/nothing", value: 1}]', 'json-type': '[JSONPatch{op: "add", path: "/spec/size", value: "x"}]', null: 'Object{spec: Object.spec{nullable: null}}',
    'json-kind': '[JSONPatch{op: "replace", path: "/kind", value: "Gadget"}]', 'json-no-kind': '[JSONPatch{op: "remove", path: "/kind"}]', 'json-version': '[JSONPatch{op: "replace", path: "/apiVersion", value: "v1"}]', 'wrong-name': 'Object{spec: Object.spec{deep: Object.spec.deeper{}}}',
  }),
  custom('defaulted', 'defaults come after a mutation', '[JSONPatch{op: "remove", path: "/spec/host"}, JSONPatch{op: "add", path: "/spec/items/-", value: Object.spec.items{name: "z"}}]', [post()]),
  custom('pruned', 'what a JSON patch adds is pruned', '[JSONPatch{op: "add", path: "/spec/odd", value: 1}, JSONPatch{op: "add", path: "/other", value: 1}]', [post({})]),
  custom('invalid', 'what a policy makes is validated', 'Object{spec: Object.spec{size: 50}}', [post()], { definition: crd({ spec: object({ size: integer({ maximum: 9 }) }) }) }),
  custom('status', 'the status of a kind that has the subresource', 'Object{spec: Object.spec{size: 5}, status: Object.status{phase: "x"}}', [post(only('spec.size', 'status')), PATCH(at('w/status'), 'merge', { status: { phase: 'y' } }, only('spec.size', 'status'))], { rules: [widgets(), rule('widgets/status', { groups: [GROUP], operations: ['UPDATE'] })], definition: crd({ spec: anything(), status: anything(), subresources: { status: {} } }) }),
  custom('scale', 'the scale of a custom kind', 'Object{spec: Object.spec{replicas: 3}}', [post(only('spec'), { spec: { replicas: 1 } }), PATCH(at('w/scale'), 'merge', { spec: { replicas: 9 } }, only('spec', 'kind'))], { rules: [rule('widgets/scale', { groups: [GROUP], operations: ['UPDATE'] })], definition: crd({ spec: object({ replicas: integer() }), status: anything(), subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } }) }),
  custom('no-schema', 'a kind whose schema knows no fields', 'Object{spec: Object.spec{a: [Object.spec.a{b: 1}], c: {"d": "e"}}}', [post(spec, { spec: { x: 1, c: { f: 'g' } } })], { definition: crd({ schema: anything() }) }),
  custom('versions', 'another version of the kind', 'Object{metadata: Object.metadata{labels: {"version": request.kind.version}}, spec: Object.spec{a: "set"}}', [POST(at('', { v: 'v2' }), widget('w', { spec: { a: 'x' } }, { v: 'v2' }), only('apiVersion', 'metadata.labels', 'spec'))], { definition: crd({ versions: [version('v1', { spec: object({ a: string() }) }), version('v2', { spec: object({ a: string(), b: string({ default: 'b' }) }), storage: false })] }) }),
];
