// The refusals of the authorizer: one message per shape of request (§5, §7).
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY } from '../steps.ts';
import { as, mine, refusal, message, granted, grantedEverywhere, clusterCleanup, may, accountName } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`forbidden-${id}`, { section: '5', about, ...o }, steps);
const bare = { namespace: false };
const bob = { as: 'bob' };
const core = '/api/v1/namespaces/$ns', apps = '/apis/apps/v1/namespaces/$ns';
const cm = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };

/** Every verb on one resource: [list path, name]. */
const verbs = (path, name) => [
  GET(`${path}/${name}`, bob), GET(path, bob), GET(`${path}?watch=true`, bob), POST(path, {}, bob), PUT(`${path}/${name}`, {}, bob), PATCH(`${path}/${name}`, 'merge', {}, bob), APPLY(`${path}/${name}`, 'm', {}, bob), DELETE(`${path}/${name}`, undefined, bob), DELETE(path, undefined, bob),
];
const ofKind = {
  configmaps: [`${core}/configmaps`, 'one'], deployments: [`${apps}/deployments`, 'one'], nodes: ['/api/v1/nodes', 'one'], namespaces: ['/api/v1/namespaces', '$ns'],
  clusterroles: ['/apis/rbac.authorization.k8s.io/v1/clusterroles', 'system:node'], 'unknown-resource': [`${core}/nothings`, 'one'], 'unknown-group': ['/apis/nope.example.com/v1/namespaces/$ns/things', 'one'], 'unknown-version': [`/apis/apps/v9/namespaces/$ns/deployments`, 'one'],
};
const subresources = {
  'pod-log': [GET, `${core}/pods/p/log`], 'pod-exec': [POST, `${core}/pods/p/exec`], 'pod-exec-get': [GET, `${core}/pods/p/exec?command=x`], 'pod-attach': [POST, `${core}/pods/p/attach`], 'pod-portforward': [POST, `${core}/pods/p/portforward`], 'pod-status': [GET, `${core}/pods/p/status`], 'pod-binding': [POST, `${core}/pods/p/binding`], 'pod-eviction': [POST, `${core}/pods/p/eviction`], 'pod-ephemeral': [GET, `${core}/pods/p/ephemeralcontainers`], 'pod-resize': [GET, `${core}/pods/p/resize`],
  'pod-proxy': [GET, `${core}/pods/p/proxy/a/b`], 'service-proxy': [GET, `${core}/services/http:s:80/proxy/x`], 'node-proxy': [GET, '/api/v1/nodes/n/proxy/stats'], scale: [GET, `${apps}/deployments/d/scale`], 'namespace-finalize': [PUT, '/api/v1/namespaces/$ns/finalize'], 'namespace-status': [GET, '/api/v1/namespaces/$ns/status'], token: [POST, `${core}/serviceaccounts/s/token`], bindings: [POST, `${core}/bindings`], approval: [PUT, '/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval'], 'crd-status': [GET, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c/status'], 'deep-path': [GET, `${core}/pods/p/a/b/c/d`],
};
const call = ([method, path]) => (method === GET ? GET(path, bob) : method(path, {}, bob));
const chunk = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, (i + 1) * n));

