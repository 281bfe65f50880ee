// DELETE of one object: options in body and query, preconditions, propagation, answers (§2.8, §3.1, §4.2).
import { scenario, GET, POST, PATCH, DELETE, POLL } from '../steps.ts';
import * as f from './kit/meta.mjs';

const { at, on, meta, configMap, pod, deployment, job, rc } = f;
const s = (id, about, steps, o = {}) => scenario(`meta-delete-${id}`, { section: '2.8', about, ...o }, steps);
const cms = at('configmaps'), cm = at('configmaps', 'c');
const made = (o = {}) => POST(cms, configMap('c', o), { id: 'o', compare: 'status' });
const brief = { pick: (b) => (b.kind === 'Status' ? b : { kind: b.kind, finalizers: b.metadata.finalizers ?? null, deletionGracePeriodSeconds: b.metadata.deletionGracePeriodSeconds ?? null, deleted: !!b.metadata.deletionTimestamp }) };
const still = (path) => GET(path, brief);
const ok = (body) => ({ apiVersion: 'v1', kind: 'DeleteOptions', ...body });
const uid = '11111111-2222-3333-4444-555555555555';

const bodies = [
  ['no-body', undefined], ['empty-object', {}], ['empty-text', ''], ['v1', ok({})], ['meta-v1', { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' }], ['same-group', { apiVersion: 'apps/v1', kind: 'DeleteOptions' }],
  ['internal', { apiVersion: 'meta.k8s.io/__internal', kind: 'DeleteOptions' }], ['unserved-version', { apiVersion: 'apps/v9', kind: 'DeleteOptions' }], ['unknown-group', { apiVersion: 'nope.example.com/v1', kind: 'DeleteOptions' }], ['kind-only', { kind: 'DeleteOptions' }], ['version-only', { apiVersion: 'v1' }],
  ['wrong-kind', { apiVersion: 'v1', kind: 'Pod' }], ['other-options', { apiVersion: 'v1', kind: 'CreateOptions' }], ['list-options', { apiVersion: 'v1', kind: 'ListOptions' }], ['unknown-field', ok({ colour: 'red' })], ['wrong-type', ok({ gracePeriodSeconds: 'soon' })], ['fraction', ok({ gracePeriodSeconds: 1.5 })],
  ['not-json', '{'], ['array', []], ['null', 'null'], ['number', '7'], ['nulls', ok({ gracePeriodSeconds: null, propagationPolicy: null, preconditions: null, dryRun: null, orphanDependents: null })],
  ['the-object-itself', configMap()], ['duplicate-field', '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":1,"gracePeriodSeconds":2}'],
].map(([id, body]) => s(`body-${id}`, `the body of a DELETE: ${id}`, [made(), DELETE(cm, body, { compareHeaders: ['warning'] }), GET(cm, { compare: 'status' })]));

const media = [
  s('yaml-body', 'options as YAML', [made(), DELETE(cm, 'apiVersion: v1\nkind: DeleteOptions\npropagationPolicy: Orphan\n', { type: 'application/yaml', ...brief })]),
  s('unknown-media-type', 'options in a media type that is not served', [made(), DELETE(cm, '{}', { type: 'text/plain' }), DELETE(cm, '{}', { type: 'application/merge-patch+json' }), DELETE(cm, '{}', { headers: { 'content-type': null }, ...brief })]),
  s('body-with-query', 'a body makes the server ignore the query', [made(), DELETE(cm, ok({}), { query: { propagationPolicy: 'Orphan', dryRun: 'All' } }), GET(cm, { compare: 'status' })]),
  s('body-over-query-policy', 'different policies in body and query: the body counts', [made(), DELETE(cm, ok({ propagationPolicy: 'Foreground' }), { query: { propagationPolicy: 'Orphan' }, ...brief })]),
  s('empty-body-over-query', 'an empty JSON object in the body also hides the query', [made(), DELETE(cm, {}, { query: { propagationPolicy: 'Orphan' } }), GET(cm, { compare: 'status' })]),
  s('query-invalid-with-body', 'an invalid query next to a body is not looked at', [made(), DELETE(cm, ok({}), { query: { propagationPolicy: 'Nope', gracePeriodSeconds: 'x' } })]),
];

const policies = [
  ...['Orphan', 'Background', 'Foreground', 'orphan', 'Nope', ''].map((p) => s(`policy-body-${p || 'empty'}`.replace('orphan', 'lower-case').replace('policy-body-Orphan', 'policy-body-orphan').toLowerCase(), `propagationPolicy ${JSON.stringify(p)} in the body`, [made(), DELETE(cm, ok({ propagationPolicy: p }), brief), still(cm)])),
  ...['Orphan', 'Background', 'Foreground', 'Nope', ''].map((p) => s(`policy-query-${p || 'empty'}`.toLowerCase(), `propagationPolicy ${JSON.stringify(p)} in the query`, [made(), DELETE(cm, undefined, { query: { propagationPolicy: p }, ...brief }), still(cm)])),
  ...['true', 'false', '1', '0', 'yes', '', 'True'].map((v) => s(`orphan-query-${v || 'empty'}`.replace('True', 'upper-case'), `orphanDependents=${v} in the query`, [made(), DELETE(cm, undefined, { query: { orphanDependents: v }, ...brief }), still(cm)])),
  ...[true, false].map((v) => s(`orphan-body-${v}`, `orphanDependents ${v} in the body`, [made(), DELETE(cm, ok({ orphanDependents: v }), brief), still(cm)])),
  s('orphan-false-held', 'orphanDependents false on an object that stays: 202', [made({ finalizers: ['example.com/a'] }), DELETE(cm, ok({ orphanDependents: false }), brief), DELETE(cm, ok({ orphanDependents: false }), brief)]),
  s('orphan-true-held', 'orphanDependents true on an object that stays: 200', [made({ finalizers: ['example.com/a'] }), DELETE(cm, ok({ orphanDependents: true }), brief)]),
  s('orphan-and-policy', 'orphanDependents together with propagationPolicy', [made(), ...[true, false].flatMap((o) => ['Orphan', 'Background', 'Nope'].map((p) => DELETE(cm, ok({ orphanDependents: o, propagationPolicy: p })))), DELETE(cm, undefined, { query: { orphanDependents: 'true', propagationPolicy: 'Orphan' } })]),
  s('policy-background-clears', 'Background removes an orphan finalizer that was there', [made({ finalizers: ['orphan', 'example.com/a'] }), DELETE(cm, ok({ propagationPolicy: 'Background' }), brief)]),
  s('policy-background-clears-last', 'Background on an object whose only finalizer is foregroundDeletion deletes it', [made({ finalizers: ['foregroundDeletion'] }), DELETE(cm, ok({ propagationPolicy: 'Background' }), brief), still(cm)]),
  s('policy-none-keeps-orphan', 'without a policy a present orphan finalizer is honoured', [made({ finalizers: ['orphan'] }), DELETE(cm, undefined, brief)]),
  s('policy-none-keeps-foreground', 'without a policy a present foregroundDeletion finalizer is honoured', [made({ finalizers: ['foregroundDeletion'] }), DELETE(cm, undefined, brief)]),
  s('policy-foreground-over-orphan', 'Foreground replaces an orphan finalizer', [made({ finalizers: ['orphan', 'example.com/a'] }), DELETE(cm, ok({ propagationPolicy: 'Foreground' }), brief)]),
  s('policy-orphan-over-foreground', 'Orphan replaces a foregroundDeletion finalizer', [made({ finalizers: ['example.com/b', 'foregroundDeletion', 'example.com/a'] }), DELETE(cm, ok({ propagationPolicy: 'Orphan' }), brief)]),
  s('policy-changed-by-second', 'a second delete with another policy changes the finalizers', [
    made(), DELETE(cm, ok({ propagationPolicy: 'Foreground' }), brief), DELETE(cm, ok({ propagationPolicy: 'Orphan' }), brief), DELETE(cm, undefined, brief), DELETE(cm, ok({ propagationPolicy: 'Background' }), brief), still(cm)]),
  s('policy-foreground-finished', 'removing foregroundDeletion removes the object', [made(), DELETE(cm, ok({ propagationPolicy: 'Foreground' }), meta), PATCH(cm, 'merge', { metadata: { finalizers: null } }, brief), still(cm)]),
];

const defaults = [
  ['job', 'batch/v1/jobs', job('x')], ['rc', 'replicationcontrollers', rc('x')], ['deployment', 'apps/v1/deployments', deployment('x')], ['replicaset', 'apps/v1/replicasets', f.replicaSet('x')], ['cronjob', 'batch/v1/cronjobs', f.cronJob('x')],
  ['statefulset', 'apps/v1/statefulsets', f.statefulSet('x')], ['daemonset', 'apps/v1/daemonsets', f.daemonSet('x')], ['secret', 'secrets', f.secret('x')], ['service', 'services', f.service('x', {}, { clusterIP: 'None' })], ['event', 'events', f.event('x')],
  ['lease', 'coordination.k8s.io/v1/leases', f.lease('x')], ['pvc', 'persistentvolumeclaims', f.pvc('x')], ['pdb', 'policy/v1/poddisruptionbudgets', f.pdb('x')],
];
const perKind = [
  ...defaults.map(([id, r, body]) => s(`kind-default-${id}`, `a delete without options of this kind: finalizers and answer`, [POST(at(r), body, { compare: 'status' }), DELETE(at(r, 'x'), undefined, brief), still(at(r, 'x'))])),
  ...defaults.map(([id, r, body]) => s(`kind-orphan-${id}`, `a delete with Orphan of this kind`, [POST(at(r), body, { compare: 'status' }), DELETE(at(r, 'x'), ok({ propagationPolicy: 'Orphan' }), brief), still(at(r, 'x'))])),
  s('kind-job-warning', 'a delete of a Job without a policy: what it warns about', [POST(at('batch/v1/jobs'), job(), { compare: 'status' }), DELETE(at('batch/v1/jobs', 'j'), undefined, { compareHeaders: ['warning'], ...meta })]),
  s('kind-job-background', 'a delete of a Job with Background removes it', [POST(at('batch/v1/jobs'), job(), { compare: 'status' }), DELETE(at('batch/v1/jobs', 'j'), ok({ propagationPolicy: 'Background' }), { compareHeaders: ['warning'] })]),
];

// What the server answers when the object is gone at once: the object, or a Status with details.
const answered = [
  ['configmap', 'configmaps', configMap('x')], ['secret', 'secrets', f.secret('x')], ['service', 'services', f.service('x', {}, { clusterIP: 'None' })], ['serviceaccount', 'serviceaccounts', f.serviceAccount('x')], ['pod', 'pods', pod('x')], ['podtemplate', 'podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'x' }, template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }],
  ['resourcequota', 'resourcequotas', f.quota('x', {}, { services: '9' })], ['limitrange', 'limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'x' }, spec: { limits: [] } }], ['endpoints', 'endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'x' } }], ['event', 'events', f.event('x')], ['new-event', 'events.k8s.io/v1/events', { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'x' }, eventTime: '2001-02-03T04:05:06.000000Z', reportingController: 'a.b/c', reportingInstance: 'i', action: 'A', reason: 'R', type: 'Normal', regarding: { kind: 'Pod', namespace: '$ns', name: 'p' } }],
  ['deployment', 'apps/v1/deployments', deployment('x')], ['controllerrevision', 'apps/v1/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'x' }, data: {}, revision: 1 }], ['hpa', 'autoscaling/v2/horizontalpodautoscalers', f.hpa('x')], ['pdb', 'policy/v1/poddisruptionbudgets', f.pdb('x')], ['ingress', 'networking.k8s.io/v1/ingresses', f.ingress('x')],
  ['networkpolicy', 'networking.k8s.io/v1/networkpolicies', f.networkPolicy('x')], ['lease', 'coordination.k8s.io/v1/leases', f.lease('x')], ['role', 'rbac.authorization.k8s.io/v1/roles', f.role('x')], ['endpointslice', 'discovery.k8s.io/v1/endpointslices', f.endpointSlice('x')], ['csistoragecapacity', 'storage.k8s.io/v1/csistoragecapacities', { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', metadata: { name: 'x' }, storageClassName: 's' }],
].map(([id, r, body]) => s(`answer-${id}`, `the answer to the delete of a ${body.kind}, and to a second one`, [POST(at(r), body, { compare: 'status' }), DELETE(at(r, 'x'), ok({ propagationPolicy: 'Background' })), DELETE(at(r, 'x'))]));
const answeredCluster = [
  ['node', 'nodes', f.node('$ns-x')], ['priorityclass', 'scheduling.k8s.io/v1/priorityclasses', f.priorityClass('$ns-x')], ['storageclass', 'storage.k8s.io/v1/storageclasses', f.storageClass('$ns-x')], ['csidriver', 'storage.k8s.io/v1/csidrivers', f.csiDriver('$ns-x')],
  ['csinode', 'storage.k8s.io/v1/csinodes', { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: { name: '$ns-x' }, spec: { drivers: [] } }], ['ingressclass', 'networking.k8s.io/v1/ingressclasses', f.ingressClass('$ns-x')], ['runtimeclass', 'node.k8s.io/v1/runtimeclasses', { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: '$ns-x' }, handler: 'h' }],
  ['clusterrole', 'rbac.authorization.k8s.io/v1/clusterroles', { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-x' }, rules: [] }], ['volumeattachment', 'storage.k8s.io/v1/volumeattachments', f.volumeAttachment('$ns-x')], ['policybinding', 'admissionregistration.k8s.io/v1/validatingadmissionpolicybindings', f.policyBinding('$ns-x')],
  ['webhookconfig', 'admissionregistration.k8s.io/v1/validatingwebhookconfigurations', f.webhookConfig('ValidatingWebhookConfiguration', '$ns-x')],
].map(([id, r, body]) => s(`answer-${id}`, `the answer to the delete of a ${body.kind}, and to a second one`, [POST(on(r), body, { compare: 'status' }), DELETE(on(r, '$ns-x')), DELETE(on(r, '$ns-x'))], { namespace: false, cleanup: [on(r, '$ns-x')] }));
const answeredRest = [
  s('answer-pv', 'a PersistentVolume is held by its protection finalizer', [POST(on('persistentvolumes'), f.pv('$ns-x'), { compare: 'status' }), DELETE(on('persistentvolumes', '$ns-x')), PATCH(on('persistentvolumes', '$ns-x'), 'merge', { metadata: { finalizers: null } }, brief), GET(on('persistentvolumes', '$ns-x'))], { namespace: false }),
  s('answer-pvc', 'a PersistentVolumeClaim is held by its protection finalizer', [POST(at('persistentvolumeclaims'), f.pvc('x'), { compare: 'status' }), DELETE(at('persistentvolumeclaims', 'x')), PATCH(at('persistentvolumeclaims', 'x'), 'merge', { metadata: { finalizers: null } }, brief), GET(at('persistentvolumeclaims', 'x'))]),
  s('answer-custom-resource', 'the delete of a custom resource, with and without a finalizer', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }), POST(f.widgets(), f.widget(), { compare: 'status' }), DELETE(f.widgets('w')), DELETE(f.widgets('w')),
    POST(f.widgets(), f.widget('h', { finalizers: ['example.com/a'] }), { compare: 'status' }), DELETE(f.widgets('h'), ok({ propagationPolicy: 'Foreground' })), PATCH(f.widgets('h'), 'merge', { metadata: { finalizers: [] } }, brief), DELETE(f.widgets('h'))], { cleanup: [f.crdPath()] }),
  s('answer-table', 'a delete that asks for a table or for partial metadata', [
    made(), DELETE(cm, undefined, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: (b) => ({ kind: b.kind, status: b.status, details: b.details }) }), POST(at('pods'), pod(), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { headers: { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' } })]),
  s('answer-held-object', 'an object that stays is answered in full', [made({ finalizers: ['example.com/a'], labels: { a: 'b' } }), DELETE(cm)]),
  s('missing', 'a delete of a missing object, of a missing namespace, of an unknown resource', [DELETE(cm), DELETE('/api/v1/namespaces/$ns-none/configmaps/c'), DELETE(at('nothings', 'c')), DELETE(at('configmaps', 'c', 'status'))]),
  s('protected-priorityclass', 'the priority classes of the system cannot be deleted', [DELETE(on('scheduling.k8s.io/v1/priorityclasses', 'system-node-critical'), undefined, { query: { dryRun: 'All' } })], { namespace: false }),
  s('missing-with-options', 'invalid options are reported before a missing object', [DELETE(cm, ok({ propagationPolicy: 'Nope' })), DELETE(cm, { apiVersion: 'v1', kind: 'Pod' }), DELETE(cm, undefined, { query: { dryRun: 'Some' } })]),
];

const preconditions = [
  s('uid-match', 'a matching uid in the body', [made(), DELETE(cm, ok({ preconditions: { uid: '${o.metadata.uid}' } }))]),
  s('uid-mismatch', 'another uid in the body', [made(), DELETE(cm, ok({ preconditions: { uid } })), still(cm)]),
  s('uid-mismatch-query', 'another uid in the query is a precondition too', [made(), DELETE(cm, undefined, { query: { uid } }), GET(cm, { compare: 'status' })]),
  s('uid-query-preconditions', 'preconditions.uid is not a query parameter', [made(), DELETE(cm, undefined, { query: { 'preconditions.uid': uid } }), GET(cm, { compare: 'status' })]),
  s('uid-empty', 'an empty uid in the body', [made(), DELETE(cm, ok({ preconditions: { uid: '' } }))]),
  s('rv-match', 'a matching resourceVersion in the body', [made(), DELETE(cm, ok({ preconditions: { resourceVersion: '${o.metadata.resourceVersion}' } }))]),
  s('rv-mismatch', 'a stale resourceVersion in the body', [made(), PATCH(cm, 'merge', { data: { k: 'w' } }, { compare: 'status' }), DELETE(cm, ok({ preconditions: { resourceVersion: '${o.metadata.resourceVersion}' } })), still(cm)]),
  s('rv-mismatch-query', 'a resourceVersion in the query is a precondition too', [made(), DELETE(cm, undefined, { query: { resourceVersion: '1' } }), GET(cm, { compare: 'status' })]),
  s('rv-text', 'a resourceVersion that is no number', [made(), DELETE(cm, ok({ preconditions: { resourceVersion: 'abc' } })), DELETE(cm, ok({ preconditions: { resourceVersion: '' } })), DELETE(cm, ok({ preconditions: { resourceVersion: '0' } }))]),
  s('uid-and-rv-mismatch', 'both preconditions wrong: the uid is reported', [made(), DELETE(cm, ok({ preconditions: { uid, resourceVersion: '1' } }))]),
  s('precondition-held', 'preconditions on an object with finalizers', [made({ finalizers: ['example.com/a'] }), DELETE(cm, ok({ preconditions: { uid } })), DELETE(cm, ok({ preconditions: { uid: '${o.metadata.uid}', resourceVersion: '${o.metadata.resourceVersion}' } }), brief), DELETE(cm, ok({ preconditions: { resourceVersion: '${o.metadata.resourceVersion}' } }))]),
  s('precondition-group', 'the precondition message names the resource of a group', [POST(at('apps/v1/deployments'), deployment(), { compare: 'status' }), DELETE(at('apps/v1/deployments', 'w'), ok({ preconditions: { uid } }))]),
  s('precondition-custom-resource', 'the precondition message for a custom resource', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }), POST(f.widgets(), f.widget(), { compare: 'status' }), DELETE(f.widgets('w'), ok({ preconditions: { uid } })), DELETE(f.widgets('w'), ok({ preconditions: { resourceVersion: '1' } }))], { cleanup: [f.crdPath()] }),
];

const dryRuns = [
  s('dry-run', 'a dry-run delete answers like a real one and keeps the object', [made(), DELETE(cm, undefined, { query: { dryRun: 'All' } }), DELETE(cm, ok({ dryRun: ['All'] })), GET(cm, meta)]),
  s('dry-run-held', 'a dry-run delete of an object with finalizers answers it marked, unmarked in the store', [made({ finalizers: ['example.com/a'] }), DELETE(cm, undefined, { query: { dryRun: 'All' }, ...meta }), GET(cm, meta)]),
  s('dry-run-policy', 'a dry-run delete with Foreground', [made(), DELETE(cm, ok({ dryRun: ['All'], propagationPolicy: 'Foreground' }), meta), GET(cm, meta)]),
  s('dry-run-pod', 'a dry-run delete of a pod', [POST(at('pods'), pod('p', {}, { nodeName: 'n' }), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { query: { dryRun: 'All' }, ...meta }), DELETE(at('pods', 'p'), ok({ dryRun: ['All'], gracePeriodSeconds: 0 }), meta), GET(at('pods', 'p'), meta)]),
  s('dry-run-values', 'what dryRun accepts', [made(), DELETE(cm, undefined, { query: { dryRun: 'all' } }), DELETE(cm, ok({ dryRun: ['All', 'All'] }), { compare: 'status' }), DELETE(cm, ok({ dryRun: ['None'] })), DELETE(cm, ok({ dryRun: 'All' })), DELETE(cm, undefined, { query: { dryRun: '' } }), GET(cm, { compare: 'status' })]),
  s('dry-run-precondition', 'a dry-run delete checks preconditions', [made(), DELETE(cm, ok({ dryRun: ['All'], preconditions: { uid } }))]),
  s('dry-run-missing', 'a dry-run delete of a missing object', [DELETE(cm, undefined, { query: { dryRun: 'All' } })]),
];

const unsafe = [
  s('unsafe-alone', 'ignoreStoreReadErrorWithClusterBreakingPotential without the gate is ignored', [made(), DELETE(cm, ok({ ignoreStoreReadErrorWithClusterBreakingPotential: true })), GET(cm, { compare: 'status' })], { section: '3.1' }),
  s('unsafe-query', 'the same in the query', [made(), DELETE(cm, undefined, { query: { ignoreStoreReadErrorWithClusterBreakingPotential: 'true' } })], { section: '3.1' }),
  s('unsafe-with-others', 'together with other options, gate off', [made(), DELETE(cm, ok({ ignoreStoreReadErrorWithClusterBreakingPotential: true, dryRun: ['All'], propagationPolicy: 'Orphan' }), brief), DELETE(cm, ok({ ignoreStoreReadErrorWithClusterBreakingPotential: false, gracePeriodSeconds: 0 }))], { section: '3.1' }),
  s('unsafe-held', 'finalizers are not skipped', [made({ finalizers: ['example.com/a'] }), DELETE(cm, ok({ ignoreStoreReadErrorWithClusterBreakingPotential: true }), brief)], { section: '3.1' }),
  s('unsafe-wrong-type', 'a value of the wrong type', [made(), DELETE(cm, ok({ ignoreStoreReadErrorWithClusterBreakingPotential: 'yes' })), DELETE(cm, undefined, { query: { ignoreStoreReadErrorWithClusterBreakingPotential: 'maybe' } })], { section: '3.1' }),
];

const twice = [
  s('twice-held', 'a second delete of a marked object changes nothing', [made({ finalizers: ['example.com/a'] }), DELETE(cm, undefined, meta), DELETE(cm, undefined, meta), DELETE(cm, ok({ gracePeriodSeconds: 5 }), meta)], { section: '3.1' }),
  s('grace-on-configmap', 'gracePeriodSeconds means nothing to a ConfigMap', [made(), DELETE(cm, ok({ gracePeriodSeconds: 30 })), GET(cm, { compare: 'status' })]),
  s('grace-on-configmap-held', 'gracePeriodSeconds on a ConfigMap with a finalizer', [made({ finalizers: ['example.com/a'] }), DELETE(cm, ok({ gracePeriodSeconds: 30 }), brief)]),
  s('grace-negative-configmap', 'a negative gracePeriodSeconds on a ConfigMap', [made(), DELETE(cm, ok({ gracePeriodSeconds: -5 }))]),
  s('grace-query-values', 'gracePeriodSeconds in the query: text, fraction, empty', [made(), DELETE(cm, undefined, { query: { gracePeriodSeconds: 'x' } }), DELETE(cm, undefined, { query: { gracePeriodSeconds: '1.5' } }), DELETE(cm, undefined, { query: { gracePeriodSeconds: '' } })]),
  s('pod-grace-wraps', 'a grace period of thousands of years', [POST(at('pods'), pod('p', {}, { nodeName: 'n' }), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { query: { gracePeriodSeconds: '260000000000' }, ...brief }), still(at('pods', 'p')), DELETE(at('pods', 'p'), undefined, { query: { gracePeriodSeconds: '0' }, compare: 'status' }), GET(at('pods', 'p'), { compare: 'status' })]),
  s('pod-grace-largest', 'the largest grace period there is', [POST(at('pods'), pod('p', {}, { nodeName: 'n' }), { compare: 'status' }), DELETE(at('pods', 'p'), '{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":9223372036854775807}', { pick: (b) => b.kind }), GET(at('pods', 'p'), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { compare: 'status' }), GET(at('pods', 'p'), { compare: 'status' }), GET(at('pods'), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { query: { gracePeriodSeconds: '0' }, compare: 'status' })]),
  s('pod-grace-largest-query', 'the same in the query', [POST(at('pods'), pod('p', {}, { nodeName: 'n' }), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { query: { gracePeriodSeconds: '9223372036854775807' }, pick: (b) => b.kind }), GET(at('pods', 'p'), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { compare: 'status' }), GET(at('pods', 'p'), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, { query: { gracePeriodSeconds: '0' }, compare: 'status' })]),
  s('pod-own-grace-wraps', 'the same of its own', [POST(at('pods'), pod('p', {}, { nodeName: 'n', terminationGracePeriodSeconds: 9000000000000 }), { compare: 'status' }), DELETE(at('pods', 'p'), undefined, brief), DELETE(at('pods', 'p'), ok({ gracePeriodSeconds: 5 }), brief), DELETE(at('pods', 'p'), ok({ gracePeriodSeconds: 0 }), { compare: 'status' })]),
  s('pod-marked-foreground', 'a marked pod with a finalizer, deleted again in the foreground', [POST(at('pods'), pod('p', { finalizers: ['example.com/a'] }, { nodeName: 'n' }), { compare: 'status' }), DELETE(at('pods', 'p'), ok({ gracePeriodSeconds: 0 }), brief), DELETE(at('pods', 'p'), ok({ propagationPolicy: 'Foreground' }), brief), DELETE(at('pods', 'p'), undefined, brief), DELETE(at('pods', 'p'), ok({ gracePeriodSeconds: 10 }), brief), DELETE(at('pods', 'p'), ok({ propagationPolicy: 'Background', gracePeriodSeconds: 0 }), brief)]),
  s('unknown-query', 'unknown query parameters are ignored', [made(), DELETE(cm, undefined, { query: { colour: 'red' } })]),
  s('repeated-query', 'a query parameter given twice: the first counts', [made(), DELETE(`${cm}?propagationPolicy=Orphan&propagationPolicy=Background`, undefined, brief)]),
  s('with-pretty', 'pretty does not change the answer', [made(), DELETE(cm, undefined, { query: { pretty: 'true' } })]),
  s('post-with-body-get', 'a GET with a body of options is a GET', [made(), { ...GET(cm, brief), body: ok({}) }]),
];

export default [...bodies, ...media, ...policies, ...perKind, ...answered, ...answeredCluster, ...answeredRest, ...preconditions, ...dryRuns, ...unsafe, ...twice];
