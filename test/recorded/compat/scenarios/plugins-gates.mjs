// Plugins that act only with a feature gate: ClusterTrustBundleAttest, PodTopologyLabels.
import { scenario, GET, POST, PUT, PATCH, APPLY, DELETE, SLEEP } from '../steps.ts';
import { PODS, pod, quiet, dry, only, webhook, mutating, rule, patch, add, hooked, brief } from './kit/admission.mjs';
import { authority, otherAuthority } from './kit/trust.mjs';

const needs = 'plugins-gates';
const within = (id, about, steps, o = {}) => scenario(`plugins-${id}`, { section: '7', about, needs, ...o }, steps);

// --- ClusterTrustBundleAttest ---
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const BUNDLES = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles';
const NAME = 'example.com:s:$ns';
const bundle = (spec = {}, name = NAME) => ({ apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name }, spec: { signerName: 'example.com/s', trustBundle: authority, ...spec } });
const as = { headers: { 'impersonate-user': '$ns-u' } };
const writes = { apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], verbs: ['create', 'update', 'patch', 'delete'] };
const attests = (resourceName) => ({ apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: [resourceName], verbs: ['attest'] });
const granted = (...rules) => [
  POST(`${RBAC}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: '$ns-r' }, rules: [writes, ...rules] }, quiet),
  POST(`${RBAC}/clusterrolebindings`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: '$ns-r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$ns-r' }, subjects: [{ kind: 'User', name: '$ns-u' }] }, quiet),
  { ...POST(BUNDLES, bundle({ signerName: '' }, '$ns-probe'), { ...as, ...dry, ...quiet }), kind: 'poll', ms: 8000, until: (_, s) => s === 201 },
];
const attest = (id, about, rules, steps) => within(`attest-${id}`, `ClusterTrustBundleAttest: ${about}`, [...granted(...rules), ...steps], { namespace: false, cleanup: [`${BUNDLES}/${NAME}`, `${RBAC}/clusterroles/$ns-r`, `${RBAC}/clusterrolebindings/$ns-r`] });
const AT = `${BUNDLES}/${NAME}`;
const shown = only('spec.signerName', 'metadata.labels');
const attesting = [
  attest('none', 'without access to the signer', [], [POST(BUNDLES, bundle(), as), POST(BUNDLES, bundle(), { ...as, ...dry }), APPLY(AT, 'm', bundle(), as)]),
  attest('signer', 'with access to the signer', [attests('example.com/s')], [POST(BUNDLES, bundle(), { ...as, ...shown }), PATCH(AT, 'merge', { spec: { trustBundle: otherAuthority } }, { ...as, ...shown })]),
  attest('domain', 'with access to all signers of its domain', [attests('example.com/*')], [POST(BUNDLES, bundle(), { ...as, ...shown })]),
  attest('other', 'with access to another signer', [attests('example.com/t'), attests('example.com')], [POST(BUNDLES, bundle(), as)]),
  attest('generated', 'a name that is to be generated', [], [POST(BUNDLES, { ...bundle(), metadata: { generateName: 'example.com:s:$ns-' } }, { ...as, pick: (b) => ({ message: b.message?.replace(/-[a-z0-9]{5}"/, '-#"') }) })]),
  attest('without-signer', 'a bundle of no signer needs none', [], [POST(BUNDLES, bundle({ signerName: '' }, '$ns-b'), { ...as, ...dry, ...shown })]),
  attest('update', 'an update needs it, too', [], [POST(BUNDLES, bundle(), quiet), PATCH(AT, 'merge', { spec: { trustBundle: otherAuthority } }, as), PATCH(AT, 'merge', { metadata: { labels: { a: 'b' } } }, as)]),
  attest('update-collector', 'but not what the garbage collector changes, or an update without a change', [], [POST(BUNDLES, bundle(), quiet), PATCH(AT, 'merge', {}, { ...as, ...shown }), PATCH(AT, 'merge', { metadata: { finalizers: ['example.com/x'] } }, { ...as, ...only('metadata.finalizers') }), PATCH(AT, 'merge', { metadata: { finalizers: null, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'x' }] } }, { ...as, ...only('metadata.ownerReferences') })]),
  attest('delete', 'nor a delete', [], [POST(BUNDLES, bundle(), quiet), DELETE(AT, undefined, { ...as, ...quiet })]),
];

// --- PodTopologyLabels ---
const NODES = '/api/v1/nodes';
const node = (labels) => [POST(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-n', labels } }, quiet), SLEEP(500)];
const places = { 'topology.k8s.io/zone': 'z', 'topology.k8s.io/region': 'r', 'topology.k8s.io/rack': 'k', 'topology.kubernetes.io/zone': 'y', other: 'x' };
const labels = only('metadata.labels');
const topology = (id, about, given, steps, o = {}) => within(`topology-${id}`, `PodTopologyLabels: ${about}`, [...node(given), ...steps], { cleanup: [`${NODES}/$ns-n`], ...o });
const bind = (name, target = { kind: 'Node', name: '$ns-n' }, metadata = {}, o = quiet) => POST(`${PODS}/${name}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name, ...metadata }, target }, o);
const topologies = [
  topology('bound', 'a pod that is bound', places, [POST(PODS, pod('p', {}, { labels: { a: 'b' } }), labels), bind('p'), GET(`${PODS}/p`, labels)]),
  topology('born', 'a pod that is created on its node', places, [POST(PODS, pod('p', { nodeName: '$ns-n' }, { labels: { a: 'b', 'topology.k8s.io/zone': 'mine' } }), labels)]),
  topology('owned', 'who owns the labels', places, [POST(PODS, pod('p', { nodeName: '$ns-n' }), { pick: (b) => b.metadata?.managedFields?.map((m) => [m.manager, m.subresource ?? null, m.fieldsV1['f:metadata'] ?? null]) }), POST(PODS, pod('q'), quiet), bind('q'), GET(`${PODS}/q`, { pick: (b) => b.metadata?.managedFields?.map((m) => [m.manager, m.subresource ?? null, m.fieldsV1['f:metadata'] ?? null]) })]),
  topology('own', 'labels of the pod are replaced by those of the node when it is bound', places, [POST(PODS, pod('p', {}, { labels: { 'topology.k8s.io/zone': 'mine' } }), quiet), bind('p'), GET(`${PODS}/p`, labels)]),
  topology('binding-labels', 'labels of the binding', places, [POST(PODS, pod('p'), quiet), bind('p', undefined, { labels: { 'topology.k8s.io/zone': 'mine', c: 'd' }, annotations: { e: 'f' } }), GET(`${PODS}/p`, only('metadata.labels', 'metadata.annotations'))]),
  topology('none', 'a node without them', { other: 'x' }, [POST(PODS, pod('p'), quiet), bind('p'), GET(`${PODS}/p`, labels)]),
  topology('one', 'a node with one of them', { 'topology.k8s.io/region': 'r' }, [POST(PODS, pod('p'), quiet), bind('p'), GET(`${PODS}/p`, labels)]),
  topology('missing', 'a node that is not there', places, [POST(PODS, pod('p'), quiet), bind('p', { kind: 'Node', name: '$ns-none' }), GET(`${PODS}/p`, labels), POST(PODS, pod('q', { nodeName: '$ns-none' }), labels)]),
  topology('other-kind', 'a target of another kind, or of none', places, [POST(PODS, pod('p'), quiet), bind('p', { kind: 'Pod', name: '$ns-n' }, {}, {}), bind('p', { name: '$ns-n' }, {}, quiet), GET(`${PODS}/p`, labels)]),
  topology('bindings', 'a binding by the old resource', places, [POST(PODS, pod('p'), quiet), POST('/api/v1/namespaces/$ns/bindings', { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: '$ns-n' } }, quiet), GET(`${PODS}/p`, labels)]),
  topology('dry', 'dry runs', places, [POST(PODS, pod('p', { nodeName: '$ns-n' }), { ...dry, ...labels }), POST(PODS, pod('p'), quiet), bind('p', undefined, {}, { ...dry, ...quiet }), GET(`${PODS}/p`, labels)]),
  topology('update', 'later changes of node and pod do nothing', places, [POST(PODS, pod('p', { nodeName: '$ns-n' }), quiet), PATCH(`${NODES}/$ns-n`, 'merge', { metadata: { labels: { 'topology.k8s.io/zone': 'w' } } }, quiet), SLEEP(300), PATCH(`${PODS}/p`, 'merge', { metadata: { labels: { 'topology.k8s.io/zone': null, a: 'b' } } }, labels)]),
  { ...hooked('topology-hook', 'PodTopologyLabels: a mutating hook sees the labels of the binding, and may name another node', mutating(webhook('h', { rules: [rule('pods/binding')] })), { hooks: { h: patch([add('/target/name', '$ns-n')]) }, needs, cleanup: [`${NODES}/$ns-n`] }, [...node(places), POST(PODS, pod('p'), quiet), bind('p', { kind: 'Node', name: '$ns-n' }), brief('h', 1, 'object.metadata.labels', 'name', 'kind.kind'), GET(`${PODS}/p`, labels)]), id: 'plugins-topology-hook' },
];

export default [...attesting, ...topologies];
