// What watchers see of creations, marks, finalizers and removals; and CRDs that go with their objects (§3.1, §6.1).
import { scenario, GET, POST, PUT, PATCH, DELETE, WATCH, WATCHED, POLL } from '../steps.ts';
import * as f from './kit/meta.mjs';

const { at, on, configMap, pod } = f;
const s = (id, about, steps, o = {}) => scenario(`meta-watch-${id}`, { section: '6.1', about, ...o }, steps);
const cms = at('configmaps'), cm = at('configmaps', 'c');
/** Type, resourceVersion and the marks of each event. */
const seen = { pick: (events) => events.map((e) => (e.object?.metadata ? { type: e.type, name: e.object.metadata.name, rv: e.object.metadata.resourceVersion, finalizers: e.object.metadata.finalizers ?? null, deleted: !!e.object.metadata.deletionTimestamp, grace: e.object.metadata.deletionGracePeriodSeconds ?? null, data: e.object.data ?? null, labels: e.object.metadata.labels ?? null } : e)) };
const rv = { pick: (b) => (b.kind === 'Status' ? b : { rv: b.metadata.resourceVersion }) };
const watch = (path = cms, query = {}) => WATCH('w', path, { query: { watch: 'true', ...query } });
const watched = (events, o = {}) => WATCHED('w', { events, quiet: 300, ...seen, ...o });

