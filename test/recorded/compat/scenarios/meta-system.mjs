// What the server does with the metadata that it owns: uid, times, generation, resourceVersion, names (§2.2).
import { scenario, GET, POST, PUT, PATCH, DELETE, POLL } from '../steps.ts';
import { at, on, meta, metaUnmanaged, only, configMap, deployment, pod, node, namespace, secret, widget, widgets, crd, crdPath } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-${id}`, { section: '2.2', about, ...o }, steps);
const cms = at('configmaps'), cm = at('configmaps', 'c');
const otherUid = '11111111-2222-3333-4444-555555555555';
const past = '2001-02-03T04:05:06Z';

const onCreate = [
  ['uid', { uid: otherUid }], ['creation-timestamp', { creationTimestamp: past }], ['self-link', { selfLink: '/a/b' }],
  ['deletion-timestamp', { deletionTimestamp: past }], ['deletion-grace', { deletionGracePeriodSeconds: 30 }], ['generation', { generation: 7 }],
  ['negative-generation', { generation: -1 }], ['rv-empty', { resourceVersion: '' }], ['rv-zero', { resourceVersion: '0' }], ['rv-number', { resourceVersion: '1' }],
  ['rv-text', { resourceVersion: 'abc' }], ['namespace-same', { namespace: '$ns' }], ['namespace-other', { namespace: 'default' }], ['namespace-empty', { namespace: '' }],
  ['bad-creation-timestamp', { creationTimestamp: 'yesterday' }], ['null-fields', { labels: null, annotations: null, finalizers: null, ownerReferences: null, creationTimestamp: null }],
  ['empty-maps', { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] }], ['label-number', { labels: { a: 1 } }], ['label-null-value', { labels: { a: null } }],
  ['offset-time', { deletionTimestamp: '2001-02-03T04:05:06+02:00' }], ['cluster-name', { clusterName: 'x' }],
].map(([id, m]) => s(`create-${id}`, `a create that sends ${JSON.stringify(m)} in metadata`, [POST(cms, configMap('c', m), meta), GET(cm, meta)]));

const onPut = [
  ['uid-other', { uid: otherUid }], ['uid-empty', { uid: '' }], ['uid-same', { uid: '${o.metadata.uid}' }], ['creation-timestamp', { creationTimestamp: past }], ['creation-null', { creationTimestamp: null }],
  ['deletion-timestamp', { deletionTimestamp: past, deletionGracePeriodSeconds: 5 }], ['self-link', { selfLink: '/x' }], ['generation', { generation: 5 }], ['negative-generation', { generation: -5 }],
  ['name-other', { name: 'other' }], ['name-empty', { name: '' }], ['namespace-other', { namespace: 'default' }], ['generate-name', { generateName: 'x-' }],
  ['rv-empty', { resourceVersion: '' }], ['rv-zero', { resourceVersion: '0' }], ['rv-same', { resourceVersion: '${o.metadata.resourceVersion}' }], ['rv-stale', { resourceVersion: '1' }], ['rv-text', { resourceVersion: 'abc' }],
  ['rv-negative', { resourceVersion: '-1' }], ['rv-huge', { resourceVersion: '99999999999999999999' }], ['rv-leading-zero', { resourceVersion: '0${o.metadata.resourceVersion}' }],
].map(([id, m]) => s(`put-${id}`, `a PUT that sends ${JSON.stringify(m)} in metadata`, [
  POST(cms, configMap(), { id: 'o', ...meta }), PUT(cm, configMap('c', m, { k: 'new' }), meta), GET(cm, only('metadata.generation', 'metadata.uid', 'metadata.deletionTimestamp', 'metadata.generateName', 'data'))]));

const onPatch = [
  ['uid-other', { uid: otherUid }], ['uid-null', { uid: null }], ['uid-same', { uid: '${o.metadata.uid}' }], ['creation-timestamp', { creationTimestamp: past }], ['deletion-timestamp', { deletionTimestamp: past }],
  ['deletion-grace', { deletionGracePeriodSeconds: 5 }], ['generation', { generation: 9 }], ['name', { name: 'other' }], ['name-null', { name: null }], ['namespace', { namespace: 'default' }], ['namespace-null', { namespace: null }],
  ['rv-same', { resourceVersion: '${o.metadata.resourceVersion}' }], ['rv-stale', { resourceVersion: '1' }], ['rv-zero', { resourceVersion: '0' }], ['rv-null', { resourceVersion: null }], ['rv-text', { resourceVersion: 'abc' }],
  ['self-link', { selfLink: '/x' }], ['generate-name', { generateName: 'x-' }],
].map(([id, m]) => s(`patch-${id}`, `a merge patch that sends ${JSON.stringify(m)} in metadata`, [
  POST(cms, configMap(), { id: 'o', ...meta }), PATCH(cm, 'merge', { metadata: m, data: { k: 'new' } }, meta)]));

const rest = [
  s('generate-name-kept', 'generateName stays on the object, name gets five random characters', [
    POST(cms, configMap(undefined, { name: undefined, generateName: 'gen-' }), { pick: (b) => ({ generateName: b.metadata.generateName, name: b.metadata.name.replace(/[bcdfghjklmnpqrstvwxz2456789]{5}$/, '?????') }) })]),
  s('generate-name-and-name', 'a name given with generateName wins, generateName is stored', [POST(cms, configMap('c', { generateName: 'gen-' }), meta)]),
  s('generate-name-long', 'a generateName of more than 58 characters is cut before the random part is added', [
    POST(cms, configMap(undefined, { name: undefined, generateName: `${'a'.repeat(70)}-` }), { pick: (b) => (b.metadata.name ? { length: b.metadata.name.length, head: b.metadata.name.slice(0, -5), generateName: b.metadata.generateName } : b) })]),
  s('generate-name-invalid', 'an invalid generateName is reported under metadata.generateName', [POST(cms, configMap(undefined, { name: undefined, generateName: 'Bad_Name-' }), { pick: (b) => JSON.parse(JSON.stringify(b).replace(/Bad_Name-\w{5}/g, 'Bad_Name-?????')) })]),
  s('no-name', 'neither name nor generateName', [POST(cms, configMap(undefined, { name: undefined }))]),
  s('no-metadata', 'an object without metadata', [POST(cms, { apiVersion: 'v1', kind: 'ConfigMap', data: {} })]),
  s('metadata-null', 'metadata: null', [POST(cms, { apiVersion: 'v1', kind: 'ConfigMap', metadata: null, data: {} })]),
  s('put-no-metadata', 'a PUT without metadata', [POST(cms, configMap(), meta), PUT(cm, { apiVersion: 'v1', kind: 'ConfigMap', data: {} })]),
  s('put-missing-uid-given', 'a PUT of a missing object, with and without a uid', [PUT(cm, configMap()), PUT(cm, configMap('c', { uid: otherUid })), PUT(cm, configMap('c', { resourceVersion: '5' }))]),
  s('put-create-kind-uid', 'a kind that PUT may create refuses a uid or a resourceVersion for a missing object', [
    PUT(at('coordination.k8s.io/v1/leases', 'l'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', uid: otherUid }, spec: {} }),
    PUT(at('coordination.k8s.io/v1/leases', 'l'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l', resourceVersion: '5' }, spec: {} }),
    PUT(at('coordination.k8s.io/v1/leases', 'l'), { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} })]),
  s('put-unchanged', 'a PUT that changes nothing keeps the resourceVersion', [POST(cms, configMap(), { id: 'o', ...meta }), PUT(cm, configMap(), meta), PUT(cm, '${o}', meta)]),
  s('patch-unchanged', 'empty patches, and patches to the present value, keep the resourceVersion', [
    POST(cms, configMap(), meta), PATCH(cm, 'merge', {}, meta), PATCH(cm, 'strategic', { data: { k: 'v' } }, meta), PATCH(cm, 'json-patch', [], meta), PATCH(cm, 'json-patch', [{ op: 'test', path: '/data/k', value: 'v' }], meta)]),
  s('patch-unchanged-stale', 'a patch that changes nothing is refused with a stale resourceVersion', [POST(cms, configMap(), meta), PATCH(cm, 'merge', { metadata: { resourceVersion: '1' } }, meta)]),
  s('put-unchanged-manager', 'a PUT without changes by another manager adds no entry', [POST(cms, configMap(), meta), PUT(cm, configMap(), { query: { fieldManager: 'second' }, ...meta })]),
  s('labels-removed', 'labels and annotations left out of a PUT are removed', [
    POST(cms, configMap('c', { labels: { a: '1', b: '2' }, annotations: { x: 'y' } }), meta), PUT(cm, configMap('c', { labels: { a: '1' } }), meta), PUT(cm, configMap(), meta)]),
  s('labels-patched', 'labels and annotations by merge and strategic patches', [
    POST(cms, configMap('c', { labels: { a: '1' } }), meta), PATCH(cm, 'merge', { metadata: { labels: { a: null, b: '2' }, annotations: { 'example.com/x': '' } } }, meta), PATCH(cm, 'strategic', { metadata: { labels: null, annotations: { y: 'z' } } }, meta)]),
  s('annotation-keys', 'keys of labels and annotations: case, prefixes and lengths', [
    POST(cms, configMap('c', { annotations: { 'Example.COM/X': 'v' } }), meta), POST(cms, configMap('d', { labels: { 'Example.COM/X': 'v' } })),
    ...['a/b/c', '', '/x', 'x/', '-/x', `${'p'.repeat(254)}/x`, 'n'.repeat(64)].map((k) => POST(cms, configMap('e', { annotations: { [k]: 'v' } })))]),
  s('label-keys-and-values', 'invalid keys and values of labels', [
    ...['a/b/c', '', 'n'.repeat(64)].map((k) => POST(cms, configMap('e', { labels: { [k]: 'v' } }))), ...['no spaces', 'x'.repeat(64), 'x-', '_x', 'ü'].map((v) => POST(cms, configMap('e', { labels: { k: v } })))]),
  s('annotations-too-long', 'all annotations together may have 262144 bytes', [
    POST(cms, configMap('c', { annotations: { k: 'x'.repeat(262143) } }), only('metadata.name')), POST(cms, configMap('d', { annotations: { k: 'x'.repeat(262144) } })),
    POST(cms, configMap('e', { annotations: { a: 'é'.repeat(131072), b: '' } }))]),
  s('cluster-scoped-namespace', 'metadata.namespace on a cluster-scoped object', [POST(on('nodes'), node('$ns-n', { namespace: 'x' }), metaUnmanaged), POST(on('nodes'), node('$ns-m', { namespace: '' }), metaUnmanaged)], { cleanup: [on('nodes', '$ns-n'), on('nodes', '$ns-m')], namespace: false }),
  s('cluster-scoped-namespace-put', 'metadata.namespace in a PUT of a cluster-scoped object', [POST(on('nodes'), node(), metaUnmanaged), PUT(on('nodes', '$ns-n'), node('$ns-n', { namespace: 'x', labels: { a: 'b' } }), metaUnmanaged)], { cleanup: [on('nodes', '$ns-n')], namespace: false }),
  s('unknown-metadata-field', 'unknown fields of metadata: warned about, dropped, or refused', [
    POST(cms, configMap('c', { colour: 'red' }), { compareHeaders: ['warning'], ...meta }), POST(cms, configMap('d', { colour: 'red' }), { query: { fieldValidation: 'Strict' } }), POST(cms, configMap('d', { colour: 'red' }), { query: { fieldValidation: 'Ignore' }, compareHeaders: ['warning'], ...meta })]),
  s('metadata-wrong-types', 'values of the wrong JSON type in metadata', [
    ...[{ name: 5 }, { generation: '1' }, { finalizers: 'x' }, { ownerReferences: {} }, { labels: [] }, { deletionGracePeriodSeconds: '3' }, { managedFields: {} }, { uid: 7 }].map((m) => POST(cms, configMap('c', m)))]),
  s('template-metadata', 'the metadata of a pod template keeps creationTimestamp null and its own name and namespace', [
    POST(at('apps/v1/deployments'), deployment('w', {}, { template: { metadata: { name: 'n', namespace: 'other', uid: otherUid, creationTimestamp: past, labels: { app: 'a' }, finalizers: ['example.com/f'] }, spec: { containers: [{ name: 'c', image: 'i' }] } } }), { pick: (b) => b.spec?.template.metadata ?? b })]),
  s('create-twice', 'a second create of a name is refused, after a delete it gets a new uid', [
    POST(cms, configMap(), { id: 'o', ...meta }), POST(cms, configMap()), DELETE(cm), POST(cms, configMap(), meta)]),
  s('dry-run-create-metadata', 'the metadata that a dry-run create answers', [POST(cms, configMap('c', { labels: { a: 'b' } }), { query: { dryRun: 'All' }, ...meta }), GET(cm)]),
  s('dry-run-generate-name', 'a dry-run create with generateName answers a name', [
    POST(cms, configMap(undefined, { name: undefined, generateName: 'gen-' }), { query: { dryRun: 'All' }, pick: (b) => ({ ...b.metadata, name: b.metadata.name?.length ?? null }) })]),
  s('dry-run-update-metadata', 'a dry-run PUT answers the old resourceVersion', [POST(cms, configMap(), meta), PUT(cm, configMap('c', {}, { k: 'new' }), { query: { dryRun: 'All' } }), GET(cm)]),
  s('secret-metadata', 'the same rules for a Secret: immutable type does not hide a metadata error', [
    POST(at('secrets'), secret('s', { labels: { 'bad key': 'v' } })), POST(at('secrets'), { ...secret(), type: 'x/y' }, meta), PUT(at('secrets', 's'), { ...secret('s', { uid: otherUid }), type: 'a/b' }), PUT(at('secrets', 's'), { ...secret('s', { labels: { 'bad key': 'v' } }), type: 'a/b' })]),
  s('pod-system-fields', 'a pod created with status, deletion marks and nominated fields', [
    POST(at('pods'), { ...pod('p', { deletionTimestamp: past, deletionGracePeriodSeconds: 3, generation: 9, uid: otherUid }), status: { phase: 'Running', podIP: '10.9.9.9' } }, { pick: (b) => ({ metadata: b.metadata, status: b.status }) })]),
  s('namespace-metadata', 'names of namespaces in body and label', [
    POST(on('namespaces'), namespace('$ns-x', { labels: { 'kubernetes.io/metadata.name': 'wrong' }, generation: 4 })), POST(on('namespaces'), namespace('Upper')), POST(on('namespaces'), namespace('dots.in.name')), POST(on('namespaces'), namespace('$ns-y', { namespace: '$ns-y' }), metaUnmanaged)], { namespace: false, cleanup: [on('namespaces', '$ns-x'), on('namespaces', '$ns-y')] }),
  s('custom-resource-system-fields', 'a custom resource created with the fields of the server', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), crd(), { compare: 'status' }), POLL(widgets(), (_, st) => st === 200, { compare: 'status' }),
    POST(widgets(), widget('w', { uid: otherUid, creationTimestamp: past, generation: 7, selfLink: '/x', deletionTimestamp: past, deletionGracePeriodSeconds: 9 }), { id: 'w', ...meta }),
    PUT(widgets('w'), widget('w', { generation: 12 })), PUT(widgets('w'), widget('w', { generation: 12, resourceVersion: '${w.metadata.resourceVersion}' }, { size: 2 }), meta),
    PATCH(widgets('w'), 'merge', { metadata: { generation: 44, selfLink: '/y', uid: null, creationTimestamp: past } }, meta), PATCH(widgets('w'), 'merge', { metadata: { uid: otherUid } })], { cleanup: [crdPath()] }),
  s('custom-resource-unknown-metadata', 'unknown and mistyped fields in the metadata of a custom resource', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), crd(), { compare: 'status' }), POLL(widgets(), (_, st) => st === 200, { compare: 'status' }),
    POST(widgets(), widget('w', { colour: 'red' }), { compareHeaders: ['warning'], ...meta }), POST(widgets(), widget('v', { colour: 'red' }), { query: { fieldValidation: 'Strict' } }),
    POST(widgets(), widget('v', { labels: { a: 1 } })), POST(widgets(), widget('v', { finalizers: 'x' })), POST(widgets(), widget('v', { generation: 'x' })), POST(widgets(), { ...widget(), metadata: 'x' })], { cleanup: [crdPath()] }),
];

export default [...onCreate, ...onPut, ...onPatch, ...rest];
