// How a namespace ends: the namespace-controller.
import { DELETE, GET, PATCH, POST, scenario } from '../steps.ts';
import * as f from './kit/meta.mjs';
import { cm, cms, del, gone, hold, isMarked, life, make, release, stays, until, WAIT_KIND } from './kit/controllers.mjs';

const { at, on, names, configMap, secret, pod } = f;
const s = (id, about, steps, o = {}) => scenario(`controllers-namespace-${id}`, { section: 'namespace', about, needs: 'controllers', ...o }, steps);
const ns = '/api/v1/namespaces/$ns';
const quiet = { compare: 'status' };
/** The conditions, and what keeps the namespace. */
const shown = { pick: (b) => (b.kind === 'Status' ? b : { conditions: b.status.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]) ?? null, phase: b.status.phase, spec: b.spec, finalizers: b.metadata.finalizers ?? null }) };
const condition = (b, type) => b.status.conditions?.find((c) => c.type === type);
const isLeft = (b) => condition(b, 'NamespaceFinalizersRemaining')?.status === 'True';
const isTold = (b) => b.status.conditions !== undefined;

export default [
  s('empty', 'an empty one goes', [del(ns), gone(ns)]),
  s('content', 'objects of several kinds go with it', [
    make('a'), make('b'), POST(at('secrets'), secret('s'), quiet), POST(at('rbac.authorization.k8s.io/v1/roles'), f.role('r'), quiet), POST(at('coordination.k8s.io/v1/leases'), f.lease('l'), quiet), POST(at('apps/v1/deployments'), f.deployment('d'), quiet),
    del(ns), gone(ns), GET(cms, names), GET(at('secrets'), names), GET(at('rbac.authorization.k8s.io/v1/roles'), names), GET(at('apps/v1/deployments'), names)]),
  s('answer', 'the first delete marks it, a second one changes nothing', [make('a', hold), DELETE(ns, undefined, { ignore: ['metadata.managedFields'] }), until(ns, isLeft, shown), DELETE(ns, undefined, shown), release(cm('a')), gone(ns)]),
  s('held', 'what a finalizer keeps is told in the conditions', [make('a', hold), del(ns), until(ns, isLeft, shown), GET(cm('a'), life)]),
  s('held-managed', 'who writes the conditions', [make('a', hold), del(ns), until(ns, isLeft, { pick: (b) => b.metadata.managedFields?.map(({ manager, operation, subresource, fieldsV1 }) => ({ manager, operation, subresource, fieldsV1 })) ?? b })]),
  s('held-several', 'several kinds and finalizers, counted', [
    make('a', hold), make('b', hold), make('c', { finalizers: ['example.com/hold', 'example.com/more'] }), POST(at('secrets'), secret('s', hold), quiet), POST(at('apps/v1/deployments'), f.deployment('d', hold), quiet),
    del(ns), until(ns, isLeft, shown)]),
  s('released', 'when it is released the namespace goes', [make('a', hold), del(ns), until(ns, isLeft, { compare: 'status' }), release(cm('a')), gone(ns)]),
  s('released-one', 'when one of two is released the conditions say so', [make('a', hold), make('b', hold), del(ns), until(ns, isLeft, shown), release(cm('a')), until(ns, (b) => /has 1 resource/.test(condition(b, 'NamespaceContentRemaining')?.message), shown)]),
  s('pod-free', 'a pod without a node goes at once', [POST(at('pods'), pod('p'), quiet), del(ns), gone(ns)]),
  s('pod-grace', 'a pod with a node has its grace', [POST(at('pods'), pod('p', {}, { nodeName: '$ns-n', terminationGracePeriodSeconds: 3 }), quiet), del(ns), until(at('pods', 'p'), isMarked, life), DELETE(at('pods', 'p'), { gracePeriodSeconds: 0 }, quiet), gone(ns)]),
  s('pod-grace-conditions', 'while a pod has its grace the conditions say that all is well', [POST(at('pods'), pod('p', {}, { nodeName: '$ns-n', terminationGracePeriodSeconds: 600 }), quiet), del(ns), until(ns, isTold, shown), GET(at('pods', 'p'), { pick: (b) => b.metadata.deletionGracePeriodSeconds })]),
  s('pod-held', 'a pod that a finalizer keeps is not told', [POST(at('pods'), pod('p', hold), quiet), del(ns), until(ns, isTold, shown), release(at('pods', 'p')), gone(ns)]),
  s('pods-first', 'nothing else goes before the last pod', [POST(at('pods'), pod('p', hold), quiet), make('a'), del(ns), until(ns, isTold, shown), GET(cm('a'), life), release(at('pods', 'p')), gone(ns)]),
  s('spec-finalizers', 'finalizers of others in its spec keep it', [POST('/api/v1/namespaces', { ...f.namespace('$ns-x'), spec: { finalizers: ['example.com/other'] } }, quiet), POST('/api/v1/namespaces/$ns-x/configmaps', configMap('a'), quiet), del(`${ns}-x`), until(`${ns}-x`, (b) => b.spec.finalizers?.length === 1, shown), GET(`${ns}-x/configmaps`, names)]),
  s('metadata-finalizers', 'finalizers in its metadata keep it, empty', [POST('/api/v1/namespaces', f.namespace('$ns-x', hold), quiet), POST('/api/v1/namespaces/$ns-x/configmaps', configMap('a'), quiet), del(`${ns}-x`), until(`${ns}-x`, (b) => b.spec.finalizers === undefined, shown), release(`${ns}-x`), gone(`${ns}-x`)]),
  s('collector-finalizers', 'finalizers of the garbage collector keep nothing', [make('a', { finalizers: ['orphan'] }), make('b', { finalizers: ['foregroundDeletion'] }), del(ns), gone(ns)]),
  s('job', 'Jobs, which orphan by default', [POST(at('batch/v1/jobs'), f.job('j'), quiet), del(ns), gone(ns)]),
  s('create-while', 'nothing can be created while it ends', [make('a', hold), del(ns), until(ns, isLeft, { compare: 'status' }), POST(cms, configMap('b')), PATCH(cm('a'), 'merge', { data: { k: 'w' } }, { pick: (b) => b.data ?? b })]),
  s('events', 'events go with it', [POST(at('events'), f.event('e'), quiet), del(ns), gone(ns), GET(at('events'), names)]),
  s('again', 'one of the same name is another one', [make('a'), GET(ns, { id: 'before', pick: (b) => b.metadata.uid }), del(ns), gone(ns), POST('/api/v1/namespaces', f.namespace('$ns'), { pick: (b) => b.metadata.uid }), GET(cms, names)]),
  s('foreground', 'deleted in the foreground', [make('a'), DELETE(ns, { propagationPolicy: 'Foreground' }, life), gone(ns)]),
  s('orphan', 'deleted with orphans', [make('a'), DELETE(ns, { propagationPolicy: 'Orphan' }, life), gone(ns)]),
  s('owner', 'what is owned by a namespace goes after it', [GET(ns, { id: 'ns', compare: 'status' }), POST(on('nodes'), f.node('$ns-n', { ownerReferences: [{ apiVersion: 'v1', kind: 'Namespace', name: '$ns', uid: '${ns.metadata.uid}' }] }), quiet), del(ns), gone(ns), gone(on('nodes', '$ns-n'))], { cleanup: [on('nodes', '$ns-n')] }),
  s('webhook', 'a webhook that refuses is told in the conditions', [
    make('a'),
    POST(on('admissionregistration.k8s.io/v1/validatingwebhookconfigurations'), { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: '$ns-w' }, webhooks: [{ name: 'no.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: '${hook.no}', caBundle: '${caBundle}' }, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } }, rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }] }] }, quiet),
    until(ns, () => true, quiet), del(ns), until(ns, (b) => condition(b, 'NamespaceDeletionContentFailure')?.status === 'True', shown), GET(cm('a'), life),
    DELETE(on('admissionregistration.k8s.io/v1/validatingwebhookconfigurations', '$ns-w'), undefined, quiet), gone(ns, { ms: 120_000 })],
    { hooks: { no: (review) => ({ apiVersion: review.apiVersion, kind: review.kind, response: { uid: review.request.uid, allowed: false, status: { message: 'not today' } } }) }, cleanup: [on('admissionregistration.k8s.io/v1/validatingwebhookconfigurations', '$ns-w')] }),
  s('custom', 'objects of a custom kind', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), quiet), until(f.widgets(), () => true, quiet), POST(f.widgets(), f.widget('w', hold), quiet), POST(f.widgets(), f.widget('x'), quiet),
    del(ns), until(ns, isLeft, { ...shown, ...WAIT_KIND }), release(f.widgets('w')), gone(ns, WAIT_KIND)], { cleanup: [f.crdPath()] }),
  s('active', 'one that is not deleted has no conditions', [make('a'), ...stays(cm('a'), 500), GET(ns, shown)]),
];
