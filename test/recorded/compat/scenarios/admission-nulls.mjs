// A null that a webhook puts into a custom resource. Programs in Go send one for each empty pointer without omitempty.
import { scenario, GET, POST, PATCH, PUT } from '../steps.ts';
import { webhook, mutating, rule, patch, add, install, pathOf, only } from './kit/admission.mjs';
import { GROUP, CRDS, crd, at, widget, object, string, integer, list, map, anything, serve } from './kit/crd.mjs';

const spec = object({
  optional: string(), nullable: string({ nullable: true }), defaulted: string({ default: 'd' }), part: object({ a: integer() }), items: list(object({ a: integer() })), names: map(string()),
  open: anything(), both: string({ nullable: true, default: 'b' }), strings: list(string()), needed: object({ ref: object({ name: string() }) }, { required: ['ref'] }),
});
const definition = crd({ spec });
const picked = only('spec');
const nulls = (id, about, ops, steps = [POST(at(''), widget('w', { spec: { part: { a: 1 }, items: [{ a: 1 }], names: { x: 'y' }, open: {} } }), picked)], operations = ['CREATE']) => {
  const configuration = mutating(webhook('h', { rules: [rule('widgets', { groups: [GROUP], operations })] }));
  const cleanup = [`${pathOf(configuration)}/${configuration.metadata.name}`, `${pathOf(configuration)}/$ns-ready`, `${CRDS}/${definition.metadata.name}`];
  return scenario(`admission-nulls-${id}`, { section: '7', about, hooks: { h: patch(ops) }, cleanup }, [...serve(definition), ...install(configuration), ...steps]);
};
const stored = [POST(at(''), widget('w', { spec: { optional: 'o', part: { a: 1 } } }), picked)];

export default [
  nulls('optional', 'in a field that is not nullable: refused, as it stays', [add('/spec/optional', null)]),
  nulls('nullable', 'in a nullable field', [add('/spec/nullable', null)]),
  nulls('defaulted', 'in a field with a default', [add('/spec/defaulted', null)]),
  nulls('both', 'in a nullable field with a default', [add('/spec/both', null)]),
  nulls('object', 'in the place of an object', [add('/spec/part', null)]),
  nulls('within', 'within an object', [add('/spec/part/a', null)]),
  nulls('item', 'within an item of a list', [add('/spec/items/0/a', null)]),
  nulls('whole-item', 'in the place of an item', [add('/spec/items/0', null)]),
  nulls('string-item', 'in the place of an item that is a string', [add('/spec/strings', ['a', null])]),
  nulls('map', 'in the place of a value of a map', [add('/spec/names/x', null)]),
  nulls('required', 'in a required field', [add('/spec/needed', { ref: null })]),
  nulls('open', 'where any field may be', [add('/spec/open/a', null)]),
  nulls('unknown', 'in an unknown field', [add('/spec/unknown', null)]),
  nulls('spec', 'in the place of the spec', [add('/spec', null)]),
  nulls('labels', 'in the place of the labels', [add('/metadata/labels', null)]),
  nulls('update', 'by an update', [add('/spec/optional', null)], [...stored, PUT(at('w'), widget('w', { spec: { part: { a: 2 } } }), picked), GET(at('w'), picked)], ['UPDATE']),
  nulls('patch', 'by a patch', [add('/spec/part', null)], [...stored, PATCH(at('w'), 'merge', { spec: { optional: 'p' } }, picked), GET(at('w'), picked)], ['UPDATE']),
  nulls('two-hooks', 'one that the sender wrote is gone before the webhook sees it', [add('/spec/nullable', 'n')], [POST(at(''), widget('w', { spec: { optional: null, nullable: null } }), picked)]),
];