export default [
  s('life', 'create, change and delete: ADDED, MODIFIED, DELETED with the last state', [watch(), POST(cms, configMap(), rv), PATCH(cm, 'merge', { data: { k: 'w' } }, rv), DELETE(cm), watched(3)]),
  s('finalizer', 'a held object: the mark is MODIFIED, the removal of the finalizer DELETED', [watch(), POST(cms, configMap('c', { finalizers: ['example.com/a'] }), rv), DELETE(cm, undefined, rv), PATCH(cm, 'merge', { metadata: { finalizers: null } }, rv), watched(3)]),
  s('finalizer-with-change', 'a change sent with the removal of the last finalizer', [watch(), POST(cms, configMap('c', { finalizers: ['example.com/a'] }), rv), DELETE(cm, undefined, rv), PUT(cm, configMap('c', { labels: { last: 'yes' } }, { k: 'last' }), rv), watched(3)]),
  s('no-op', 'writes that change nothing make no event', [watch(), POST(cms, configMap(), rv), PUT(cm, configMap(), rv), PATCH(cm, 'merge', {}, rv), PATCH(cm, 'merge', { metadata: { generation: 7 } }, rv), DELETE(cm, { dryRun: ['All'] }, { compare: 'status' }), watched(1)]),
  s('foreground', 'a delete with Foreground and its end', [watch(), POST(cms, configMap(), rv), DELETE(cm, { propagationPolicy: 'Foreground' }, rv), DELETE(cm, { propagationPolicy: 'Background' }, { compare: 'status' }), watched(3)]),
  s('pod-graceful', 'a pod with a node: MODIFIED at the mark, DELETED at grace 0', [watch(at('pods')), POST(at('pods'), pod('p', {}, { nodeName: 'n' }), rv), DELETE(at('pods', 'p'), { gracePeriodSeconds: 30 }, rv), DELETE(at('pods', 'p'), { gracePeriodSeconds: 10 }, rv), DELETE(at('pods', 'p'), { gracePeriodSeconds: 0 }, { compare: 'status' }), watched(5)]),
  s('pod-unbound', 'a pod without a node: what its immediate delete looks like', [watch(at('pods')), POST(at('pods'), pod(), rv), DELETE(at('pods', 'p'), undefined, { compare: 'status' }), watched(3)]),
  s('collection', 'a delete of the collection', [...['a', 'b'].map((n) => POST(cms, configMap(n), rv)), watch(), DELETE(cms, undefined, { compare: 'status' }), watched(4)]),
  s('recreated', 'delete and create again: two objects for the watcher', [watch(), POST(cms, configMap(), rv), DELETE(cm, undefined, { compare: 'status' }), POST(cms, configMap(), rv), watched(3)]),
  s('status', 'a write of the status is an event for the object', [watch(at('pods')), POST(at('pods'), pod(), rv), PATCH(at('pods', 'p', 'status'), 'merge', { status: { message: 'm' } }, rv), watched(2)]),
  s('scale', 'a write of the scale is an event for the object', [watch(at('apps/v1/deployments')), POST(at('apps/v1/deployments'), f.deployment(), rv), PATCH(at('apps/v1/deployments', 'w', 'scale'), 'merge', { spec: { replicas: 3 } }, rv), watched(2)]),
  s('namespace', 'a namespace: marked, finalized', [POST(on('namespaces'), f.namespace('$ns-x'), { compare: 'status' }), watch(on('namespaces'), { fieldSelector: 'metadata.name=$ns-x' }), DELETE(on('namespaces', '$ns-x'), undefined, rv), PUT(on('namespaces', '$ns-x', 'finalize'), { ...f.namespace('$ns-x'), spec: { finalizers: [] } }, rv), watched(3)], { namespace: false, cleanup: [on('namespaces', '$ns-x')] }),
  s('label-left', 'an object that leaves the selector is DELETED, in its former state', [watch(cms, { labelSelector: 'a=1' }), POST(cms, configMap('c', { labels: { a: '1' } }), rv), PATCH(cm, 'merge', { metadata: { labels: { a: '2' } } }, rv), PATCH(cm, 'merge', { metadata: { labels: { a: '1' } } }, rv), DELETE(cm, undefined, { compare: 'status' }), watched(4)]),
  s('one-object', 'a watch of one object by its name', [POST(cms, configMap('other'), rv), watch(cms, { fieldSelector: 'metadata.name=c' }), POST(cms, configMap(), rv), PATCH(at('configmaps', 'other'), 'merge', { data: { z: '1' } }, rv), DELETE(cm, undefined, { compare: 'status' }), watched(2)]),
  s('partial', 'events as partial metadata', [WATCH('w', cms, { query: { watch: 'true' }, headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } }), POST(cms, configMap(), rv), DELETE(cm, undefined, { compare: 'status' }), WATCHED('w', { events: 2 })]),

  s('crd-deletion', 'a CRD takes its objects with it', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }), POST(f.widgets(), f.widget(), { compare: 'status' }), watch(f.widgets()), DELETE(f.crdPath(), undefined, { pick: (b) => ({ finalizers: b.metadata.finalizers, deleted: !!b.metadata.deletionTimestamp, grace: b.metadata.deletionGracePeriodSeconds }) }),
    POLL(f.crdPath(), (_, st) => st === 404, { ms: 90000 }), watched(2), GET(f.widgets('w'))], { section: '3.1', cleanup: [f.crdPath()] }),
  s('crd-deletion-held', 'an object with a finalizer holds its CRD; no creates meanwhile', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }), POST(f.widgets(), f.widget('w', { finalizers: ['example.com/a'] }), { compare: 'status' }), DELETE(f.crdPath(), undefined, { compare: 'status' }),
    POLL(f.crdPath(), (b) => b.status?.conditions?.some((c) => c.type === 'Terminating' && c.reason === 'InstanceDeletionInProgress'), { ms: 90000, pick: (b) => b.status.conditions.map((c) => [c.type, c.status, c.reason, c.message]) }), POLL(f.widgets('w'), (b) => b.metadata?.deletionTimestamp, { ms: 90000, pick: (b) => ({ finalizers: b.metadata.finalizers, deleted: !!b.metadata.deletionTimestamp }) }),
    { ...POST(f.widgets(), f.widget('late')), kind: 'poll', until: (_, st) => st !== 201, ms: 10000 }, PATCH(f.widgets('w'), 'merge', { spec: { size: 2 } }, f.only('spec')), PATCH(f.widgets('w'), 'merge', { metadata: { finalizers: null } }, { compare: 'status' }), DELETE(f.widgets(), undefined, { compare: 'status' }), POLL(f.crdPath(), (_, st) => st === 404, { ms: 90000, compare: 'status' })], { section: '3.1', cleanup: [f.crdPath()] }),
];