const shapes = [
  ...Object.entries(ofKind).map(([id, [path, name]]) => s(`verbs-${id}`, `every verb on ${path}`, verbs(path, name))),
  ...chunk(Object.entries(subresources), 7).map((part, i) => s(`subresources-${i + 1}`, part.map(([id]) => id).join(', '), part.map(([, c]) => call(c)))),
  s('all-namespaces', 'lists, watches and deletes across namespaces', [GET('/api/v1/configmaps', bob), GET('/api/v1/configmaps?watch=1', bob), DELETE('/api/v1/configmaps', undefined, bob), POST('/api/v1/configmaps', cm, bob), GET('/apis/apps/v1/deployments', bob)]),
  s('watch-parameter', 'what counts as a watch', ['watch', 'watch=', 'watch=1', 'watch=true', 'watch=TRUE', 'watch=yes', 'watch=false', 'watch=0', 'watch=False', 'watch=true&watch=false', 'watch=0&watch=1', 'watch=true&limit=x'].map((q) => GET(`${core}/configmaps?${q}`, { ...bob, ...message, note: q }))),
  s('watch-of-one', 'watch on an object is a get', [GET(`${core}/configmaps/one?watch=1`, { ...bob, ...message })]),
  s('legacy-watch', 'the old watch paths carry the verb in the path', ['/api/v1/watch/namespaces/$ns/configmaps', '/api/v1/watch/namespaces/$ns/configmaps/one', '/api/v1/watch/configmaps', '/api/v1/watch/nodes/n', '/apis/apps/v1/watch/deployments', '/api/v1/watch/namespaces/$ns', '/api/v1/watch/namespaces'].map((p) => GET(p, { ...bob, ...message }))),
  s('legacy-watch-other-methods', 'the old watch paths by other methods', [POST('/api/v1/watch/namespaces/$ns/configmaps', {}, { ...bob, ...message }), DELETE('/api/v1/watch/namespaces/$ns/configmaps/one', undefined, { ...bob, ...message })]),
  s('legacy-watch-bare', 'nothing after the old watch and proxy prefixes', [GET('/api/v1/watch', bob), GET('/apis/apps/v1/watch', bob), GET('/api/v1/proxy', bob), GET('/api/v1/watch', { note: 'by the administrator' })]),
  s('legacy-proxy', 'the old proxy and redirect paths', ['/api/v1/proxy/namespaces/$ns/services/s', '/api/v1/proxy/nodes/n', '/api/v1/proxy/namespaces/$ns/pods/p/a/b', '/api/v1/redirect/nodes/n', '/api/v1/redirect/namespaces/$ns/pods/p'].map((p) => GET(p, { ...bob, ...message }))),
  s('methods', 'methods that are no verb', ['HEAD', 'OPTIONS', 'TRACE'].map((method) => GET(`${core}/configmaps/one`, { ...bob, method }))),
  s('methods-unheard-of', 'a method that HTTP does not know', [GET(`${core}/configmaps/one`, { ...bob, method: 'FOO' })]),
  s('head', 'HEAD is authorized like GET', [GET(`${core}/configmaps`, { ...bob, method: 'HEAD', compareHeaders: ['content-type', 'content-length?'] }), GET(`${core}/configmaps/one`, { ...bob, method: 'HEAD' }), GET('/healthz', { ...bob, method: 'HEAD' })]),
  s('non-resource', 'paths that are no resource, by method', [GET('/metrics', bob), POST('/metrics', {}, bob), PUT('/apis', {}, bob), PATCH('/api/v1', 'merge', {}, bob), DELETE('/apis/apps', undefined, bob), GET('/metrics', { ...bob, method: 'HEAD' }), GET('/metrics', { ...bob, method: 'OPTIONS' }), GET('/a/b/c?x=y', bob)]),
  s('selected-name', 'a field selector for one name is a list with that name', [
    ...['metadata.name=one', 'metadata.name==one', 'metadata.name!=one', 'metadata.name=one,metadata.namespace=x', 'metadata.name=a/b', 'metadata.name=', 'metadata.name=one,metadata.name=two', 'bogus'].map((f) => GET(`${core}/configmaps`, { ...bob, query: { fieldSelector: f }, note: f })),
    GET(`${core}/configmaps`, { ...bob, query: { fieldSelector: 'metadata.name=one', watch: '1' } }), DELETE(`${core}/configmaps`, undefined, { ...bob, query: { fieldSelector: 'metadata.name=one' }, note: 'a delete of a collection takes no name' })]),
  s('selected-name-with-bad-query', 'a query that cannot be read loses the name', [GET(`${core}/configmaps`, { ...bob, query: { fieldSelector: 'metadata.name=one', limit: 'x' } }), GET(`${core}/configmaps`, { ...bob, query: { fieldSelector: 'metadata.name=one', labelSelector: '===' } })]),
  s('namespaces-attribute', 'the namespace of a request for a namespace is the namespace itself', [GET('/api/v1/namespaces', bob), GET('/api/v1/namespaces/$ns', bob), DELETE('/api/v1/namespaces/$ns', undefined, bob), GET('/api/v1/namespaces?fieldSelector=metadata.name%3D$ns', bob), GET('/api/v1/namespaces/$ns/', bob), GET('/api/v1/namespaces/$ns/pods/', bob)]),
  s('before-parsing', 'authorization comes before the body, the media types and the query', [POST(`${core}/configmaps`, '{', bob), POST(`${core}/configmaps`, 'x', { ...bob, type: 'text/plain' }), PATCH(`${core}/configmaps/one`, 'text/plain', 'x', bob), GET(`${core}/configmaps?limit=x&resourceVersion=y`, bob), POST(`${core}/configmaps?dryRun=Some&fieldManager=${'x'.repeat(200)}`, cm, bob), GET(`${core}/configmaps`, { ...bob, headers: { accept: 'text/html' } })]),
  s('bad-names', 'names that could not exist are refused by the authorizer first', [GET(`${core}/configmaps/UPPER_case`, bob), GET(`${core}/configmaps/${'x'.repeat(300)}`, bob), GET('/api/v1/namespaces/Bad_NS/configmaps', bob)]),
  s('escaped-names', 'characters of names and paths in messages', [GET(`${core}/configmaps/a%20b`, bob), GET(`${core}/configmaps/%22quoted%22`, bob), GET(`${core}/configmaps/%3Cb%3E%26amp`, bob), GET(`${core}/configmaps/%C3%A9`, bob), GET('/x%20y/%3Cb%3E?q=<', bob), GET('/x/%22%5C', bob)]),
  s('answer-media', 'the refusal in other media types', [...['application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io', 'text/html', '*/*'].map((accept) => GET(`${core}/configmaps`, { ...bob, headers: { accept }, note: accept, compareHeaders: ['content-type', 'x-content-type-options'] }))]),
];

