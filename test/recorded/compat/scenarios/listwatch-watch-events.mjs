// What a watcher sees of writes: types, object states, versions and selector transitions.
import { scenario, POST, PUT, PATCH, DELETE, APPLY, WATCH, SLEEP } from '../steps.ts';
import { CM, PODS, SECRETS, EVENTS, LEASES, NODES, ns, q, cm, pod, secret, event, lease, node, update, remove, tick, SAW, SAW_BRIEF, make } from './kit/listwatch.mjs';

const w = (path, params = {}) => WATCH('w', q(path, { watch: '1', ...params }));
const labels = (path, l) => update(path, { metadata: { labels: l } });
const status = (path, s) => PATCH(`${path}/status`, 'merge', { status: s }, { compare: 'status' });
const lifecycle = (e) => e.map((x) => { const { managedFields, ...m } = x.object.metadata; return { type: x.type, ...m }; });
const held = (name, more = {}) => cm(name, undefined, { metadata: { finalizers: ['example.com/hold'] }, ...more });
const s = (id, about, steps, o = {}) => scenario(`watch-${id}`, { section: '6.1', about, ...o }, steps);

export default [
  s('added', 'a create is seen as ADDED with the object as the create answered it', [w(CM), POST(CM, cm('a', { l: 'x' }, { data: { k: 'v' } })), SAW('w', 1)]),
  s('modified-patch', 'a patch is seen as MODIFIED with the new state and its version', [...make(CM, cm('a')), SLEEP(100), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), PATCH(`${CM}/a`, 'merge', { data: { x: '1' } }), SAW('w', 1)]),
  s('modified-put', 'a put is seen as MODIFIED', [...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), PUT(`${CM}/a`, cm('a', { l: 'new' })), SAW('w', 1)]),
  s('modified-apply', 'an apply that creates is ADDED, one that changes is MODIFIED, one that changes nothing is not seen', [w(CM), APPLY(`${CM}/a`, 'me', cm('a', undefined, { data: { x: '1' } })), APPLY(`${CM}/a`, 'me', cm('a', undefined, { data: { x: '2' } })), APPLY(`${CM}/a`, 'me', cm('a', undefined, { data: { x: '2' } }), { compare: 'status' }), SAW('w', 2)]),
  s('deleted', 'a delete is seen as DELETED with the last state and a version of its own', [POST(CM, cm('a', undefined, { data: { k: 'v' } }), { id: 'a' }), w(CM, { resourceVersion: '${a.metadata.resourceVersion}' }), DELETE(`${CM}/a`), SAW('w', 1)]),
  s('deleted-version-between', 'the version of a DELETED event lies between those of the writes before and after it', [
    ...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), update(`${CM}/a`, { data: { x: '1' } }), remove(`${CM}/a`), ...make(CM, cm('b')),
    SAW('w', 3, { pick: (e) => e.map((x) => `${x.type} ${x.object.metadata.name} ${x.object.metadata.resourceVersion}`) })]),
  s('deleted-version-usable', 'a watch from the version of a DELETED event sees only what comes after', [
    ...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), SAW_BRIEF('w', 1), ...make(CM, cm('b')),
    WATCH('again', q(CM, { watch: '1', resourceVersion: '${w.0.object.metadata.resourceVersion}' })), SAW_BRIEF('again', 1)]),
  s('no-change', 'a write that changes nothing gives no event', [
    ...make(CM, cm('a', undefined, { data: { x: '1' } })), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), update(`${CM}/a`, { data: { x: '1' } }), PUT(`${CM}/a`, '${made_a}', { compare: 'status' }), update(`${CM}/a`, {}), SAW('w', 1, { ms: 500 })]),
  s('dry-run', 'dry-run writes give no events', [
    ...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), POST(`${CM}?dryRun=All`, cm('b'), { compare: 'status' }), PATCH(`${CM}/a?dryRun=All`, 'merge', { data: { x: '1' } }, { compare: 'status' }), DELETE(`${CM}/a?dryRun=All`, undefined, { compare: 'status' }), SAW('w', 1, { ms: 500 })]),
  s('failed-writes', 'refused writes give no events', [
    ...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), POST(CM, cm('a')), POST(CM, cm('Not_Valid'), { ignore: ['message', 'details'] }), PUT(`${CM}/a`, { ...cm('a'), metadata: { name: 'a', resourceVersion: '1' } }), DELETE(`${CM}/z`), SAW('w', 1, { ms: 500 })]),
  s('order', 'events come in the order of the writes, whichever object they touch', [
    w(CM), ...make(CM, cm('b')), ...make(CM, cm('a')), labels(`${CM}/b`, { n: '1' }), labels(`${CM}/a`, { n: '2' }), labels(`${CM}/b`, { n: '3' }), remove(`${CM}/a`), labels(`${CM}/b`, { n: '4' }), SAW_BRIEF('w', 7)]),
  s('versions-increase', 'the versions of the events of a watch increase', [
    w(CM), ...make(CM, cm('b')), ...make(CM, cm('a')), labels(`${CM}/b`, { n: '1' }), remove(`${CM}/a`), labels(`${CM}/b`, { n: '2' }), remove(`${CM}/b`), SAW('w', 6, { pick: (_, raw) => ({ events: raw.length, increasing: raw.every((e, i) => i === 0 || BigInt(e.object.metadata.resourceVersion) > BigInt(raw[i - 1].object.metadata.resourceVersion)) }) })]),
  s('initial-versions', 'the initial events are in the order of names, not of versions', [...make(CM, cm('b'), cm('a')), SLEEP(200), w(CM), SAW('w', 2, { pick: (_, raw) => raw.map((e, i) => [e.type, e.object.metadata.name, i > 0 && BigInt(e.object.metadata.resourceVersion) < BigInt(raw[i - 1].object.metadata.resourceVersion)]) })]),
  s('recreated', 'an object that is deleted and made again under its name: DELETED, then ADDED with another uid', [...make(CM, cm('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), ...make(CM, cm('a')), SAW('w', 2)]),
  s('two-watchers', 'two watchers of the same collection see the same events', [WATCH('one', q(CM, { watch: '1' })), WATCH('two', q(CM, { watch: 'true' })), ...make(CM, cm('a')), labels(`${CM}/a`, { l: 'x' }), SAW_BRIEF('one', 2), SAW_BRIEF('two', 2)]),
  s('other-namespace', 'a watch of one namespace does not see another', [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-b' } }, { compare: 'status' }), w(CM), POST('/api/v1/namespaces/$ns-b/configmaps', cm('x'), { compare: 'status' }), ...make(CM, cm('a')), SAW_BRIEF('w', 1)], { cleanup: ['/api/v1/namespaces/$ns-b'] }),
  s('other-kind', 'a watch of one kind does not see another', [w(CM), tick(), ...make(CM, cm('a')), SAW_BRIEF('w', 1)]),
  s('absent-namespace', 'a watch in a namespace that does not exist yet opens and sees what is made there later', [
    WATCH('w', q('/api/v1/namespaces/$ns-b/configmaps', { watch: '1' })), POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-b' } }, { compare: 'status' }), POST('/api/v1/namespaces/$ns-b/configmaps', cm('x'), { compare: 'status' }),
    SAW('w', 1, { pick: (e) => e.map((x) => `${x.type} ${x.object.metadata.namespace}/${x.object.metadata.name}`) })], { cleanup: ['/api/v1/namespaces/$ns-b'] }),

  // Finalizers and grace periods.
  s('finalizer', 'deletion with a finalizer: MODIFIED with deletionTimestamp, then DELETED once the finalizer is gone', [
    ...make(CM, held('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), DELETE(`${CM}/a`), PATCH(`${CM}/a`, 'merge', { metadata: { finalizers: null } }), SAW('w', 2)]),
  s('finalizer-with-change', 'the patch that takes the last finalizer away and changes data too: what DELETED shows', [
    ...make(CM, held('a', { data: { x: 'old' } })), remove(`${CM}/a`, { id: 'd' }), SLEEP(100), w(CM, { resourceVersion: '${d.metadata.resourceVersion}' }), PATCH(`${CM}/a`, 'merge', { metadata: { finalizers: null }, data: { x: 'new' } }), SAW('w', 1)]),
  s('finalizer-delete-twice', 'a second delete of an object that waits for its finalizer gives no event', [
    ...make(CM, held('a')), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), remove(`${CM}/a`), SAW_BRIEF('w', 2, { ms: 700 })]),
  s('finalizer-one-of-two', 'taking one of two finalizers away is MODIFIED', [
    ...make(CM, cm('a', undefined, { metadata: { finalizers: ['example.com/one', 'example.com/two'] } })), w(CM, { resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), update(`${CM}/a`, { metadata: { finalizers: ['example.com/two'] } }), update(`${CM}/a`, { metadata: { finalizers: [] } }),
    SAW('w', 3, { pick: (e) => e.map((x) => ({ type: x.type, finalizers: x.object.metadata.finalizers, deleting: !!x.object.metadata.deletionTimestamp, rv: x.object.metadata.resourceVersion })) })]),
  s('orphan-foreground', 'foreground and orphan deletion show as a finalizer', [
    ...make(CM, cm('a'), cm('b')), w(CM, { resourceVersion: '${made_b.metadata.resourceVersion}' }), DELETE(`${CM}/a?propagationPolicy=Foreground`, undefined, { compare: 'status' }), DELETE(`${CM}/b?propagationPolicy=Orphan`, undefined, { compare: 'status' }), SAW('w', 2)]),
  s('pod-graceful', 'a pod on a node is deleted with grace: MODIFIED; then at once: MODIFIED with grace 0 and DELETED', [
    ...make(PODS, pod('a', undefined, { nodeName: 'n1' })), SLEEP(100), w(PODS, { resourceVersion: '${made_a.metadata.resourceVersion}' }), DELETE(`${PODS}/a`, undefined, { compare: 'status' }), DELETE(`${PODS}/a?gracePeriodSeconds=0`, undefined, { compare: 'status' }),
    SAW('w', 3, { pick: lifecycle })]),
  s('pod-unassigned', 'a pod without node is deleted at once, yet seen as MODIFIED with grace 0 before DELETED', [...make(PODS, pod('a')), SLEEP(100), w(PODS, { resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${PODS}/a`), SAW('w', 2, { pick: lifecycle })]),
  s('deletecollection', 'deletecollection is seen as one DELETED for each object, in the order of the list', [
    ...make(CM, cm('b'), cm('a', { l: 'x' }), cm('c')), w(CM, { resourceVersion: '${made_c.metadata.resourceVersion}' }), DELETE(CM, undefined, { compare: 'status' }), SAW_BRIEF('w', 3)]),
  s('deletecollection-selector', 'deletecollection with a selector touches only what matches', [
    ...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' })), w(CM, { resourceVersion: '${made_c.metadata.resourceVersion}' }), DELETE(q(CM, { labelSelector: 'l=x' }), undefined, { compare: 'status' }), SAW_BRIEF('w', 2)]),
  s('namespace-terminating', 'the deletion of a namespace is seen on the namespace as MODIFIED', [
    POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-b' } }, { compare: 'status', id: 'n' }), WATCH('w', q('/api/v1/namespaces', { watch: '1', fieldSelector: 'metadata.name=$ns-b', resourceVersion: '${n.metadata.resourceVersion}' })), remove('/api/v1/namespaces/$ns-b'),
    SAW('w', 1)]),

  // Label selectors.
  s('label-start-matching', 'an object that begins to match is seen as ADDED', [...make(CM, cm('a')), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), PATCH(`${CM}/a`, 'merge', { metadata: { labels: { l: 'x' } } }), SAW('w', 1)]),
  s('label-stop-matching', 'an object that no longer matches is seen as DELETED: the former state with the new version', [...make(CM, cm('a', { l: 'x' })), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), PATCH(`${CM}/a`, 'merge', { metadata: { labels: { l: 'y' } }, data: { n: '1' } }), SAW('w', 1)]),
  s('label-keep-matching', 'an object that matches before and after is MODIFIED', [...make(CM, cm('a', { l: 'x' })), w(CM, { labelSelector: 'l', resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${CM}/a`, { l: 'y' }), SAW('w', 1)]),
  s('label-never-matching', 'an object that never matches is never seen', [w(CM, { labelSelector: 'l=x' }), ...make(CM, cm('a', { l: 'y' })), labels(`${CM}/a`, { l: 'z' }), remove(`${CM}/a`), SAW('w', 1, { ms: 600 })]),
  s('label-life', 'in and out and in again, then deleted', [
    w(CM, { labelSelector: 'l=x' }), ...make(CM, cm('a')), labels(`${CM}/a`, { l: 'x' }), labels(`${CM}/a`, { m: '1' }), labels(`${CM}/a`, { l: null }), labels(`${CM}/a`, { m: '2' }), labels(`${CM}/a`, { l: 'x' }), remove(`${CM}/a`), SAW_BRIEF('w', 5)]),
  s('label-deleted-unmatched', 'the delete of an object that had stopped matching is not seen again', [...make(CM, cm('a', { l: 'x' })), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${CM}/a`, { l: 'y' }), remove(`${CM}/a`), SAW_BRIEF('w', 1, { quiet: 500 })]),
  s('label-deleted-matched', 'the delete of an object that matches is DELETED', [...make(CM, cm('a', { l: 'x' })), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), SAW('w', 1)]),
  s('label-not-equals', 'a negative selector: setting the label takes the object away', [...make(CM, cm('a')), w(CM, { labelSelector: 'l!=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${CM}/a`, { l: 'x' }), labels(`${CM}/a`, { l: 'y' }), SAW_BRIEF('w', 2)]),
  s('label-set', 'set-based selectors', [w(CM, { labelSelector: 'l in (x,y),!hidden' }), ...make(CM, cm('a', { l: 'x' })), labels(`${CM}/a`, { l: 'y' }), labels(`${CM}/a`, { hidden: '' }), labels(`${CM}/a`, { hidden: null, l: 'z' }), labels(`${CM}/a`, { l: 'x' }), SAW_BRIEF('w', 4)]),
  s('label-initial', 'the initial state holds only what matches', [...make(CM, cm('a', { l: 'x' }), cm('b'), cm('c', { l: 'x' })), SLEEP(200), w(CM, { labelSelector: 'l=x' }), SAW_BRIEF('w', 2)]),
  s('label-history', 'a watch from an older version replays the transitions of a selector', [
    ...make(CM, cm('a')), labels(`${CM}/a`, { l: 'x' }), labels(`${CM}/a`, { l: 'y' }), ...make(CM, cm('b', { l: 'x' })), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), SAW_BRIEF('w', 3)]),
  s('label-finalizer', 'an object that is being deleted stops matching', [
    ...make(CM, cm('a', { l: 'x' }, { metadata: { finalizers: ['example.com/hold'] } })), w(CM, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), remove(`${CM}/a`), labels(`${CM}/a`, { l: 'y' }), update(`${CM}/a`, { metadata: { finalizers: null } }), SAW_BRIEF('w', 2)]),
  s('label-all-namespaces', 'a watch across namespaces with a label of one\'s own', [WATCH('w', q('/api/v1/configmaps', { watch: '1', labelSelector: 'own=$ns' })), ...make(CM, cm('a', { own: '$ns' }), cm('b')), labels(`${CM}/a`, { own: 'none' }), SAW_BRIEF('w', 2)]),
  s('label-events', 'label transitions of events, a kind that is not cached', [
    ...make(EVENTS, event('a')), w(EVENTS, { labelSelector: 'l=x', resourceVersion: '${made_a.metadata.resourceVersion}' }), labels(`${EVENTS}/a`, { l: 'x' }), labels(`${EVENTS}/a`, { m: '1' }), labels(`${EVENTS}/a`, { l: 'y' }), remove(`${EVENTS}/a`), SAW_BRIEF('w', 3)]),

  // Field selectors.
  s('field-name', 'a watch of one name', [...make(CM, cm('a'), cm('b')), SLEEP(200), w(CM, { fieldSelector: 'metadata.name=a' }), labels(`${CM}/b`, { l: 'x' }), labels(`${CM}/a`, { l: 'x' }), remove(`${CM}/b`), remove(`${CM}/a`), SAW_BRIEF('w', 3)]),
  s('field-name-later', 'a watch of a name that does not exist yet', [w(CM, { fieldSelector: 'metadata.name=a' }), ...make(CM, cm('b'), cm('a')), SAW('w', 1)]),
  s('field-name-not', 'a watch of all but one name', [w(CM, { fieldSelector: 'metadata.name!=a' }), ...make(CM, cm('a'), cm('b')), SAW_BRIEF('w', 1)]),
  s('field-name-all-namespaces', 'a watch of one name in one namespace, across namespaces', [WATCH('w', q('/api/v1/configmaps', { watch: '1', fieldSelector: 'metadata.name=a,metadata.namespace=$ns' })), ...make(CM, cm('b'), cm('a')), SAW_BRIEF('w', 1)]),
  s('field-phase', 'pods by phase: a status change moves the pod in and out', [
    ...make(PODS, pod('a')), w(PODS, { fieldSelector: 'status.phase=Running', resourceVersion: '${made_a.metadata.resourceVersion}' }), status(`${PODS}/a`, { phase: 'Running' }), status(`${PODS}/a`, { message: 'm' }), status(`${PODS}/a`, { phase: 'Succeeded' }),
    SAW('w', 3, { pick: (e) => e.map((x) => ({ type: x.type, rv: x.object.metadata.resourceVersion, phase: x.object.status.phase, message: x.object.status.message })) })]),
  s('field-node-binding', 'a scheduler\'s and a node\'s view of a binding: DELETED for the unassigned, ADDED for the node', [
    ...make(PODS, pod('a')), WATCH('unassigned', q(PODS, { watch: '1', fieldSelector: 'spec.nodeName=', resourceVersion: '${made_a.metadata.resourceVersion}' })), WATCH('onNode', q(PODS, { watch: '1', fieldSelector: 'spec.nodeName=n1' })),
    POST(`${PODS}/a/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target: { apiVersion: 'v1', kind: 'Node', name: 'n1' } }), SAW('unassigned', 1), SAW('onNode', 1)]),
  s('field-pod-fields', 'several fields of pods at once', [w(PODS, { fieldSelector: 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed' }), ...make(PODS, pod('a'), pod('b', undefined, { nodeName: 'n1' })), status(`${PODS}/b`, { phase: 'Failed' }), SAW('w', 2, { pick: (e) => e.map((x) => `${x.type} ${x.object.metadata.name} ${x.object.metadata.resourceVersion} ${x.object.status.phase}`) })]),
  s('field-secret-type', 'secrets by type', [w(SECRETS, { fieldSelector: 'type=example.com/own' }), ...make(SECRETS, secret('a'), secret('b', 'example.com/own')), remove(`${SECRETS}/a`), remove(`${SECRETS}/b`), SAW('w', 2)]),
  s('field-event', 'events by involved object', [w(EVENTS, { fieldSelector: 'involvedObject.name=s' }), ...make(EVENTS, event('a'), event('b', { name: 's' })), SAW('w', 1)]),
  s('field-node-unschedulable', 'nodes by spec.unschedulable', [
    ...make(NODES, node('$ns-n', { own: '$ns' })), WATCH('w', q(NODES, { watch: '1', labelSelector: 'own=$ns', fieldSelector: 'spec.unschedulable=true', resourceVersion: '${made_$ns-n.metadata.resourceVersion}' })), update(`${NODES}/$ns-n`, { spec: { unschedulable: true } }), update(`${NODES}/$ns-n`, { spec: { unschedulable: null } }),
    SAW('w', 2, { pick: (e) => e.map((x) => ({ type: x.type, rv: x.object.metadata.resourceVersion, spec: x.object.spec })) })], { namespace: false, cleanup: [`${NODES}/$ns-n`] }),
  s('field-and-label', 'a label and a field selector must both match', [w(CM, { fieldSelector: 'metadata.name=a', labelSelector: 'l=x' }), ...make(CM, cm('a'), cm('b', { l: 'x' })), labels(`${CM}/a`, { l: 'x' }), labels(`${CM}/a`, { l: 'y' }), SAW_BRIEF('w', 2)]),

  // Kinds.
  s('kind-pod', 'a pod and its status subresource', [w(PODS), ...make(PODS, pod('a')), PATCH(`${PODS}/a/status`, 'merge', { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }), SAW('w', 2)]),
  s('kind-secret', 'a secret with data', [w(SECRETS), POST(SECRETS, { ...secret('a'), stringData: { k: 'v' } }), SAW('w', 1)]),
  s('kind-event', 'an event, of a kind that is not cached: made, changed and deleted', [w(EVENTS), POST(EVENTS, event('a')), PATCH(`${EVENTS}/a`, 'merge', { count: 2 }), DELETE(`${EVENTS}/a`), SAW('w', 3)]),
  s('kind-event-other-version', 'an event made through v1 and watched through events.k8s.io/v1', [w(ns('events', '/apis/events.k8s.io/v1')), ...make(EVENTS, event('a')), SAW('w', 1)]),
  s('kind-hpa-other-version', 'an autoscaler made through v2 and watched through v1, and the other way round', [
    WATCH('v1', q(ns('horizontalpodautoscalers', '/apis/autoscaling/v1'), { watch: '1' })), WATCH('v2', q(ns('horizontalpodautoscalers', '/apis/autoscaling/v2'), { watch: '1' })),
    POST(ns('horizontalpodautoscalers', '/apis/autoscaling/v2'), { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' }, spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } }] } }, { compare: 'status' }),
    SAW('v1', 1), SAW('v2', 1)]),
  s('kind-lease', 'a lease that is renewed', [w(LEASES), ...make(LEASES, lease('a', undefined, { holderIdentity: 'me' })), PATCH(`${LEASES}/a`, 'merge', { spec: { holderIdentity: 'you' } }, { id: 'r' }), SAW('w', 2)]),
  s('kind-node', 'a node: cluster-scoped', [WATCH('w', q(NODES, { watch: '1', labelSelector: 'own=$ns' })), POST(NODES, node('$ns-n', { own: '$ns' })), PATCH(`${NODES}/$ns-n/status`, 'merge', { status: { phase: 'Running' } }, { compare: 'status' }), DELETE(`${NODES}/$ns-n`), SAW('w', 3)], { namespace: false }),
  s('kind-namespace', 'a namespace that is made and labelled', [
    WATCH('w', q('/api/v1/namespaces', { watch: '1', labelSelector: 'own=$ns' })), POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-b', labels: { own: '$ns' } } }), PATCH('/api/v1/namespaces/$ns-b', 'merge', { metadata: { labels: { l: 'x' } } }), SAW('w', 2)], { cleanup: ['/api/v1/namespaces/$ns-b'] }),
  s('kind-deployment-scale', 'a change through the scale subresource is MODIFIED on the parent', [
    POST(ns('deployments', '/apis/apps/v1'), { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: { replicas: 1, selector: { matchLabels: { a: 'a' } }, template: { metadata: { labels: { a: 'a' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } } }, { compare: 'status', id: 'd' }),
    w(ns('deployments', '/apis/apps/v1'), { resourceVersion: '${d.metadata.resourceVersion}' }), PATCH(`${ns('deployments', '/apis/apps/v1')}/a/scale`, 'merge', { spec: { replicas: 3 } }), SAW('w', 1)]),
];
