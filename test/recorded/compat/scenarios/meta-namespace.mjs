// The life of a namespace: labels, finalize, status, Terminating (§2.1, §3.1).
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';
import { on, only, configMap, pod, namespace, deployment, lease, meta } from './kit/meta.mjs';

const s = (id, about, steps, o = {}) => scenario(`meta-namespace-${id}`, { section: '3.1', about, namespace: false, cleanup: [on('namespaces', '$ns-x')], ...o }, steps);
const all = on('namespaces'), x = on('namespaces', '$ns-x'), fin = on('namespaces', '$ns-x', 'finalize'), st = on('namespaces', '$ns-x', 'status');
const made = (m = {}) => POST(all, namespace('$ns-x', m), { id: 'o', compare: 'status' });
const life = { pick: (b) => (b.kind === 'Status' ? b : { phase: b.status.phase, spec: b.spec, finalizers: b.metadata.finalizers ?? null, deleted: !!b.metadata.deletionTimestamp, grace: b.metadata.deletionGracePeriodSeconds ?? null }) };
const finalize = (finalizers, o = {}) => ({ ...namespace('$ns-x', o.metadata), spec: { finalizers }, ...o.rest });
const inside = (r, n) => `/api/v1/namespaces/$ns-x/${r}${n ? `/${n}` : ''}`;

