// Lists: their shape, order and scope.
import { scenario, GET, POST, SLEEP } from '../steps.ts';
import { CM, PODS, SECRETS, EVENTS, LEASES, NODES, ns, q, cm, pod, secret, lease, node, event, remove, update, LIST, names, make } from './kit/listwatch.mjs';

const namespaced = {
  '/api/v1': ['configmaps', 'endpoints', 'events', 'limitranges', 'persistentvolumeclaims', 'pods', 'podtemplates', 'replicationcontrollers', 'resourcequotas', 'secrets', 'serviceaccounts', 'services'],
  '/apis/apps/v1': ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  '/apis/autoscaling/v1': ['horizontalpodautoscalers'],
  '/apis/autoscaling/v2': ['horizontalpodautoscalers'],
  '/apis/batch/v1': ['cronjobs', 'jobs'],
  '/apis/coordination.k8s.io/v1': ['leases'],
  '/apis/discovery.k8s.io/v1': ['endpointslices'],
  '/apis/events.k8s.io/v1': ['events'],
  '/apis/networking.k8s.io/v1': ['ingresses', 'networkpolicies'],
  '/apis/policy/v1': ['poddisruptionbudgets'],
  '/apis/rbac.authorization.k8s.io/v1': ['roles', 'rolebindings'],
  '/apis/storage.k8s.io/v1': ['csistoragecapacities'],
};
const clusterScoped = {
  '/api/v1': ['namespaces', 'nodes', 'persistentvolumes'],
  '/apis/admissionregistration.k8s.io/v1': ['mutatingwebhookconfigurations', 'validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'],
  '/apis/apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  '/apis/apiregistration.k8s.io/v1': ['apiservices'],
  '/apis/certificates.k8s.io/v1': ['certificatesigningrequests'],
  '/apis/flowcontrol.apiserver.k8s.io/v1': ['flowschemas', 'prioritylevelconfigurations'],
  '/apis/networking.k8s.io/v1': ['ingressclasses', 'ipaddresses', 'servicecidrs'],
  '/apis/node.k8s.io/v1': ['runtimeclasses'],
  '/apis/rbac.authorization.k8s.io/v1': ['clusterroles', 'clusterrolebindings'],
  '/apis/scheduling.k8s.io/v1': ['priorityclasses'],
  '/apis/storage.k8s.io/v1': ['csidrivers', 'csinodes', 'storageclasses', 'volumeattachments'],
};
const short = (group) => group.split('/').slice(2).join('-').replace(/\..*?-/, '-').replace(/^v1$/, 'core');

const empty = Object.entries(namespaced).flatMap(([group, kinds]) => kinds.map((r) =>
  scenario(`list-empty-${short(group)}-${r}`, { section: '2.4', about: `an empty list of ${r} (${group}) has kind, apiVersion, a version and items: []` }, [
    GET(ns(r, group), { compareHeaders: ['content-type'] })])));
const emptyCluster = Object.entries(clusterScoped).flatMap(([group, kinds]) => kinds.map((r) =>
  scenario(`list-empty-${short(group)}-${r}`, { section: '2.4', namespace: false, about: `a list of ${r} (${group}) that matches nothing` }, [
    GET(q(`${group}/${r}`, { labelSelector: 'none=$ns' }), { compareHeaders: ['content-type'] })])));

const one = (id, path, object, o = {}) => scenario(`list-one-${id}`, { section: '2.4', about: `a list of one ${object.kind}: the items carry neither kind nor apiVersion`, ...o.about }, [
  POST(path, object), SLEEP(100), GET(q(path, o.query))]);

