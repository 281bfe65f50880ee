// DELETE of a collection (§4.2).
import { scenario, GET, POST, DELETE, POLL } from '../steps.ts';
import * as f from './kit/meta.mjs';

const { at, on, names, configMap, pod, job } = f;
const s = (id, about, steps, o = {}) => scenario(`meta-collection-${id}`, { section: '4.2', about, ...o }, steps);
const cms = at('configmaps');
const three = [['a', { tier: 'x' }], ['b', { tier: 'y' }], ['c', { tier: 'x' }]].map(([n, labels]) => POST(cms, configMap(n, { labels }), { compare: 'status' }));
const left = GET(cms, names);
const marked = { pick: (b) => (b.items ? b.items.map((x) => [x.metadata.name, x.metadata.finalizers ?? null, !!x.metadata.deletionTimestamp]) : b) };

export default [
  s('all', 'every object of the namespace; the answer is the list from before', [...three, DELETE(cms, undefined, f.items), left]),
  s('empty', 'an empty collection', [DELETE(cms, undefined, f.items)]),
  s('label', 'a label selector', [...three, DELETE(cms, undefined, { query: { labelSelector: 'tier=x' }, ...names }), left]),
  s('label-none', 'a label selector that matches nothing', [...three, DELETE(cms, undefined, { query: { labelSelector: 'tier=z' }, ...names }), left]),
  s('label-invalid', 'an invalid label selector deletes nothing', [...three, DELETE(cms, undefined, { query: { labelSelector: 'tier in' } }), left]),
  s('field', 'a field selector', [...three, DELETE(cms, undefined, { query: { fieldSelector: 'metadata.name=b' }, ...names }), left]),
  s('field-invalid', 'a field that cannot be selected', [...three, DELETE(cms, undefined, { query: { fieldSelector: 'data.k=v' } }), left]),
  s('field-pods', 'a field selector of pods', [...['p', 'q'].map((n) => POST(at('pods'), pod(n, {}, { nodeName: `node-${n}` }), { compare: 'status' })), DELETE(at('pods'), { gracePeriodSeconds: 0 }, { query: { fieldSelector: 'spec.nodeName=node-q' }, ...names }), GET(at('pods'), names)]),
  s('limit', 'limit: only that page is deleted, with a continue token', [...three, DELETE(cms, undefined, { query: { limit: '2' }, pick: (b) => ({ items: b.items?.map((x) => x.metadata.name), remaining: b.metadata?.remainingItemCount, more: !!b.metadata?.continue }) }), left]),
  s('limit-continue', 'the continue token of a list selects the page to delete', [...three, GET(cms, { id: 'l', query: { limit: '1' }, ...names }), DELETE(cms, undefined, { query: { limit: '1', continue: '${l.metadata.continue}' }, ...names }), left]),
  s('limit-invalid', 'limit that is no number, and negative', [...three, DELETE(cms, undefined, { query: { limit: 'x' } }), DELETE(cms, undefined, { query: { limit: '-1' }, ...names }), left]),
  s('options-body', 'options in the body go to every item', [...three, DELETE(cms, { propagationPolicy: 'Orphan' }, { query: { labelSelector: 'tier=x' }, ...names }), GET(cms, marked)]),
  s('options-query', 'options in the query, next to the selector', [...three, DELETE(cms, undefined, { query: { labelSelector: 'tier=x', propagationPolicy: 'Foreground' }, ...names }), GET(cms, marked)]),
  s('options-invalid', 'invalid options delete nothing', [...three, DELETE(cms, { propagationPolicy: 'Nope' }), DELETE(cms, { apiVersion: 'v1', kind: 'Pod' }), DELETE(cms, undefined, { query: { gracePeriodSeconds: 'x' } }), DELETE(cms, { orphanDependents: true, propagationPolicy: 'Orphan' }), left]),
  s('dry-run', 'a dry run answers the list and deletes nothing', [...three, DELETE(cms, undefined, { query: { dryRun: 'All' }, ...names }), DELETE(cms, { dryRun: ['All'] }, names), DELETE(cms, { dryRun: ['Some'] }), left]),
  s('precondition-uid', 'a uid precondition applies to each item: the first mismatch is the answer', [POST(cms, configMap('only'), { compare: 'status' }), DELETE(cms, { preconditions: { uid: '11111111-2222-3333-4444-555555555555' } }), left]),
  s('precondition-rv-query', 'resourceVersion in the query is the version of the list and a precondition', [POST(cms, configMap('only'), { id: 'o', compare: 'status' }), DELETE(cms, undefined, { query: { resourceVersion: '${o.metadata.resourceVersion}', resourceVersionMatch: 'NotOlderThan' }, ...names }), left]),
  s('rv-match-invalid', 'resourceVersionMatch without resourceVersion', [DELETE(cms, undefined, { query: { resourceVersionMatch: 'Exact' } })]),
  s('finalizers', 'objects with finalizers stay, marked', [POST(cms, configMap('held', { finalizers: ['example.com/a'] }), { compare: 'status' }), ...three, DELETE(cms, undefined, names), GET(cms, marked), DELETE(cms, undefined, { pick: (b) => b.items.map((x) => [x.metadata.name, !!x.metadata.deletionTimestamp]) })]),
  s('grace', 'pods with a node go on for their grace, others go at once', [POST(at('pods'), pod('bound', {}, { nodeName: 'n' }), { compare: 'status' }), POST(at('pods'), pod('free'), { compare: 'status' }), DELETE(at('pods'), { gracePeriodSeconds: 20 }, names), GET(at('pods'), { pick: (b) => b.items.map((x) => [x.metadata.name, x.metadata.deletionGracePeriodSeconds]) }), DELETE(at('pods'), { gracePeriodSeconds: 0 }, names), GET(at('pods'), names)]),
  s('job-default', 'Jobs are orphaned by default here too', [POST(at('batch/v1/jobs'), job('j'), { compare: 'status' }), DELETE(at('batch/v1/jobs'), undefined, { compareHeaders: ['warning'], ...names }), GET(at('batch/v1/jobs'), marked)]),
  s('services', 'Services, since 1.23', [POST(at('services'), f.service('a', {}, { clusterIP: 'None' }), { compare: 'status' }), DELETE(at('services'), undefined, names), GET(at('services'), names)]),
  s('cluster-scoped', 'cluster-scoped objects by label', [POST(on('nodes'), f.node('$ns-a', { labels: { set: '$ns' } }), { compare: 'status' }), POST(on('nodes'), f.node('$ns-b', { labels: { set: '$ns' } }), { compare: 'status' }), DELETE(on('nodes'), undefined, { query: { labelSelector: 'set=$ns' }, ...names }), GET(on('nodes'), { query: { labelSelector: 'set=$ns' }, ...names })], { namespace: false, cleanup: [on('nodes', '$ns-a'), on('nodes', '$ns-b')] }),
  s('namespaces', 'namespaces have no deletecollection', [DELETE('/api/v1/namespaces', undefined, { query: { labelSelector: 'kubernetes.io/metadata.name=$ns' }, compareHeaders: ['allow'] })]),
  s('all-namespaces', 'a namespaced resource without a namespace has no deletecollection', [DELETE('/api/v1/configmaps', undefined, { query: { labelSelector: 'set=$ns' }, compareHeaders: ['allow'] })]),
  s('missing-namespace', 'a namespace that does not exist', [DELETE('/api/v1/namespaces/$ns-none/configmaps', undefined, f.items)], { namespace: false }),
  s('missing-resource', 'a resource that does not exist', [DELETE(at('nothings'))]),
  s('watch-parameter', 'watch=true on a DELETE of a collection', [...three, DELETE(cms, undefined, { query: { watch: 'true', labelSelector: 'tier=y' }, ...names }), left]),
  s('custom-resource', 'custom resources', [
    POST(on('apiextensions.k8s.io/v1/customresourcedefinitions'), f.crd(), { compare: 'status' }), POLL(f.widgets(), (_, st) => st === 200, { compare: 'status' }), POST(f.widgets(), f.widget('a'), { compare: 'status' }), POST(f.widgets(), f.widget('b', { finalizers: ['example.com/a'] }), { compare: 'status' }), DELETE(f.widgets(), undefined, f.items), GET(f.widgets(), marked)], { cleanup: [f.widgets('b'), f.crdPath()] }),
  s('forbidden', 'deletecollection is a verb of its own', [DELETE(cms, undefined, { as: 'alice' })]),
  s('forbidden-verb', 'the right to delete is not the right to delete the collection', [
    POST(at('rbac.authorization.k8s.io/v1/roles'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['delete', 'list'] }] }, { compare: 'status' }),
    POST(at('rbac.authorization.k8s.io/v1/rolebindings'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'b' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }] }, { compare: 'status' }),
    POST(cms, configMap('a'), { compare: 'status' }), POLL(cms, (_, st) => st === 200, { as: 'alice', compare: 'status' }), DELETE(cms, undefined, { as: 'alice' }), DELETE(at('configmaps', 'a'), undefined, { as: 'alice' })]),
  s('table', 'the answer as a table', [...three, DELETE(cms, undefined, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }, pick: (b) => ({ kind: b.kind, columns: b.columnDefinitions?.map((c) => c.name), rows: b.rows?.map((r) => r.cells.slice(0, 2)) }) })]),
  s('unsafe', 'ignoreStoreReadErrorWithClusterBreakingPotential with the gate off', [...three, DELETE(cms, { ignoreStoreReadErrorWithClusterBreakingPotential: true }, names), left]),
  s('order', 'the list is in the order of names', [...['z', 'a', 'm'].map((n) => POST(cms, configMap(n), { compare: 'status' })), DELETE(cms, undefined, names)]),
];