const users = [
  s('user-anonymous', 'anonymous callers are named system:anonymous', [GET(`${core}/pods`, { as: null }), POST(`${core}/pods`, {}, { as: null }), GET('/metrics', { as: null })]),
  s('user-impersonated', 'impersonated users are named, not who impersonates', [GET(`${core}/pods`, mine), GET(`${core}/pods`, { headers: as('$ns-u', { groups: ['some-group', 'x'.repeat(300)] }) }), GET(`${core}/pods`, { headers: as('system:anonymous') })]),
  s('user-service-account', 'service accounts by their long name', [GET(`${core}/pods`, { headers: as(accountName('sa')) }), GET('/api/v1/nodes', { headers: as(accountName('sa')) })]),
  s('user-odd-names', 'names that need quoting', [...['a "b" c', 'back\\slash', '<b>&amp;', "o'neill", 'x'.repeat(200), 'tab\tin', 'colon:and,comma'].map((u) => GET('/api/v1/nodes', { headers: as(u), ...message }))], bare),
  s('user-latin1', 'bytes beyond ASCII in a user name', [GET('/api/v1/nodes', { headers: as('J\u00fcrgen'), ...message })], bare),
];

const partial = [
  s('create-only', 'who may only create cannot update, patch or read back', [...granted(may('create', 'configmaps')), POST(`${core}/configmaps`, cm, { ...mine, ...refusal }), GET(`${core}/configmaps/one`, mine), PUT(`${core}/configmaps/one`, cm, mine), PATCH(`${core}/configmaps/one`, 'merge', {}, mine), DELETE(`${core}/configmaps/one`, undefined, mine)]),
  s('update-cannot-create', 'an update that would create needs create too', [...granted(may('update,get', 'leases', { apiGroups: ['coordination.k8s.io'] })), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns/leases/l', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }, mine)]),
  s('update-can-create', 'with create it does', [...granted(may('update,create', 'leases', { apiGroups: ['coordination.k8s.io'] })), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns/leases/l', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } }, { ...mine, ...refusal })]),
  s('update-create-named', 'the create that an update needs is asked for with the name of the object', [...granted(may('update', 'leases', { apiGroups: ['coordination.k8s.io'] }), may('create', 'leases', { apiGroups: ['coordination.k8s.io'], resourceNames: ['l'] })), ...['l', 'm'].map((name) => PUT(`/apis/coordination.k8s.io/v1/namespaces/$ns/leases/${name}`, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } }, { ...mine, ...refusal }))]),
  s('apply-cannot-create', 'an apply that would create needs create beside patch', [...granted(may('patch,get', 'configmaps')), APPLY(`${core}/configmaps/one`, 'm', cm, mine), POST(`${core}/configmaps`, cm, { compare: 'status' }), APPLY(`${core}/configmaps/one`, 'm', cm, { ...mine, ...refusal }), PATCH(`${core}/configmaps/two`, 'merge', {}, mine)]),
  s('apply-cannot-patch', 'create alone does not let one apply', [...granted(may('create', 'configmaps')), APPLY(`${core}/configmaps/one`, 'm', cm, mine)]),
  s('apply-can-create', 'create and patch together do', [...granted(may('create,patch', 'configmaps')), APPLY(`${core}/configmaps/one`, 'm', cm, { ...mine, ...refusal })]),
  s('apply-create-named', 'the create that an apply needs is asked for with the name', [...granted(may('patch', 'configmaps'), may('create', 'configmaps', { resourceNames: ['one'] })), APPLY(`${core}/configmaps/one`, 'm', cm, { ...mine, ...refusal }), APPLY(`${core}/configmaps/two`, 'm', { ...cm, metadata: { name: 'two' } }, mine)]),
  s('dry-run', 'a dry run needs the same rights', [...granted(may('get', 'configmaps')), POST(`${core}/configmaps?dryRun=All`, cm, mine), APPLY(`${core}/configmaps/one`, 'm', cm, { ...mine, query: { dryRun: 'All' } }), DELETE(`${core}/configmaps/one?dryRun=All`, undefined, mine)]),
  s('dry-run-apply-create', 'a dry-run apply that would create needs create', [...granted(may('patch', 'configmaps')), APPLY(`${core}/configmaps/one`, 'm', cm, { ...mine, query: { dryRun: 'All' } })]),
  s('list-not-watch', 'list does not cover watch, delete not deletecollection, get not list', [...granted(may('list,delete,get', 'configmaps')), GET(`${core}/configmaps`, { ...mine, ...refusal }), GET(`${core}/configmaps?watch=1`, mine), DELETE(`${core}/configmaps`, undefined, mine), GET('/api/v1/configmaps', mine)]),
  s('watch-not-list', 'a watch needs watch alone, also one that begins with what exists', [...granted(may('watch', 'configmaps')), GET(`${core}/configmaps?watch=1&timeoutSeconds=1`, { ...mine, compare: 'status' }), GET(`${core}/configmaps?watch=1&timeoutSeconds=1&resourceVersion=0`, { ...mine, compare: 'status' }), GET(`${core}/configmaps`, mine)]),
  s('deletecollection', 'deletecollection alone empties a collection without list or delete', [...granted(may('deletecollection', 'configmaps')), POST(`${core}/configmaps`, cm, { compare: 'status' }), DELETE(`${core}/configmaps/one`, undefined, mine), DELETE(`${core}/configmaps`, undefined, { ...mine, ...refusal }), GET(`${core}/configmaps/one`)]),
  s('subresource-only', 'a right on a subresource is none on the object', [...granted(may('get,update,patch', 'pods/status')), POST(`${core}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, { compare: 'status' }), GET(`${core}/pods/p/status`, { ...mine, ...refusal }), GET(`${core}/pods/p`, mine), PATCH(`${core}/pods/p/status`, 'merge', { status: { message: 'm' } }, { ...mine, ...refusal }), PATCH(`${core}/pods/p`, 'merge', {}, mine)]),
  s('object-only', 'a right on the object is none on its subresources', [...granted(may('get,update,patch,create', 'pods,deployments', { apiGroups: ['', 'apps'] })), GET(`${core}/pods/p/log`, mine), GET(`${core}/pods/p/status`, mine), GET(`${apps}/deployments/d/scale`, mine), POST(`${core}/pods/p/eviction`, {}, mine), POST(`${core}/bindings`, {}, mine)]),
  s('other-namespace', 'a right in one namespace is none elsewhere', [...granted(may('get,list', 'configmaps')), GET('/api/v1/namespaces/default/configmaps', mine), GET('/api/v1/configmaps', mine), GET('/api/v1/namespaces/none-such/configmaps/x', mine)]),
  s('missing-after-right', 'with the right, what is missing is 404', [...granted(may('get,list', 'configmaps,nothings')), GET(`${core}/configmaps/none`, mine), GET(`${core}/nothings/none`, mine), GET(`${core}/nothings`, mine)]),
  s('namespace-object', 'get on namespaces granted in the namespace itself', [...granted(may('get', 'namespaces')), GET('/api/v1/namespaces/$ns', { ...mine, ...refusal }), GET('/api/v1/namespaces', mine), GET('/api/v1/namespaces/default', mine), GET('/api/v1/namespaces/$ns/status', mine)]),
  s('create-namespace', 'a namespace is created at the cluster scope', [...granted(may('create', 'namespaces')), POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-x' } }, mine)]),
  s('cluster-list', 'a right everywhere covers lists across namespaces and in each one', [...grantedEverywhere(may('list', 'configmaps')), GET('/api/v1/configmaps?labelSelector=x%3D$ns', { ...mine, ...refusal }), GET('/api/v1/namespaces/$ns/configmaps', { ...mine, ...refusal }), GET('/api/v1/namespaces/$ns/configmaps/x', mine)], { cleanup: clusterCleanup }),
];

export default [...shapes, ...users, ...partial];