export default [
  ...empty,
  ...emptyCluster,
  one('configmap', CM, cm('a', { l: 'x' }, { data: { k: 'v' } })),
  one('pod', PODS, pod('a', { l: 'x' })),
  one('secret', SECRETS, secret('a', 'Opaque')),
  one('event', EVENTS, event('a')),
  one('lease', LEASES, lease('a', undefined, { holderIdentity: 'me', leaseDurationSeconds: 30 })),
  one('node', NODES, node('$ns-n', { own: '$ns' }), { query: { labelSelector: 'own=$ns' }, about: { namespace: false, cleanup: [`${NODES}/$ns-n`] } }),

  scenario('list-namespace-by-name', { section: '2.4', about: 'the collection of namespaces, narrowed to one by name' }, [
    GET(q('/api/v1/namespaces', { fieldSelector: 'metadata.name=$ns' }))]),
  scenario('list-absent-namespace', { section: '2.4', namespace: false, about: 'listing in a namespace that does not exist gives an empty list, not 404' }, [
    GET('/api/v1/namespaces/$ns-absent/configmaps'), GET('/apis/apps/v1/namespaces/$ns-absent/deployments')]),
  scenario('list-bad-namespace-name', { section: '2.4', namespace: false, about: 'listing in a namespace whose name could not exist' }, [
    GET('/api/v1/namespaces/Not_A_Name/configmaps')]),
  scenario('list-order-by-name', { section: '2.4', about: 'items come in byte order of their names, whatever the order of creation' }, [
    ...make(CM, ...['b', 'a0', 'ab', 'a.b', '9', 'a', '10', 'a-b', 'aa'].map((n) => cm(n))), LIST(CM), LIST(CM, { limit: '100' }), SLEEP(200), LIST(CM, { resourceVersion: '0' })]),
  scenario('list-order-across-namespaces', { section: '2.4', cleanup: ['/api/v1/namespaces/$ns-b', '/api/v1/namespaces/$ns0'],
    about: 'across namespaces the order is that of the keys namespace/name, so that n-b comes before n and n0 after it' }, [
    ...['$ns-b', '$ns0'].map((n) => POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: n } }, { compare: 'status' })),
    ...['$ns0', '$ns', '$ns-b'].flatMap((n) => ['b', 'a'].map((x) => POST(`/api/v1/namespaces/${n}/configmaps`, cm(x, { own: '$ns' }), { compare: 'status' }))),
    LIST('/api/v1/configmaps', { labelSelector: 'own=$ns' }),
    LIST('/api/v1/configmaps', { labelSelector: 'own=$ns', limit: '4' }, { id: 'page' }),
    LIST('/api/v1/configmaps', { labelSelector: 'own=$ns', limit: '4', continue: '${page.metadata.continue}' })]),
  scenario('list-all-namespaces-by-label', { section: '4.2', about: 'a list across namespaces shows items in full, each with its namespace' }, [
    ...make(CM, cm('a', { own: '$ns' }), cm('b')), SLEEP(100), GET(q('/api/v1/configmaps', { labelSelector: 'own=$ns' }))]),
  scenario('list-all-namespaces-by-namespace-field', { section: '4.2', about: 'fieldSelector metadata.namespace narrows a list across namespaces' }, [
    ...make(CM, cm('a'), cm('b')), LIST('/api/v1/configmaps', { fieldSelector: 'metadata.namespace=$ns' }),
    LIST('/api/v1/configmaps', { fieldSelector: 'metadata.namespace=$ns,metadata.name=b' }),
    LIST('/api/v1/configmaps', { fieldSelector: 'metadata.namespace=$ns,metadata.name!=b' })]),
  scenario('list-sees-own-writes', { section: '4.5', about: 'a list without resourceVersion shows every write that was answered before it' }, [
    ...make(CM, cm('a')), LIST(CM), ...make(CM, cm('b')), LIST(CM), update(`${CM}/a`, { data: { x: '1' } }), GET(CM), remove(`${CM}/a`), LIST(CM), remove(`${CM}/b`), LIST(CM)]),
  scenario('list-shows-terminating-objects', { section: '3.1', about: 'an object that waits for its finalizer is still listed, with its deletionTimestamp' }, [
    ...make(CM, cm('a', undefined, { metadata: { finalizers: ['example.com/hold'] } })), remove(`${CM}/a`), GET(CM),
    update(`${CM}/a`, { metadata: { finalizers: null } }), LIST(CM)]),
  scenario('list-trailing-slash', { section: '4.1', about: 'a collection with a slash at the end' }, [...make(CM, cm('a')), LIST(`${CM}/`), GET(`${CM}/a/`), LIST('/api/v1/nodes/', { labelSelector: 'none=$ns' })]),
  scenario('list-unknown-parameters', { section: '4.3', about: 'unknown query parameters are ignored' }, [
    ...make(CM, cm('a')), LIST(CM, { unknown: 'x', fieldManager: 'm', force: 'true' })]),
  scenario('list-repeated-parameters', { section: '4.3', about: 'of a repeated parameter the first value counts' }, [
    ...make(CM, cm('a', { l: '1' }), cm('b', { l: '2' })), GET(`${CM}?labelSelector=l=2&labelSelector=l=1`, { pick: names }), GET(`${CM}?limit=1&limit=2`, { pick: names })]),
  scenario('list-export', { section: '4.3', about: 'the export parameter is refused' }, [
    ...make(CM, cm('a')), GET(`${CM}?export=true`), GET(`${CM}/a?export=true`), GET(`${CM}/a?export=false`, { compare: 'status' })]),
  scenario('list-not-listable', { section: '4.2', namespace: false, about: 'kinds that can only be created answer GET on the collection with 405' }, [
    GET('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { compareHeaders: ['allow'] }), GET('/apis/authentication.k8s.io/v1/tokenreviews'), GET('/api/v1/namespaces/$ns/bindings')]),
  scenario('list-unknown-resource', { section: '4.2', namespace: false, about: 'a list of an unknown resource or version' }, [
    GET('/api/v1/namespaces/$ns/unknowns'), GET('/apis/apps/v9/namespaces/$ns/deployments'), GET('/apis/unknown.example.com/v1/things')]),
  scenario('list-converts-versions', { section: '4.2', about: 'an event made through v1 is listed through events.k8s.io/v1 in that version' }, [
    ...make(EVENTS, event('a')), SLEEP(50), GET(ns('events', '/apis/events.k8s.io/v1'))]),
  scenario('list-table-metadata', { section: '2.6', about: 'a list as Table: rows in order, the list metadata in the Table' }, [
    ...make(CM, cm('b'), cm('a'), cm('c')), LIST(CM, { limit: '2' }, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, id: 'p' }),
    LIST(CM, { limit: '2', continue: '${p.metadata.continue}' }, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })]),
  scenario('list-partial-metadata', { section: '4.4', about: 'a list as PartialObjectMetadataList, in pages' }, [
    ...make(CM, cm('b', { l: 'x' }, { data: { k: 'v' } }), cm('a')), GET(q(CM, { limit: '1' }), { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }, id: 'p', compareHeaders: ['content-type'] }),
    GET(q(CM, { limit: '1', continue: '${p.metadata.continue}' }), { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } })]),
  scenario('list-forbidden', { section: '5', about: 'a list without permission: 403 with the verb list; a name in the field selector is named in the message' }, [
    GET(CM, { as: 'bob' }), GET(q(CM, { fieldSelector: 'metadata.name=a' }), { as: 'bob' }), GET('/api/v1/configmaps', { as: 'bob' }), GET(NODES, { as: 'bob' }), GET(q(CM, { watch: '1' }), { as: 'bob' }),
    GET(q(CM, { watch: '1', fieldSelector: 'metadata.name=a' }), { as: 'bob' })]),
  scenario('list-allowed-by-name', { section: '5', about: 'a rule with resourceNames allows list and watch when the field selector names that object' }, [
    POST(ns('roles', '/apis/rbac.authorization.k8s.io/v1'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['list', 'watch'] }] }, { compare: 'status' }),
    POST(ns('rolebindings', '/apis/rbac.authorization.k8s.io/v1'), { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: 'bob' }] }, { compare: 'status' }),
    ...make(CM, cm('a'), cm('b')), SLEEP(500),
    LIST(CM, { fieldSelector: 'metadata.name=a' }, { as: 'bob' }), LIST(CM, { fieldSelector: 'metadata.name=b' }, { as: 'bob' }), LIST(CM, { fieldSelector: 'metadata.name!=b' }, { as: 'bob' }), LIST(CM, {}, { as: 'bob' }),
    LIST(CM, { fieldSelector: 'metadata.name=a,metadata.namespace=$ns' }, { as: 'bob' }), GET(`${CM}/a`, { as: 'bob' })]),
];
