// What the cel-*.mjs scenarios share: tables of expressions, put as rules on the spec of one custom resource.
import { POST } from '../../steps.ts';
import { CRDS, crd, at, widget, object, list, map, string, integer, number, boolean, withCrd, tryCrd, noPointers } from './crd.mjs';

const section = '2.11';

/** The fields that expressions may use, with the values they have. */
export const sampleSchema = {
  s: string({ maxLength: 20 }), e: string({ maxLength: 20 }), i: integer(), z: integer(), neg: integer(), n: number(), b: boolean(),
  l: list(integer(), { maxItems: 5 }), ls: list(string({ maxLength: 10 }), { maxItems: 5 }), set: list(string({ maxLength: 10 }), { maxItems: 5, 'x-kubernetes-list-type': 'set' }),
  lo: list(object({ k: string({ maxLength: 10 }), v: integer() }, { required: ['k'] }), { maxItems: 5, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
  m: map(integer(), { maxProperties: 5 }), mo: map(object({ v: integer() }), { maxProperties: 5 }), o: object({ p: string({ maxLength: 10 }), r: string({ maxLength: 10 }) }),
  ts: string({ format: 'date-time' }), da: string({ format: 'date' }), du: string({ format: 'duration' }), by: string({ format: 'byte', maxLength: 20 }),
  is: { 'x-kubernetes-int-or-string': true }, ii: { 'x-kubernetes-int-or-string': true }, nul: string({ nullable: true, maxLength: 10 }), gone: string({ maxLength: 10 }), on: object({ x: integer() }, { nullable: true }),
};
export const sample = {
  s: 'hello', e: '', i: 7, z: 0, neg: -3, n: 2.5, b: true, l: [3, 1, 2], ls: ['b', 'a', 'b'], set: ['y', 'x'], lo: [{ k: 'a', v: 1 }, { k: 'b', v: 2 }], m: { x: 1, y: 2 }, mo: { q: { v: 5 } }, o: { p: 'q' },
  ts: '2020-02-29T12:34:56.789Z', da: '2021-03-04', du: '1h30m', by: 'aGVsbG8=', is: '25%', ii: 5, nul: null, on: null,
};

const withRules = (rules) => crd({ spec: object(sampleSchema, { 'x-kubernetes-validations': rules }) });
const run = (pick) => POST(at(), widget('w', { spec: sample }), { query: { dryRun: 'All' }, pick });
const messages = (b) => b?.details?.causes?.map((c) => c.message.replace(/^Invalid value: (?:"object": )?/, ''));

/** Each expression's value, as text, in the message of a rule that never holds. */
export const evaluated = (id, about, ...expressions) => withCrd(`cel-${id}`, { section, about }, withRules(expressions.map((e, i) => ({ rule: 'false', messageExpression: `'#${i}_%s'.format([${e}])`, message: `#${i}_no value` }))), [
  run((b) => { const all = messages(b); return all ? Object.fromEntries(expressions.map((e, i) => [e, all.find((m) => m.startsWith(`#${i}_`))?.slice(`#${i}_`.length) ?? '<missing>'])) : b; }),
]);

/** Each expression's error when it is evaluated; 'no error' if there is none. */
export const failing = (id, about, ...expressions) => {
  const rule = (e) => `[${e}].size() < 0`;
  return withCrd(`cel-${id}`, { section, about }, withRules(expressions.map((e) => ({ rule: rule(e) }))), [
    run((b) => { const all = messages(b); return all ? Object.fromEntries(expressions.map((e) => [e, all.includes(`failed rule: ${rule(e)}`) ? 'no error' : all.find((m) => m.endsWith(` evaluating rule: ${rule(e)}`))?.replace(` evaluating rule: ${rule(e)}`, '') ?? all.find((m) => m.includes(rule(e))) ?? '<missing>'])) : b; }),
  ]);
};

/** Each expression's error when it is compiled as a rule; 'accepted' if there is none. */
export const refused = (id, about, ...expressions) => tryCrd(`cel-${id}`, { section, about }, withRules(expressions.map((rule) => ({ rule }))), {
  pick: (b) => (b?.spec || b?.details?.causes ? Object.fromEntries(expressions.map((e, i) => [e, noPointers(b).details?.causes?.filter((c) => c.field.includes(`x-kubernetes-validations[${i}].`)).map((c) => `${c.field.split('].').at(-1)}: ${c.reason}: ${c.message.replace(/^Invalid value: apiextensions\.ValidationRule\{.*?\}: /s, '')}`) ?? 'accepted']).map(([k, v]) => [k, v.length === 0 ? 'accepted' : v])) : b),
});

export { CRDS };
