// ownerReferences and finalizers: what may be written, and when (§2.2, §3.1).
import { scenario, GET, POST, PUT, PATCH, DELETE, POLL } from '../steps.ts';
import { at, on, meta, only, configMap, deployment, pod, secret, node, crd, crdPath, widget, widgets } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-${id}`, { section: '2.2', about, ...o }, steps);
const cms = at('configmaps'), cm = at('configmaps', 'c');
const uid = '11111111-2222-3333-4444-555555555555', uid2 = '66666666-2222-3333-4444-555555555555';
const owner = (o = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, ...o });
const owners = { pick: (b) => (b.kind === 'Status' ? b : { ownerReferences: b.metadata.ownerReferences ?? null }) };
const finalizers = { pick: (b) => (b.kind === 'Status' ? b : { finalizers: b.metadata.finalizers ?? null, deleted: !!b.metadata.deletionTimestamp }) };

const invalidOwner = [
  ['no-uid', [owner({ uid: undefined })]], ['empty-uid', [owner({ uid: '' })]], ['no-name', [owner({ name: undefined })]], ['no-kind', [owner({ kind: undefined })]],
  ['no-api-version', [owner({ apiVersion: undefined })]], ['group-without-version', [owner({ apiVersion: 'apps/' })]], ['bad-api-version', [owner({ apiVersion: 'a/b/c' })]], ['all-empty', [{}]],
  ['event', [owner({ kind: 'Event' })]], ['event-other-group', [owner({ apiVersion: 'events.k8s.io/v1', kind: 'Event' })]],
  ['two-controllers', [owner({ controller: true }), owner({ name: 'b', uid: uid2, controller: true })]], ['one-controller-false', [owner({ controller: true }), owner({ name: 'b', uid: uid2, controller: false })]],
  ['three-controllers', [owner({ controller: true }), owner({ name: 'b', uid: uid2, controller: true }), owner({ name: 'd', uid: '77777777-2222-3333-4444-555555555555', controller: true })]],
  ['second-invalid', [owner(), owner({ name: 'b', uid: '' }), owner({ kind: '', uid: uid2 })]], ['any-uid', [owner({ uid: 'not a uid' })]], ['unknown-kind', [owner({ apiVersion: 'nowhere.example.com/v7', kind: 'Nothing' })]],
  ['unknown-field', [owner({ colour: 'red' })]], ['namespace-field', [owner({ namespace: 'other' })]], ['wrong-type', [owner({ controller: 'yes' })]], ['null', null], ['null-item', [null]],
].map(([id, refs]) => s(`owner-${id}`, `ownerReferences ${id}`, [POST(cms, configMap('c', { ownerReferences: refs }), { compareHeaders: ['warning'], ...owners })]));

const ownerRest = [
  s('owner-duplicate', 'the same reference twice is stored once, with a warning', [POST(cms, configMap('c', { ownerReferences: [owner(), owner()] }), { compareHeaders: ['warning'], ...owners }), GET(cm, owners)]),
  s('owner-duplicate-uid', 'two references with one uid and different names or flags', [
    POST(cms, configMap('c', { ownerReferences: [owner(), owner({ name: 'other' })] }), { compareHeaders: ['warning'], ...owners }), POST(cms, configMap('d', { ownerReferences: [owner(), owner({ blockOwnerDeletion: true })] }), { compareHeaders: ['warning'], ...owners })]),
  s('owner-duplicate-put', 'duplicate references in a PUT', [POST(cms, configMap(), owners), PUT(cm, configMap('c', { ownerReferences: [owner(), owner(), owner({ uid: uid2 })] }), { compareHeaders: ['warning'], ...owners })]),
  s('owner-duplicate-patch', 'duplicate references in a patch', [POST(cms, configMap('c', { ownerReferences: [owner()] }), owners), PATCH(cm, 'json-patch', [{ op: 'add', path: '/metadata/ownerReferences/-', value: owner() }], { compareHeaders: ['warning'], ...owners })]),
  s('owner-strategic-merge', 'a strategic patch merges references by uid', [
    POST(cms, configMap('c', { ownerReferences: [owner()] }), meta), PATCH(cm, 'strategic', { metadata: { ownerReferences: [owner({ uid: uid2, name: 'two' })] } }, owners),
    PATCH(cm, 'strategic', { metadata: { ownerReferences: [{ uid, blockOwnerDeletion: true }] } }, owners), PATCH(cm, 'strategic', { metadata: { ownerReferences: [{ $patch: 'delete', uid }] } }, owners)]),
  s('owner-merge-replaces', 'a merge patch replaces the list of references', [POST(cms, configMap('c', { ownerReferences: [owner()] }), owners), PATCH(cm, 'merge', { metadata: { ownerReferences: [owner({ uid: uid2 })] } }, owners), PATCH(cm, 'merge', { metadata: { ownerReferences: [] } }, meta)]),
  s('owner-cross-namespace', 'references to missing or foreign owners are not checked', [
    POST(at('pods'), pod('p', { ownerReferences: [owner({ apiVersion: 'apps/v1', kind: 'ReplicaSet', controller: true, blockOwnerDeletion: true })] }), meta)]),
  s('owner-cluster-scoped', 'a cluster-scoped object with a namespaced owner is stored', [POST(on('nodes'), node('$ns-n', { ownerReferences: [owner()] }), owners)], { namespace: false, cleanup: [on('nodes', '$ns-n')] }),
  s('owner-controller-changed', 'a second controller added by an update is refused', [
    POST(cms, configMap('c', { ownerReferences: [owner({ controller: true })] }), owners), PATCH(cm, 'strategic', { metadata: { ownerReferences: [owner({ uid: uid2, name: 'two', controller: true })] } }), PUT(cm, configMap('c', { ownerReferences: [owner({ uid: uid2, controller: true })] }), owners)]),
  s('owner-null-flags', 'null flags of a reference are left out', [POST(cms, configMap('c', { ownerReferences: [owner({ controller: null, blockOwnerDeletion: null })] }), owners)]),
  s('owner-custom-resource', 'references on a custom resource obey the same rules', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), crd(), { compare: 'status' }), POLL(widgets(), (_, st) => st === 200, { compare: 'status' }),
    POST(widgets(), widget('w', { ownerReferences: [owner({ uid: '' })] })), POST(widgets(), widget('w', { ownerReferences: [owner(), owner()] }), { compareHeaders: ['warning'], ...owners }),
    POST(widgets(), widget('x', { ownerReferences: [owner({ controller: true }), owner({ uid: uid2, controller: true })] })), POST(widgets(), widget('x', { ownerReferences: [owner({ colour: 'red' })] }), { compareHeaders: ['warning'], ...owners })], { cleanup: [crdPath()] }),
  s('owner-block-deletion', 'blockOwnerDeletion needs a right on the finalizers of the owner only with the plugin that is off by default', [POST(cms, configMap('c', { ownerReferences: [owner({ blockOwnerDeletion: true })] }), owners)]),
];

const finalizerCases = [
  ['unqualified', ['plain']], ['upper-case', ['Example.com/F']], ['empty', ['']], ['kubernetes', ['kubernetes']], ['orphan', ['orphan']], ['foreground', ['foregroundDeletion']], ['orphan-and-foreground', ['orphan', 'foregroundDeletion']],
  ['path', ['example.com/a/b']], ['domain-only', ['example.com']], ['domain-slash', ['example.com/']], ['spaces', ['example.com/a b']], ['long', [`example.com/${'x'.repeat(64)}`]], ['duplicate', ['example.com/a', 'example.com/a']],
  ['order-kept', ['example.com/z', 'example.com/a', 'orphan', 'example.com/m']], ['two-invalid', ['plain', 'Other']], ['number', [5]], ['null', [null]],
];
const invalidFinalizer = finalizerCases.map(([id, list]) => s(`finalizer-${id}`, `finalizers ${JSON.stringify(list).slice(0, 60)} on a ConfigMap`, [POST(cms, configMap('c', { finalizers: list }), { compareHeaders: ['warning'], ...finalizers })]));
const customFinalizer = s('finalizer-custom-resource', 'the finalizer rules for a custom resource: warnings instead of the domain rule', [
  POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), crd(), { compare: 'status' }), POLL(widgets(), (_, st) => st === 200, { compare: 'status' }),
  ...finalizerCases.map(([id, list]) => POST(widgets(), widget(`w-${id}`, { finalizers: list }), { compareHeaders: ['warning'], ...finalizers }))], { cleanup: [...finalizerCases.map(([id]) => widgets(`w-${id}`)), crdPath()] });
const otherGroup = s('finalizer-other-group', 'the finalizer rules for kinds outside the core group', [
  ...[['plain'], ['example.com'], ['orphan', 'foregroundDeletion'], ['']].map((list) => POST(at('apps/v1/deployments'), deployment('w', { finalizers: list }), { compareHeaders: ['warning'], ...finalizers })),
  POST(at('secrets'), secret('s', { finalizers: ['plain'] })), POST(at('coordination.k8s.io/v1/leases'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', finalizers: ['plain'] }, spec: {} })]);

const holding = (...list) => POST(cms, configMap('c', { finalizers: list }), finalizers);
const finalizerLife = [
  s('finalizer-reorder', 'finalizers may be reordered and replaced while the object lives', [
    holding('example.com/a', 'example.com/b'), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/b', 'example.com/a'] } }, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/d'] } }, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: null } }, meta), GET(cm, finalizers)]),
  s('finalizer-strategic', 'a strategic patch merges finalizers and can delete one', [
    holding('example.com/a'), PATCH(cm, 'strategic', { metadata: { finalizers: ['example.com/b'] } }, finalizers), PATCH(cm, 'strategic', { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } }, finalizers), PATCH(cm, 'strategic', { metadata: { '$setElementOrder/finalizers': ['example.com/c', 'example.com/b'], finalizers: ['example.com/c'] } }, finalizers)]),
  s('finalizer-blocks-delete', 'a finalizer keeps the deleted object, marked', [holding('example.com/a'), DELETE(cm, undefined, meta), GET(cm, meta), PATCH(cm, 'merge', { metadata: { finalizers: null } }, meta), GET(cm)]),
  s('finalizer-removed-by-put', 'a PUT without finalizers removes the marked object and answers it', [holding('example.com/a'), DELETE(cm, undefined, finalizers), PUT(cm, configMap('c', {}, { k: 'last' })), GET(cm)]),
  s('finalizer-removed-dry-run', 'a dry-run removal of the last finalizer keeps the object', [holding('example.com/a'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: null } }, { query: { dryRun: 'All' }, ...meta }), GET(cm, finalizers)]),
  s('finalizer-removed-one-by-one', 'the object goes with the last finalizer, in any order', [
    holding('example.com/a', 'example.com/b', 'example.com/d'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/d', 'example.com/a'] } }, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/d'] } }, finalizers), PATCH(cm, 'json-patch', [{ op: 'remove', path: '/metadata/finalizers/0' }], finalizers), GET(cm)]),
  s('finalizer-added-while-deleting', 'no new finalizers on a marked object, reordering is fine', [
    holding('example.com/a', 'example.com/b'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/new'] } }), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/z', 'example.com/y'] } }), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/b', 'example.com/a'] } }, finalizers)]),
  s('finalizer-readded-while-deleting', 'a finalizer once removed cannot come back', [
    holding('example.com/a', 'example.com/b'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/a'] } }, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })]),
  s('finalizer-duplicate-while-deleting', 'a present finalizer may be doubled while deleting', [holding('example.com/a'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { finalizers: ['example.com/a', 'example.com/a'] } }, finalizers)]),
  s('update-while-deleting', 'data, labels and annotations of a marked object can still change', [
    holding('example.com/a'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { data: { k: 'w' }, metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } }), PUT(cm, configMap('c', { finalizers: ['example.com/a'] }, { k: 'x' }), meta)]),
  s('undelete-refused', 'the marks of a deletion cannot be taken back or changed', [
    holding('example.com/a'), DELETE(cm, undefined, finalizers), PATCH(cm, 'merge', { metadata: { deletionTimestamp: null } }, meta), PATCH(cm, 'merge', { metadata: { deletionGracePeriodSeconds: null } }, meta),
    PATCH(cm, 'merge', { metadata: { deletionTimestamp: '2001-02-03T04:05:06Z' } }, meta), PATCH(cm, 'merge', { metadata: { deletionGracePeriodSeconds: 30 } }), PUT(cm, configMap('c', { finalizers: ['example.com/a'], deletionTimestamp: null, deletionGracePeriodSeconds: null }, { k: 'x' }), meta)]),
  s('create-while-deleting', 'the name of a marked object is taken', [holding('example.com/a'), DELETE(cm, undefined, finalizers), POST(cms, configMap())]),
  s('apply-finalizer-while-deleting', 'apply to a marked object: same rules', [
    holding('example.com/a'), DELETE(cm, undefined, finalizers), PATCH(cm, 'apply-yaml', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', finalizers: ['example.com/b'] } }, { query: { fieldManager: 'x' } }), PATCH(cm, 'apply-yaml', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { n: '1' } }, { query: { fieldManager: 'x' }, ...finalizers })]),
];

export default [...invalidOwner, ...ownerRest, ...invalidFinalizer, customFinalizer, otherGroup, ...finalizerLife];
