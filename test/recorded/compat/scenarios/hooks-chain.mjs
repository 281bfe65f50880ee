// Three mutating webhooks: reinvocation in all combinations, and their order.
import { POST, PATCH } from '../steps.ts';
import { CM, cm, data, webhook, mutating, validating, allow, answer, patch, add, hooked, brief, called, quiet, warned } from './kit/admission.mjs';

const keys = ['a', 'b', 'c'];
const traced = cm('c', { trace: '' });
/** Appends its name with each call. */
const trace = (key) => patch((r) => [add('/data/trace', `${r.object.data.trace}${key}`)]);
const again = (is) => (is ? { reinvocationPolicy: 'IfNeeded' } : {});
const masks = [...Array(8).keys()];
const named = (mask) => keys.filter((_, i) => mask & (1 << i)).join('') || 'none';
const shown = keys.map((key) => brief(key, 1, 'object.data.trace'));
const chain = (id, about, settings, hooks, steps = [POST(CM, traced, data)]) => hooked(`hooks-chain-${id}`, about, mutating(keys.map((key, i) => webhook(key, settings[i]))), { hooks }, [...steps, ...shown]);
const all = Object.fromEntries(keys.map((key) => [key, trace(key)]));
const always = keys.map(() => again(true));

const reinvoked = masks.map((mask) => chain(`again-${named(mask)}`, `all three change the object; IfNeeded: ${named(mask)}`, keys.map((_, i) => again(mask & (1 << i))), all));
const changing = masks.slice(1, 7).map((mask) => chain(`changed-by-${named(mask)}`, `IfNeeded on all three; changed by ${named(mask)}`, always, Object.fromEntries(keys.map((key, i) => [key, mask & (1 << i) ? trace(key) : allow]))));
const others = [
  chain('changed-again', 'one that changes the object in the second round only', always, { a: trace('a'), b: patch((r, n) => (n === 2 ? [add('/data/second', 'b')] : undefined)), c: trace('c') }),
  chain('changed-back', 'one that takes the change of the first back', always, { a: patch([add('/data/x', '1')]), b: patch((r) => (r.object.data.x ? [{ op: 'remove', path: '/data/x' }] : undefined)), c: allow }),
  chain('unmatched-then-matched', 'one whose condition is true in the second round only', [again(true), { ...again(true), matchConditions: [{ name: 'x', expression: "object.data.trace.contains('c')" }] }, again(true)], all),
  chain('update', 'a patch', always, all, [POST(CM, { ...traced, metadata: { name: 'c' } }, quiet), PATCH(`${CM}/c`, 'merge', { data: { x: 'y' } }, data)]),
  hooked('hooks-chain-order-of-names', 'configurations are called by name, as bytes compare: digits, then letters, then longer names', ['$ns-b', '$ns-a.b', '$ns-a-b', '$ns-a', '$ns-1'].map((name, i) => mutating(webhook('vwxyz'[i]), name)), { hooks: Object.fromEntries([...'vwxyz'].map((key) => [key, trace(key)])) }, [POST(CM, traced, data)]),
  hooked('hooks-chain-warnings', 'warnings of several hooks: mutating ones in order, then the validating one; the same text once', [mutating(keys.map((key) => webhook(key))), validating(webhook('v'))], { hooks: { a: answer({ warnings: ['one', 'two'] }), b: answer({ warnings: ['two', 'three'] }), c: answer({ warnings: [''] }), v: answer({ warnings: ['one', 'four'] }) } }, [POST(CM, traced, { ...warned, compare: 'status' }), called('v', 1)]),
  hooked('hooks-chain-warnings-again', 'warnings of both rounds', mutating([webhook('a', again(true)), webhook('b')]), { hooks: { a: patch((r) => [add('/data/trace', `${r.object.data.trace}a`)], { warnings: ['a'] }), b: patch((r, n) => [add('/data/b', 'x')], { warnings: ['b'] }) } }, [POST(CM, traced, { ...data, ...warned })]),
];

export default [...reinvoked, ...changing, ...others];
