// Server-side apply: large bodies, many fields, many managers.
import { scenario, GET, POST, PATCH, APPLY } from '../steps.ts';
import { CM, cm, widgets, widget, withWidgets, WIDGETS } from './kit/apply.mjs';

const one = (id, about, steps) => scenario(`apply-limits-${id}`, { section: '8', about }, steps);
const quiet = { compare: 'status' };
const keys = (n, v = 'x') => Object.fromEntries(Array.from({ length: n }, (_, i) => [`key-${String(i).padStart(5, '0')}`, v]));
/** Counts instead of contents. */
const counts = (b) => (b.kind === 'Status' ? { ...b, message: b.message?.slice(0, 300) } : { keys: Object.keys(b.data ?? {}).length, bytes: JSON.stringify(b.data ?? {}).length, owners: b.metadata.managedFields?.map((e) => [e.manager, e.operation, Object.keys(e.fieldsV1['f:data'] ?? {}).length]) ?? null });
const big = (n) => 'x'.repeat(n);

export default [
  one('many-fields', '2,000 keys: all of them owned, one changed, half given up', [
    APPLY(`${CM}/c`, 'm', cm('c', keys(2000)), { pick: counts }), APPLY(`${CM}/c`, 'm', cm('c', { ...keys(2000), 'key-00007': 'y' }), { pick: counts }), APPLY(`${CM}/c`, 'm', cm('c', keys(1000)), { pick: counts }),
  ]),
  one('many-conflicts', '300 conflicts are all listed', [APPLY(`${CM}/c`, 'm1', cm('c', keys(300)), quiet), APPLY(`${CM}/c`, 'm2', cm('c', keys(300, 'y')), { pick: (b) => ({ head: b.message.slice(0, 120), lines: b.message.split('\n').length, causes: b.details.causes.length, first: b.details.causes[0], last: b.details.causes.at(-1) }) })]),
  one('many-appliers', '30 apply managers keep 30 entries', [...Array.from({ length: 30 }, (_, i) => APPLY(`${CM}/c`, `m${String(i).padStart(2, '0')}`, cm('c', { [`k${i}`]: 'x' }), quiet)), GET(`${CM}/c`, { pick: counts })]),
  one('object-too-large', 'an apply whose result is larger than the kind allows is 422', [APPLY(`${CM}/c`, 'm', cm('c', { a: big(1048577) }), { pick: counts }), APPLY(`${CM}/c`, 'm', cm('c', { a: big(1048576 - 1) }), { pick: counts })]),
  one('body-too-large', 'a body of more than 3 MiB is 413', [APPLY(`${CM}/c`, 'm', cm('c', { a: big(3 * 1024 * 1024) }), { pick: counts }), PATCH(`${CM}/c`, 'merge', { data: { a: big(3 * 1024 * 1024) } }, { pick: counts })]),
  one('annotations-too-large', 'annotations of more than 256 KiB are 422', [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }, { annotations: { a: big(262145) } }), { pick: counts })]),
  scenario('apply-limits-storage', withWidgets('8', 'an apply that is too large for the store'), [
    ...widgets({ type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }),
    APPLY(`${WIDGETS}/w`, 'm', widget('w', { spec: { a: big(1600000) } }), { pick: counts }),
    POST(WIDGETS, widget('w', { spec: { a: big(1600000) } }), { pick: counts }),
    APPLY(`${WIDGETS}/w`, 'm', widget('w', { spec: { a: big(1500000) } }), { pick: (b) => b.spec?.a.length ?? counts(b) }),
  ]),
  scenario('apply-limits-without-managed-fields', withWidgets('8', 'a POST or patch that is too large only because of managedFields is stored without them; an apply is not'), [
    ...widgets({ type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }),
    POST(WIDGETS, widget('w', { spec: Object.fromEntries(Array.from({ length: 11500 }, (_, i) => [`${i}-${big(60)}`, big(8)])) }), { pick: (b) => (b.kind === 'Status' ? counts(b) : { keys: Object.keys(b.spec).length, managedFields: b.metadata.managedFields?.length ?? null }) }),
    APPLY(`${WIDGETS}/x`, 'm', widget('x', { spec: Object.fromEntries(Array.from({ length: 11500 }, (_, i) => [`${i}-${big(60)}`, big(8)])) }), { pick: (b) => (b.kind === 'Status' ? counts(b) : { keys: Object.keys(b.spec).length, managedFields: b.metadata.managedFields?.length ?? null }) }),
  ]),
  one('deep', 'a deeply nested body', [APPLY(`${CM}/c`, 'm', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`, { pick: (b) => ({ code: b.code ?? null, reason: b.reason ?? null, message: b.message?.slice(0, 120) }) }), APPLY(`${CM}/c`, 'm', `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":${'['.repeat(11000)}${']'.repeat(11000)}}}`, { pick: (b) => ({ code: b.code ?? null, reason: b.reason ?? null, message: b.message?.slice(0, 120) }) })]),
  one('yaml-aliases', 'a YAML body whose aliases multiply', [APPLY(`${CM}/c`, 'm', `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'.split('').map((l, i) => `  ${l}: &${l} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`).join('\n')}\n`)]),
];