export default [
  s('create', 'labels, finalizers and status of a new namespace', [POST(all, namespace('$ns-x'))]),
  s('create-labels', 'the name label is added to others, and corrected', [POST(all, namespace('$ns-x', { labels: { a: 'b', 'kubernetes.io/metadata.name': 'other' } }), meta)]),
  s('create-spec', 'finalizers of the spec sent with the create', [POST(all, { ...namespace('$ns-x'), spec: { finalizers: ['example.com/mine'] } }, life), POST(all, { ...namespace('$ns-y'), spec: { finalizers: ['kubernetes'] } }, life), POST(all, { ...namespace('$ns-z'), spec: { finalizers: ['plain'] } })], { cleanup: [x, `${all}/$ns-y`, `${all}/$ns-z`] }),
  s('create-status', 'a status sent with the create is ignored', [POST(all, { ...namespace('$ns-x'), status: { phase: 'Terminating', conditions: [{ type: 'T', status: 'True' }] } }, life)]),
  s('create-finalizers', 'metadata.finalizers of a namespace', [POST(all, namespace('$ns-x', { finalizers: ['example.com/a'] }), life), PATCH(x, 'merge', { metadata: { finalizers: null } }, life)]),
  s('create-generate-name', 'the name label follows the generated name', [POST(all, { apiVersion: 'v1', kind: 'Namespace', metadata: { generateName: '$ns-' } }, { id: 'g', pick: (b) => b.metadata.labels['kubernetes.io/metadata.name'] === b.metadata.name }), DELETE(`${all}/\${g.metadata.name}`, undefined, { compare: 'status' })]),
  s('create-dry-run', 'a dry-run create', [POST(all, namespace('$ns-x'), { query: { dryRun: 'All' } }), GET(x)]),
  s('create-twice', 'a name that is taken', [made(), POST(all, namespace('$ns-x'))]),
  ...['Upper', 'a.b', '-a', 'a-', 'a_b', 'x'.repeat(64), ''].map((n, i) => s(`name-${i}`, `an invalid name: ${n.slice(0, 10) || '(empty)'}`, [POST(all, namespace(n))], { cleanup: [] })),
  s('update-label', 'the name label cannot be removed or changed', [made(), PATCH(x, 'merge', { metadata: { labels: { 'kubernetes.io/metadata.name': null } } }, meta), PATCH(x, 'merge', { metadata: { labels: { 'kubernetes.io/metadata.name': 'x', a: 'b' } } }, meta), PUT(x, namespace('$ns-x'), meta)]),
  s('update-spec', 'an update of the namespace cannot change its spec', [made(), PATCH(x, 'merge', { spec: { finalizers: [] } }, life), PUT(x, finalize(['example.com/a']), life)]),
  s('update-status-ignored', 'an update of the namespace cannot change its status', [made(), PATCH(x, 'merge', { status: { phase: 'Terminating' } }, life)]),
  s('status-get', 'GET on /status answers the namespace', [made(), GET(st)]),
  s('status-phase', 'phases by /status', [made(), PATCH(st, 'merge', { status: { phase: 'Terminating' } }), PATCH(st, 'merge', { status: { phase: 'Nope' } }), PATCH(st, 'merge', { status: { phase: 'Active' } }, { compare: 'status' })]),
  s('status-conditions', 'conditions by /status, spec and labels ignored or not', [made(), PATCH(st, 'merge', { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { finalizers: [] }, status: { conditions: [{ type: 'T', status: 'True', lastTransitionTime: '2001-02-03T04:05:06Z', reason: 'R', message: 'm' }] } })]),
  s('status-put', 'a PUT on /status', [made(), PUT(st, { ...namespace('$ns-x', { labels: { n: 'm' } }), status: { phase: 'Active', conditions: [{ type: 'T', status: 'False' }] } })]),
  s('status-terminating-phase', 'while Terminating, /status cannot make it Active', [made(), DELETE(x, undefined, life), PATCH(st, 'merge', { status: { phase: 'Active' } })]),
  s('finalize-live', 'finalize on a live namespace removes the finalizer and keeps the namespace', [made(), PUT(fin, finalize([])), GET(x, life)]),
  s('finalize-other', 'other finalizers by finalize', [made(), PUT(fin, finalize(['example.com/a', 'kubernetes']), life), PUT(fin, finalize(['plain'])), PUT(fin, finalize(['']))]),
  s('finalize-metadata', 'labels, annotations and status sent to finalize', [made(), PUT(fin, finalize(['kubernetes'], { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, rest: { status: { phase: 'Terminating' } } }))]),
  s('finalize-stale', 'resourceVersion and uid sent to finalize', [made(), PUT(fin, finalize([], { metadata: { resourceVersion: '1' } })), PUT(fin, finalize([], { metadata: { uid: '11111111-2222-3333-4444-555555555555' } })), PUT(fin, finalize([], { metadata: { resourceVersion: '${o.metadata.resourceVersion}' } }), life)]),
  s('finalize-wrong', 'wrong names, kinds and methods on finalize', [
    made(), PUT(fin, { ...finalize([]), metadata: { name: '$ns-y' } }), PUT(fin, { apiVersion: 'v1', kind: 'Pod', metadata: { name: '$ns-x' } }), GET(fin), PATCH(fin, 'merge', { spec: { finalizers: [] } }), POST(fin, finalize([])), DELETE(fin), PUT(on('namespaces', '$ns-none', 'finalize'), { ...finalize([]), metadata: { name: '$ns-none' } })]),
  s('finalize-dry-run', 'a dry run of finalize', [made(), PUT(fin, finalize([]), { query: { dryRun: 'All' }, ...life }), GET(x, life)]),
  s('delete', 'a delete marks the namespace and answers it', [made(), DELETE(x), GET(x, life)]),
  s('delete-twice', 'a second delete answers the marked namespace', [made(), DELETE(x, undefined, life), DELETE(x), GET(x, life)]),
  s('delete-finalize', 'finalize removes the marked namespace', [made(), DELETE(x, undefined, life), PUT(fin, finalize([])), GET(x)]),
  s('delete-finalize-held', 'metadata.finalizers still hold it after finalize', [made({ finalizers: ['example.com/a'] }), DELETE(x, undefined, life), PUT(fin, finalize([], { metadata: { finalizers: ['example.com/a'] } }), life), GET(x, life), PATCH(x, 'merge', { metadata: { finalizers: null } }, life), GET(x)]),
  s('delete-metadata-first', 'metadata.finalizers removed first, then finalize', [made({ finalizers: ['example.com/a'] }), DELETE(x, undefined, life), PATCH(x, 'merge', { metadata: { finalizers: null } }, life), GET(x, life), PUT(fin, finalize([]), life), GET(x)]),
  s('delete-after-finalize', 'a live namespace without finalizers: the first delete only marks it, a second one removes it', [made(), PUT(fin, finalize([]), life), DELETE(x), GET(x, life), DELETE(x), GET(x)]),
  s('delete-finalizer-added', 'no new finalizer of the spec while Terminating', [made(), DELETE(x, undefined, life), PUT(fin, finalize(['kubernetes', 'example.com/new']), life), PATCH(x, 'merge', { metadata: { finalizers: ['example.com/n'] } })]),
  ...['Orphan', 'Foreground', 'Background'].map((p) => s(`delete-${p.toLowerCase()}`, `a delete with ${p}`, [made(), DELETE(x, { propagationPolicy: p }, life), GET(x, life), DELETE(x, { propagationPolicy: 'Background' }, life)])),
  s('delete-orphan-dependents', 'a delete with orphanDependents false', [made(), DELETE(x, { orphanDependents: false }, life)]),
  s('delete-grace', 'gracePeriodSeconds means nothing', [made(), DELETE(x, { gracePeriodSeconds: 0 }, life), GET(x, life)]),
  s('delete-precondition', 'preconditions of a namespace delete', [made(), DELETE(x, { preconditions: { uid: '11111111-2222-3333-4444-555555555555' } }), DELETE(x, { preconditions: { resourceVersion: '1' } }), DELETE(x, { preconditions: { uid: '${o.metadata.uid}', resourceVersion: '${o.metadata.resourceVersion}' } }, life)]),
  s('delete-dry-run', 'a dry-run delete', [made(), DELETE(x, undefined, { query: { dryRun: 'All' }, ...life }), GET(x, life)]),
  s('delete-missing', 'a delete of a missing namespace', [DELETE(on('namespaces', '$ns-none'))], { cleanup: [] }),
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((n) => s(`protected-${n}`, `a dry-run delete of ${n}`, [DELETE(on('namespaces', n), undefined, { query: { dryRun: 'All' }, ...(n === 'kube-node-lease' ? life : {}) })], { cleanup: [] })),
  s('protected-options', 'invalid options are reported before the protection', [DELETE(on('namespaces', 'default'), { propagationPolicy: 'Nope', dryRun: ['All'] }), DELETE(on('namespaces', 'default'), { dryRun: ['All'], preconditions: { uid: '11111111-2222-3333-4444-555555555555' } })], { cleanup: [] }),
  s('protected-alice', 'authorization comes before the protection', [DELETE(on('namespaces', 'default'), undefined, { as: 'alice', query: { dryRun: 'All' } })], { cleanup: [] }),
  s('terminating-create', 'creates in a Terminating namespace are refused with a cause', [
    made(), DELETE(x, undefined, life), POST(inside('configmaps'), configMap('late')), POST(inside('pods'), pod('late')), POST('/apis/apps/v1/namespaces/$ns-x/deployments', deployment('late')), POST(inside('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'g-' } })]),
  s('terminating-put-create', 'PUT and apply that would create are refused too', [
    made(), DELETE(x, undefined, life), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns-x/leases/l', lease('l')), PATCH(inside('configmaps', 'a'), 'apply-yaml', configMap('a'), { query: { fieldManager: 'm' } })]),
  s('terminating-update', 'updates and deletes of what is there go on', [
    made(), POST(inside('configmaps'), configMap('c'), { compare: 'status' }), DELETE(x, undefined, life), PATCH(inside('configmaps', 'c'), 'merge', { data: { k: 'w' } }, only('data')), PUT(inside('configmaps', 'c'), configMap('c', {}, { k: 'z' }), only('data')), GET(inside('configmaps', 'c'), only('data')), DELETE(inside('configmaps', 'c')), GET(inside('configmaps'), { pick: (b) => b.items })]),
  s('terminating-dry-run', 'a dry-run create in a Terminating namespace', [made(), DELETE(x, undefined, life), POST(inside('configmaps'), configMap('late'), { query: { dryRun: 'All' } })]),
  s('terminating-invalid', 'an invalid object in a Terminating namespace: what is reported first', [made(), DELETE(x, undefined, life), POST(inside('configmaps'), configMap('Bad_Name')), POST(inside('configmaps'), '{')]),
  s('terminating-subresources', 'creates of subresources in a Terminating namespace', [
    made(), POST(inside('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa' } }, { compare: 'status' }), POST(inside('pods'), pod('p'), { compare: 'status' }), DELETE(x, undefined, life),
    POST(inside('serviceaccounts', 'sa/token'), { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }, { pick: (b) => (b.kind === 'Status' ? b : b.kind) }), POST(inside('pods', 'p/binding'), { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }), POST(inside('pods', 'p/eviction'), { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
    POST('/apis/authorization.k8s.io/v1/namespaces/$ns-x/localsubjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'LocalSubjectAccessReview', metadata: { namespace: '$ns-x' }, spec: { user: 'u', resourceAttributes: { namespace: '$ns-x', verb: 'get', resource: 'pods' } } }, only('status'))]),
  s('terminating-event', 'events in a Terminating namespace', [made(), DELETE(x, undefined, life), POST(inside('events'), { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: '$ns-x', name: 'p' }, reason: 'R', message: 'm', type: 'Normal' })]),
  s('recreate', 'a removed namespace can be made again, with another uid', [made(), DELETE(x, undefined, life), POST(all, namespace('$ns-x')), PUT(fin, finalize([]), life), POST(all, namespace('$ns-x'), life)]),
  s('missing-create', 'a create in a namespace that does not exist', [POST('/api/v1/namespaces/$ns-none/configmaps', configMap()), POST('/apis/apps/v1/namespaces/$ns-none/deployments', deployment()), POST('/api/v1/namespaces/$ns-none/configmaps', configMap('c'), { query: { dryRun: 'All' } }), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns-none/leases/l', lease('l')), GET('/api/v1/namespaces/$ns-none/configmaps', { pick: (b) => b.items })], { cleanup: [] }),
  s('missing-update', 'an update in a namespace that does not exist', [PUT('/api/v1/namespaces/$ns-none/configmaps/c', configMap()), PATCH('/api/v1/namespaces/$ns-none/configmaps/c', 'merge', {}), DELETE('/api/v1/namespaces/$ns-none/configmaps/c')], { cleanup: [] }),
  s('missing-invalid-name', 'a create in a namespace whose name is invalid', [POST('/api/v1/namespaces/Bad_Name/configmaps', configMap())], { cleanup: [] }),
  s('watch-deleted', 'finalize of a marked namespace answers its last state with the old resourceVersion', [made(), DELETE(x, undefined, meta), PUT(fin, finalize([]), meta)]),
  s('apply', 'apply of a namespace and of its labels', [PATCH(x, 'apply-yaml', namespace('$ns-x', { labels: { a: 'b' } }), { query: { fieldManager: 'm' } }), PATCH(x, 'apply-yaml', namespace('$ns-x'), { query: { fieldManager: 'm' }, ...meta })]),
];
