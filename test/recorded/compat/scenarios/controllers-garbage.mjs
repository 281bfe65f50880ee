// Garbage collection: background, foreground, orphans, absent owners.
import { DELETE, GET, PATCH, POST, scenario, SLEEP } from '../steps.ts';
import * as f from './kit/meta.mjs';
import { absent, blocking, cm, cms, del, gone, hold, isMarked, life, make, ownedBy, owner, release, stays, until, WAIT_KIND } from './kit/controllers.mjs';

const { at, on, configMap, pod } = f;
const s = (id, about, steps, o = {}) => scenario(`controllers-garbage-${id}`, { section: 'garbage', about, needs: 'controllers', ...o }, steps);
const quiet = { compare: 'status' };
const owners = (n) => (b) => (b.metadata.ownerReferences?.length ?? 0) === n;
const managed = { pick: (b) => ({ owners: b.metadata.ownerReferences ?? null, managed: b.metadata.managedFields?.map(({ manager, operation, fieldsV1 }) => ({ manager, operation, fieldsV1 })) }) };

export default [
  s('background', 'a dependent goes after its owner', [make('o'), make('d', ownedBy('o')), del(cm('o'), 'Background'), gone(cm('d')), GET(cm('o'))]),
  s('default', 'the same without a policy', [make('o'), make('d', ownedBy('o')), del(cm('o')), gone(cm('d'))]),
  s('generations', 'dependents of dependents', [make('o'), make('d', ownedBy('o')), make('e', ownedBy('d')), make('g', ownedBy('e')), del(cm('o')), gone(cm('g')), gone(cm('d'))]),
  s('many', 'twenty dependents', [make('o'), ...Array.from({ length: 20 }, (_, i) => make(`d${i}`, ownedBy('o'))), del(cm('o')), until(cms, (b) => b.items.length === 0, f.names)]),
  s('two-owners', 'one owner is left: the reference to the other goes', [make('o'), make('p'), make('d', ownedBy('o', 'p')), del(cm('o')), until(cm('d'), owners(1), life), ...stays(cm('d'), 1000)]),
  s('two-owners-managed', 'who removes the reference', [make('o'), make('p'), make('d', ownedBy('o', 'p')), del(cm('o')), until(cm('d'), owners(1), managed)]),
  s('two-owners-both', 'both go', [make('o'), make('p'), make('d', ownedBy('o', 'p')), del(cm('o')), del(cm('p')), gone(cm('d'))]),
  s('held-dependent', 'a dependent that a finalizer keeps is marked', [make('o'), make('d', { ...ownedBy('o'), ...hold }), del(cm('o')), until(cm('d'), isMarked, life), release(cm('d')), gone(cm('d'))]),
  s('pod-dependent', 'a pod with a node has its grace', [make('o'), POST(at('pods'), pod('p', ownedBy('o'), { nodeName: '$ns-n' }), quiet), del(cm('o')), until(at('pods', 'p'), isMarked, { pick: (b) => [b.metadata.deletionGracePeriodSeconds, b.metadata.finalizers ?? null] })]),
  s('foreground', 'owner and dependents go', [make('o'), make('d', ownedBy(blocking('o'))), DELETE(cm('o'), { propagationPolicy: 'Foreground' }, life), gone(cm('o')), gone(cm('d'))]),
  s('foreground-alone', 'an owner without dependents goes', [make('o'), DELETE(cm('o'), { propagationPolicy: 'Foreground' }, life), gone(cm('o'))]),
  s('foreground-blocked', 'the owner waits for a dependent that blocks it', [make('o'), make('d', { ...ownedBy(blocking('o')), ...hold }), del(cm('o'), 'Foreground'), until(cm('d'), isMarked, life), ...stays(cm('o'), 1000), release(cm('d')), gone(cm('o'))]),
  s('foreground-not-blocked', 'the owner does not wait for one that does not', [make('o'), make('d', { ...ownedBy('o'), ...hold }), del(cm('o'), 'Foreground'), gone(cm('o')), until(cm('d'), isMarked, life)]),
  s('foreground-unblocked', 'one that no longer blocks lets it go', [make('o'), make('d', { ...ownedBy(blocking('o')), ...hold }), del(cm('o'), 'Foreground'), until(cm('d'), isMarked, quiet), PATCH(cm('d'), 'merge', { metadata: { ownerReferences: [owner('o', { blockOwnerDeletion: false })] } }, quiet), gone(cm('o')), GET(cm('d'), life)]),
  s('foreground-released', 'so does one that no longer has it as owner', [make('o'), make('d', { ...ownedBy(blocking('o')), ...hold }), del(cm('o'), 'Foreground'), until(cm('d'), isMarked, quiet), PATCH(cm('d'), 'merge', { metadata: { ownerReferences: null } }, quiet), gone(cm('o')), GET(cm('d'), life)]),
  s('foreground-two-owners', 'a dependent with another owner stays, without the reference', [make('o'), make('p'), make('d', ownedBy(blocking('o'), 'p')), del(cm('o'), 'Foreground'), gone(cm('o')), GET(cm('d'), life)]),
  s('foreground-generations', 'a dependent that has dependents waits for them', [make('o'), make('d', ownedBy(blocking('o'))), make('g', { ...ownedBy(blocking('d')), ...hold }), del(cm('o'), 'Foreground'), until(cm('g'), isMarked, life), GET(cm('d'), life), GET(cm('o'), life), release(cm('g')), gone(cm('o')), gone(cm('d'))]),
  s('foreground-other-finalizer', 'the owner keeps finalizers of others', [make('o', hold), make('d', ownedBy(blocking('o'))), del(cm('o'), 'Foreground'), gone(cm('d')), until(cm('o'), (b) => b.metadata.finalizers.length === 1, life)]),
  s('foreground-late', 'a dependent that comes while its owner waits', [make('o'), make('d', { ...ownedBy(blocking('o')), ...hold }), del(cm('o'), 'Foreground'), until(cm('d'), isMarked, quiet), make('e', ownedBy(blocking('o'))), release(cm('d')), gone(cm('o')), gone(cm('e'))]),
  s('foreground-circle', 'two that own each other', [make('o'), make('d', ownedBy(blocking('o'))), PATCH(cm('o'), 'merge', { metadata: ownedBy(blocking('d')) }, quiet), del(cm('o'), 'Foreground'), gone(cm('o')), gone(cm('d'))]),
  s('background-circle', 'two that own each other stay until one goes', [make('o'), make('d', ownedBy('o')), PATCH(cm('o'), 'merge', { metadata: ownedBy('d') }, quiet), ...stays(cm('o'), 2000), del(cm('o')), gone(cm('d'))]),
  s('own-owner', 'one that owns itself stays', [make('o'), PATCH(cm('o'), 'merge', { metadata: ownedBy('o') }, quiet), ...stays(cm('o'))]),
  s('own-owner-foreground', 'and goes in the foreground', [make('o'), PATCH(cm('o'), 'merge', { metadata: ownedBy(blocking('o')) }, quiet), SLEEP(500), del(cm('o'), 'Foreground'), ...stays(cm('o'))]),
  s('orphan', 'orphans stay, without the reference', [make('o'), make('d', ownedBy('o')), make('e', ownedBy(blocking('o'))), DELETE(cm('o'), { propagationPolicy: 'Orphan' }, life), gone(cm('o')), GET(cm('d'), life), ...stays(cm('e'), 1500)]),
  s('orphan-managed', 'who removes the reference of an orphan', [make('o'), make('d', ownedBy('o')), del(cm('o'), 'Orphan'), gone(cm('o')), GET(cm('d'), managed)]),
  s('orphan-alone', 'an owner without dependents goes', [make('o'), del(cm('o'), 'Orphan'), gone(cm('o'))]),
  s('orphan-two-owners', 'the other owner stays one', [make('o'), make('p'), make('d', ownedBy('o', 'p')), del(cm('o'), 'Orphan'), gone(cm('o')), GET(cm('d'), life)]),
  s('orphan-generations', 'dependents of orphans stay theirs', [make('o'), make('d', ownedBy('o')), make('g', ownedBy('d')), del(cm('o'), 'Orphan'), gone(cm('o')), GET(cm('d'), life), ...stays(cm('g'), 1000)]),
  s('orphan-held', 'the owner keeps finalizers of others', [make('o', hold), make('d', ownedBy('o')), del(cm('o'), 'Orphan'), until(cm('o'), (b) => b.metadata.finalizers.length === 1, life), GET(cm('d'), life)]),
  s('orphan-finalizer', 'a dependent with the finalizer orphan is deleted so', [make('o'), make('d', { ...ownedBy('o'), finalizers: ['orphan'] }), make('g', ownedBy('d')), del(cm('o')), gone(cm('d')), ...stays(cm('g'), 1000)]),
  s('foreground-finalizer', 'one with foregroundDeletion in the foreground', [make('o'), make('d', { ...ownedBy('o'), finalizers: ['foregroundDeletion'] }), make('g', { ...ownedBy(blocking('d')), ...hold }), del(cm('o')), until(cm('g'), isMarked, life), GET(cm('d'), life), release(cm('g')), gone(cm('d'))]),
  s('absent', 'an owner that never was', [make('d', ownedBy(absent())), gone(cm('d'))]),
  s('absent-uid', 'one of the name with another uid', [make('o'), make('d', ownedBy(owner('o', { uid: absent().uid }))), gone(cm('d')), GET(cm('o'), life)]),
  s('absent-kind', 'one of the uid with another kind', [make('o'), make('d', ownedBy(owner('o', { kind: 'Secret' }))), gone(cm('d')), GET(cm('o'), life)]),
  s('absent-name', 'one of the uid with another name', [make('o'), make('d', ownedBy(owner('o', { name: 'p' }))), gone(cm('d'))]),
  s('absent-and-solid', 'an absent one beside one that is there', [make('o'), make('d', ownedBy('o', absent())), SLEEP(2000), GET(cm('d'), life)]),
  s('absent-late', 'a reference to an absent one that comes later', [make('d'), PATCH(cm('d'), 'merge', { metadata: ownedBy(absent()) }, quiet), gone(cm('d'))]),
  s('absent-held', 'an absent owner, and a finalizer', [make('d', { ...ownedBy(absent()), ...hold }), until(cm('d'), isMarked, life)]),
  s('unknown-kind', 'an owner of a kind that nobody knows may be one', [make('d', ownedBy(absent({ apiVersion: 'none.example.com/v1', kind: 'None' }))), ...stays(cm('d'))]),
  s('unknown-version', 'so may one of a version that is not served', [make('d', ownedBy(absent({ apiVersion: 'apps/v1beta1', kind: 'Deployment' }))), ...stays(cm('d'))]),
  s('unknown-beside-absent', 'it keeps an object whose other owner is absent', [make('d', ownedBy(absent(), absent({ apiVersion: 'none.example.com/v1', kind: 'None', uid: absent().uid.replace('1', '2') }))), ...stays(cm('d'))]),
  s('other-namespace', 'an owner in another namespace is none, and an event says so', [
    POST('/api/v1/namespaces', f.namespace('$ns-x'), quiet), POST('/api/v1/namespaces/$ns-x/configmaps', configMap('o'), { id: 'o', compare: 'status' }), SLEEP(1000), make('d', ownedBy('o')), gone(cm('d')),
    until(at('events'), (b) => b.items.length > 0, { pick: (b) => b.items?.map(({ reason, message, type, involvedObject, source, count, reportingComponent, reportingInstance }) => ({ reason, message, type, involvedObject: { ...involvedObject, resourceVersion: null }, source, count, reportingComponent, reportingInstance })) ?? b })]),
  s('cluster-owner', 'a cluster-scoped owner', [POST(on('nodes'), f.node('$ns-n'), { id: 'n', compare: 'status' }), make('d', ownedBy('n')), ...stays(cm('d'), 1000), del(on('nodes', '$ns-n')), gone(cm('d'))], { cleanup: [on('nodes', '$ns-n')] }),
  s('cluster-dependent', 'a cluster-scoped object of a cluster-scoped owner', [POST(on('nodes'), f.node('$ns-n'), { id: 'n', compare: 'status' }), POST(on('nodes'), f.node('$ns-m', ownedBy('n')), quiet), del(on('nodes', '$ns-n')), gone(on('nodes', '$ns-m'))], { cleanup: [on('nodes', '$ns-n'), on('nodes', '$ns-m')] }),
  s('cluster-of-namespaced', 'a cluster-scoped object has no namespaced owner, and stays', [make('o'), POST(on('nodes'), f.node('$ns-m', ownedBy('o')), quiet), ...stays(on('nodes', '$ns-m')), del(cm('o')), ...stays(on('nodes', '$ns-m'))], { cleanup: [on('nodes', '$ns-m')] }),
  s('job', 'pods of a Job are orphaned by default', [POST(at('batch/v1/jobs'), f.job('j'), { id: 'j', compare: 'status' }), POST(at('pods'), pod('p', ownedBy(blocking('j'))), quiet), DELETE(at('batch/v1/jobs', 'j'), undefined, life), gone(at('batch/v1/jobs', 'j')), GET(at('pods', 'p'), life)]),
  s('workload', 'a Deployment, its ReplicaSet and its pod', [
    POST(at('apps/v1/deployments'), f.deployment('w'), { id: 'w', compare: 'status' }), POST(at('apps/v1/replicasets'), f.replicaSet('r', ownedBy(blocking('w'))), { id: 'r', compare: 'status' }), POST(at('pods'), pod('p', ownedBy(blocking('r'))), quiet),
    del(at('apps/v1/deployments', 'w'), 'Foreground'), gone(at('apps/v1/deployments', 'w')), gone(at('apps/v1/replicasets', 'r')), gone(at('pods', 'p'))]),
  s('disowned', 'what was disowned before stays', [make('o'), make('d', ownedBy('o')), PATCH(cm('d'), 'merge', { metadata: { ownerReferences: null } }, quiet), del(cm('o')), ...stays(cm('d'))]),
  s('adopted', 'what was adopted later goes', [make('o'), make('d'), PATCH(cm('d'), 'merge', { metadata: ownedBy('o') }, quiet), del(cm('o')), gone(cm('d'))]),
  s('custom', 'custom objects own and are owned', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), quiet), until(f.widgets(), () => true, quiet), POST(f.widgets(), f.widget('w'), { id: 'w', compare: 'status' }), make('d', ownedBy('w')), make('o'), POST(f.widgets(), f.widget('x', ownedBy('o')), quiet),
    SLEEP(500), del(f.widgets('w')), del(cm('o')), gone(cm('d'), WAIT_KIND), gone(f.widgets('x'), WAIT_KIND)], { cleanup: [f.crdPath()] }),
  s('custom-orphan', 'custom objects are orphaned', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), quiet), until(f.widgets(), () => true, quiet), make('o'), POST(f.widgets(), f.widget('x', ownedBy('o')), quiet), POST(f.widgets(), f.widget('canary', ownedBy(absent())), quiet), gone(f.widgets('canary'), WAIT_KIND),
    del(cm('o'), 'Orphan'), gone(cm('o'), WAIT_KIND), GET(f.widgets('x'), life)], { cleanup: [f.crdPath()] }),
];
