// Graceful deletion, which only pods have (§3.1).
import { scenario, GET, POST, PATCH, PUT, DELETE, SLEEP } from '../steps.ts';
import { at, firstLine, meta, pod } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-pod-${id}`, { section: '3.1', about, ...o }, steps);
const pods = at('pods'), p = at('pods', 'p');
const near = (n, ...wanted) => wanted.find((w) => Math.abs(n - w) <= 4) ?? n;
/** The marks of a deletion, with the deletionTimestamp as seconds after the creation (rounded to the grace periods in play). */
const marks = { pick: (b, raw) => (b.kind === 'Status' ? b : { generation: b.metadata.generation, finalizers: b.metadata.finalizers ?? null, grace: b.metadata.deletionGracePeriodSeconds ?? null,
  after: raw.metadata.deletionTimestamp ? near((Date.parse(raw.metadata.deletionTimestamp) - Date.parse(raw.metadata.creationTimestamp)) / 1000, 0, 10, 20, 30, 60, 100, 1000) : null }) };
const bound = (spec = {}, metadata = {}) => POST(pods, pod('p', metadata, { nodeName: 'n', ...spec }), marks);
const free = (spec = {}, metadata = {}) => POST(pods, pod('p', metadata, spec), marks);
const grace = (n, o = {}) => DELETE(p, { gracePeriodSeconds: n, ...o }, marks);
const phase = (ph) => PATCH(at('pods', 'p', 'status'), 'merge', { status: { phase: ph } }, { compare: 'status' });

export default [
  s('grace-default', 'a bound pod gets the default 30 seconds', [bound(), DELETE(p, undefined, meta), GET(p, marks)]),
  s('grace-from-spec', 'terminationGracePeriodSeconds is the default of the delete', [bound({ terminationGracePeriodSeconds: 100 }), DELETE(p, undefined, marks)]),
  s('grace-spec-zero', 'terminationGracePeriodSeconds 0: removed at once', [bound({ terminationGracePeriodSeconds: 0 }), DELETE(p, undefined, marks), GET(p)]),
  s('grace-option', 'gracePeriodSeconds over the spec', [bound({ terminationGracePeriodSeconds: 100 }), grace(10)]),
  s('grace-option-longer', 'gracePeriodSeconds may be longer than the spec', [bound(), grace(1000)]),
  s('grace-query', 'gracePeriodSeconds in the query', [bound(), DELETE(p, undefined, { query: { gracePeriodSeconds: '20' }, ...marks })]),
  s('grace-zero', 'gracePeriodSeconds 0 removes a bound pod at once', [bound(), grace(0), GET(p)]),
  s('grace-negative', 'a negative gracePeriodSeconds counts as 1', [bound(), grace(-1), GET(p, marks)]),
  s('grace-negative-spec', 'a negative terminationGracePeriodSeconds of the spec', [bound({ terminationGracePeriodSeconds: -10 }), DELETE(p, undefined, marks)]),
  s('unbound', 'a pod without a node is removed at once', [free(), DELETE(p, undefined, meta), GET(p)]),
  s('unbound-grace', 'a pod without a node is removed at once in spite of gracePeriodSeconds', [free(), grace(60), GET(p)]),
  s('unbound-finalizer', 'a pod without a node but with a finalizer', [free({}, { finalizers: ['example.com/a'] }), grace(60), PATCH(p, 'merge', { metadata: { finalizers: null } }, marks), GET(p)]),
  ...['Succeeded', 'Failed', 'Running', 'Pending', 'Unknown'].map((ph) => s(`phase-${ph.toLowerCase()}`, `a bound pod in phase ${ph}`, [bound(), phase(ph), DELETE(p, undefined, marks), GET(p, marks)])),
  s('second-shorter', 'a second delete may shorten the grace', [bound(), grace(60), grace(20), grace(10), GET(p, marks)]),
  s('second-longer', 'a second delete cannot lengthen the grace', [bound(), grace(20), grace(60), GET(p, marks)]),
  s('second-same', 'a second delete with the same grace writes nothing', [bound(), DELETE(p, { gracePeriodSeconds: 20 }, meta), DELETE(p, { gracePeriodSeconds: 20 }, meta)]),
  s('second-none', 'a second delete without a grace writes nothing', [bound(), DELETE(p, { gracePeriodSeconds: 20 }, meta), DELETE(p, undefined, meta)]),
  s('second-zero', 'a second delete with grace 0 removes the pod', [bound(), grace(60), grace(0), GET(p)]),
  s('second-negative', 'a second delete with a negative grace', [bound(), grace(60), grace(-3), GET(p, marks)]),
  s('second-expired', 'a shorter grace that has already passed becomes 1', [bound(), grace(60), SLEEP(3200), grace(2)]),
  s('second-zero-finalizer', 'grace 0 on a marked pod with a finalizer', [bound({}, { finalizers: ['example.com/a'] }), grace(60), grace(0), GET(p, marks), PATCH(p, 'merge', { metadata: { finalizers: null } }, marks), GET(p)]),
  s('finalizer-and-grace', 'removing the finalizer while the grace runs does not remove the pod', [bound({}, { finalizers: ['example.com/a'] }), grace(60), PATCH(p, 'merge', { metadata: { finalizers: null } }, marks), GET(p, marks), grace(0), GET(p)]),
  s('second-policy', 'a policy in a second delete of a pod whose grace runs is not looked at', [bound(), grace(60), DELETE(p, { propagationPolicy: 'Foreground' }, marks), DELETE(p, { propagationPolicy: 'Orphan', gracePeriodSeconds: 30 }, marks)]),
  s('policy-foreground', 'grace and Foreground together', [bound(), grace(60, { propagationPolicy: 'Foreground' }), grace(0), PATCH(p, 'merge', { metadata: { finalizers: null } }, marks), GET(p)]),
  s('policy-orphan-unbound', 'an unbound pod deleted with Orphan stays until the finalizer goes', [free(), DELETE(p, { propagationPolicy: 'Orphan' }, marks), GET(p, marks)]),
  s('orphan-dependents-false', 'orphanDependents false on a pod that lives on for its grace: 202', [bound(), DELETE(p, { orphanDependents: false }, marks), DELETE(p, { orphanDependents: false }, marks)]),
  s('update-while-deleting', 'labels and status of a terminating pod can change, its spec not', [
    bound(), grace(60), PATCH(p, 'merge', { metadata: { labels: { a: 'b' } } }, marks), PATCH(at('pods', 'p', 'status'), 'merge', { status: { phase: 'Succeeded' } }, marks), PATCH(p, 'merge', { spec: { terminationGracePeriodSeconds: 1 } }, firstLine), DELETE(p, undefined, marks)]),
  s('marks-in-put', 'a PUT cannot change the marks of a terminating pod', [bound(), grace(60), PATCH(p, 'merge', { metadata: { deletionGracePeriodSeconds: 0 } }, { pick: (b) => b.details?.causes ?? b }), PATCH(p, 'merge', { metadata: { deletionGracePeriodSeconds: null, deletionTimestamp: null } }, marks)]),
  s('precondition-marked', 'a precondition on a terminating pod', [POST(pods, pod('p', {}, { nodeName: 'n' }), { id: 'o', compare: 'status' }), DELETE(p, { gracePeriodSeconds: 30, preconditions: { uid: '${o.metadata.uid}' } }, marks), DELETE(p, { gracePeriodSeconds: 0, preconditions: { resourceVersion: '${o.metadata.resourceVersion}' } })]),
  s('precondition-grace', 'a resourceVersion precondition with grace 0 and no finalizers', [POST(pods, pod('p', {}, { nodeName: 'n' }), { id: 'o', compare: 'status' }), DELETE(p, { gracePeriodSeconds: 0, preconditions: { resourceVersion: '${o.metadata.resourceVersion}' } }, marks), GET(p)]),
  s('binding-terminating', 'a terminating pod cannot be bound', [free({}, { finalizers: ['example.com/a'] }), DELETE(p, undefined, marks), POST(at('pods', 'p', 'binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } })]),
  s('static-pod', 'a mirror pod: its annotation changes nothing here', [bound({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }), DELETE(p, undefined, marks)]),
  s('dry-run-shorter', 'a dry run of a shorter grace', [bound(), grace(60), DELETE(p, { gracePeriodSeconds: 10, dryRun: ['All'] }, marks), GET(p, marks)]),
  s('dry-run-zero-marked', 'a dry run of grace 0 on a terminating pod', [bound(), grace(60), DELETE(p, { gracePeriodSeconds: 0, dryRun: ['All'] }, marks), GET(p, marks)]),
];
