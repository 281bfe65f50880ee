// Paths that lead nowhere, wrong scopes, methods that a path does not take, odd spellings of paths.
import { scenario, GET, POST, PUT, PATCH, DELETE } from '../steps.ts';

const core = '/api/v1/namespaces/$ns';
const cms = `${core}/configmaps`;
const cm = (name, rest = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest });
const about = (text) => ({ section: '4.1', about: text });
const head = { compareHeaders: ['content-type', 'allow', 'x-content-type-options', 'location'] };
const any = (method, path, o = {}) => ({ kind: 'request', method, path, ...o });
const brief = (b) => (typeof b === 'string' || b.kind === 'Status' ? b : { kind: b.kind, name: b.metadata?.name });
const none = (id, text, paths) => scenario(`crud-paths-${id}`, { ...about(text), namespace: false }, paths.map((p) => GET(p, { ...head, pick: brief })));

export default [
  none('unknown-root', 'paths outside /api and /apis that nobody serves', ['/foo', '/foo/bar', '/api1', '/apiss', '/Api', '/favicon.ico', '/swagger.json', '/ui', '/v1']),
  none('unknown-version', 'versions and groups that do not exist', ['/api/v2', '/api/v2/', '/api/v2/configmaps', '/api/v1beta1/pods', '/apis/none', '/apis/none.example.com', '/apis/none.example.com/v1', '/apis/none.example.com/v1/things', '/apis/apps/v9', '/apis/apps/v9/deployments', '/apis/apps/v1beta1/deployments', '/apis/extensions/v1beta1/ingresses']),
  none('unknown-resource', 'resources that a served group version does not have', ['/api/v1/foos', '/api/v1/namespaces/default/foos', '/api/v1/namespaces/default/foos/x', '/apis/apps/v1/foos', '/apis/apps/v1/namespaces/default/foos', '/apis/apps/v1/namespaces/default/foos/x', '/api/v1/deployments', '/apis/apps/v1/pods', '/api/v1/ConfigMaps', '/api/v1/configmap', '/api/v1/namespaces/default/configmap/x']),
  scenario('crud-paths-unknown-subresource', about('subresources that a resource does not have'), [
    POST(cms, cm('c'), { compare: 'status' }),
    GET(`${cms}/c/status`), GET(`${cms}/c/foo`), GET(`${cms}/c/foo/bar`), GET(`${cms}/none/status`), PUT(`${cms}/c/status`, cm('c')), PATCH(`${cms}/c/scale`, 'merge', {}), GET(`${core}/pods/x/scale`), GET(`${core}/pods/x/status/foo`), GET('/apis/apps/v1/namespaces/$ns/deployments/x/rollback'),
  ]),
  scenario('crud-paths-unknown-writes', about('writes to paths that nobody serves'), [
    POST('/foo', {}), POST('/api/v1/foos', {}), POST('/api/v1/namespaces/$ns/foos', {}), PUT('/apis/apps/v9/namespaces/$ns/deployments/x', {}), DELETE('/apis/none.example.com/v1/things/x'), PATCH('/api/v1/namespaces/$ns/foos/x', 'merge', {}), DELETE('/foo'),
  ]),
  scenario('crud-paths-scope-namespaced-at-cluster', about('namespaced resources at the cluster path: list only'), [
    GET('/api/v1/configmaps?labelSelector=none%3D$ns', { pick: (b) => b.kind }),
    POST('/api/v1/configmaps', cm('c', {})), POST('/api/v1/configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: '$ns' } }),
    GET('/api/v1/configmaps/c'), PUT('/api/v1/configmaps/c', cm('c')), DELETE('/api/v1/configmaps/c'), PATCH('/api/v1/configmaps/c', 'merge', {}),
    POST('/apis/apps/v1/deployments', {}), GET('/apis/apps/v1/deployments/x'), DELETE('/apis/apps/v1/deployments?labelSelector=none%3D$ns'),
  ]),
  scenario('crud-paths-scope-cluster-in-namespace', about('cluster-scoped resources below a namespace'), [
    GET(`${core}/nodes`), GET(`${core}/nodes/x`), POST(`${core}/nodes`, { apiVersion: 'v1', kind: 'Node', metadata: { name: '$ns-x' } }), GET(`${core}/persistentvolumes`), GET(`${core}/namespaces`), GET('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/clusterroles'), DELETE(`${core}/nodes/x`), GET(`${core}/namespaces/x`),
  ]),
  scenario('crud-paths-methods-collection', about('methods that a collection does not take'), [
    PUT(cms, cm('c')), PATCH(cms, 'merge', {}), any('PUT', '/api/v1/namespaces', { body: {} }), any('DELETE', '/api/v1/namespaces'), PATCH('/api/v1/nodes', 'merge', {}),
  ].map((s) => ({ ...s, ...head }))),
  scenario('crud-paths-methods-item', about('methods that an item does not take'), [
    POST(cms, cm('c'), { compare: 'status' }),
    POST(`${cms}/c`, cm('c'), head), POST(`${cms}/none`, cm('none'), head), POST('/api/v1/namespaces/$ns', {}, head), POST('/apis/apps/v1/namespaces/$ns/deployments/x', {}, head),
  ]),
  scenario('crud-paths-methods-subresource', about('methods that a subresource does not take'), [
    POST('/apis/apps/v1/namespaces/$ns/deployments/x/scale', {}), DELETE('/apis/apps/v1/namespaces/$ns/deployments/x/status'), GET(`${core}/pods/x/eviction`), GET(`${core}/pods/x/binding`), PUT(`${core}/pods/x/binding`, {}), GET(`${core}/serviceaccounts/x/token`), PUT(`${core}/pods/x/log`, {}), GET('/api/v1/namespaces/$ns/finalize'), POST('/api/v1/namespaces/$ns/finalize', {}), DELETE('/api/v1/namespaces/$ns/status'),
  ]),
  scenario('crud-paths-methods-create-only', { ...about('resources that can only be created'), namespace: false }, [
    GET('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'), GET('/apis/authorization.k8s.io/v1/subjectaccessreviews/x'), PUT('/apis/authentication.k8s.io/v1/tokenreviews/x', {}), DELETE('/apis/authentication.k8s.io/v1/tokenreviews'), GET('/api/v1/namespaces/default/bindings'), POST('/api/v1/componentstatuses', {}), DELETE('/api/v1/componentstatuses/x'),
  ]),
  ...['HEAD', 'OPTIONS', 'TRACE', 'FOO', 'LINK'].map((m) => scenario(`crud-paths-method-${m.toLowerCase()}`, { ...about(`the method ${m}`), namespace: false }, [any(m, '/api/v1/namespaces/default', head), any(m, '/api/v1/configmaps', head), any(m, '/api', head), any(m, '/foo', head), any(m, '/version', head), any(m, '/healthz', head)])),
  scenario('crud-paths-methods-discovery', { ...about('writes to discovery, version and health paths'), namespace: false }, [
    POST('/api', {}), PUT('/apis', {}), DELETE('/api/v1'), POST('/apis/apps', {}), POST('/apis/apps/v1', {}), DELETE('/version'), POST('/version', {}), POST('/healthz', {}), DELETE('/livez'), POST('/openapi/v2', {}), POST('/metrics', {}), POST('/', {}), DELETE('/'),
  ].map((s) => ({ ...s, compareHeaders: ['content-type', 'allow'], pick: (b) => (typeof b === 'string' && b.length > 300 ? 'long text' : b.paths ? { paths: 'many' } : b.groups ? { kind: b.kind } : b) }))),
  scenario('crud-paths-trailing-slash', about('trailing slashes'), [
    POST(cms, cm('c'), { compare: 'status' }),
    GET(`${cms}/`, { ...head, pick: (b) => b.kind ?? b }), GET(`${cms}/c/`, { ...head, pick: brief }), POST(`${cms}/`, cm('d'), { pick: brief }), PUT(`${cms}/c/`, cm('c'), { pick: brief }), PATCH(`${cms}/c/`, 'merge', {}, { pick: brief }), DELETE(`${cms}/c/`), GET('/api/v1/namespaces/', { pick: (b) => b.kind ?? b, query: { limit: 1 } }), GET('/api/v1/namespaces/$ns/', { pick: brief }),
  ]),
  none('trailing-slash-discovery', 'trailing slashes of discovery and plain paths', ['/api/', '/apis/', '/apis/apps/', '/apis/apps/v1/', '/api/v1/', '/version/', '/healthz/', '/livez/', '/openapi/v2/', '/metrics/']),
  scenario('crud-paths-double-slash', about('double slashes and dots'), [
    POST(cms, cm('c'), { compare: 'status' }),
    ...['//api/v1/namespaces/$ns/configmaps/c', '/api//v1/namespaces/$ns/configmaps/c', '/api/v1//namespaces/$ns/configmaps/c', '/api/v1/namespaces//$ns/configmaps/c', '/api/v1/namespaces/$ns//configmaps', '/api/v1/namespaces/$ns/configmaps//c', '/api/v1/./namespaces/$ns/configmaps/c', '/api/v1/foo/../namespaces/$ns/configmaps/c', '/api/v1/namespaces//configmaps', '/api/v1/namespaces//configmaps/c'].map((p) => GET(p, { ...head, pick: (b) => (b.items ? b.kind : brief(b)) })),
  ]),
  ...[`${cms}/%63`, `${cms.replace('configmaps', 'config%6daps')}/c`, `${cms}%2Fc`, `${cms}/c%2F`, `${cms}/a%2Fb`, `${cms}/%2e%2e`, `${cms}/%`, `${cms}/%zz`, `${cms}/a%20b`, `${cms}/a+b`, `${cms}/%00`, `${cms}/%C3%A9`, `${cms}/a%25b`, `${cms}/c%3Fx`, `${cms}/c?`, `${cms}/c%23`].map((p, i) => scenario(`crud-paths-percent-${i + 1}`, about(`percent-encoding: GET ${p.slice(core.length)}`), [POST(cms, cm('c'), { compare: 'status' }), GET(p, { ...head, pick: brief })])),
  scenario('crud-paths-percent-create', about('an encoded slash at the end of a POST path'), [POST(`${cms}%2F`, cm('d'), { pick: brief })]),
  scenario('crud-paths-names-in-path', about('names in the path that no object can have'), [
    GET(`${cms}/UPPER`), GET(`${cms}/a_b`), GET(`${cms}/${'a'.repeat(300)}`), DELETE(`${cms}/UPPER`), PUT(`${cms}/UPPER`, cm('UPPER')), GET('/api/v1/namespaces/UPPER/configmaps', { pick: (b) => b.kind ?? b }), GET('/api/v1/namespaces/UPPER'), PATCH(`${cms}/a_b`, 'merge', {}), PUT('/apis/coordination.k8s.io/v1/namespaces/$ns/leases/UPPER', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'UPPER' } }),
  ]),
  none('case', 'paths are case-sensitive', ['/API/v1', '/api/V1', '/Apis/apps', '/apis/Apps/v1', '/api/v1/Namespaces', '/HEALTHZ', '/Version']),
  none('extra-segments', 'segments beyond what a path takes', ['/api/v1/nodes/x/y/z', '/api/v1/namespaces/default/configmaps/a/b/c', '/apis/apps/v1/namespaces/default', '/apis/apps/v1/namespaces/default/', '/apis/apps/v1/namespaces', '/version/x', '/healthz/none', '/livez/none', '/readyz/none/x', '/api/v1/x/y/z/w']),
  scenario('crud-paths-long', about('long paths and queries are read: headers may take a megabyte'), [
    GET(cms, { query: { labelSelector: Array.from({ length: 300 }, (_, i) => `key-${i}-${'x'.repeat(40)}`).join(',') }, pick: (b) => b.kind ?? b }),
    GET(cms, { query: { unknown: 'y'.repeat(100000) }, pick: (b) => b.kind ?? b }),
    GET(`${cms}/${'n'.repeat(20000)}`, { pick: (b) => ({ ...b, message: b.message?.length, details: { ...b.details, name: b.details?.name?.length } }) }),
    GET(cms, { headers: { 'x-long': 'z'.repeat(200000) }, pick: (b) => b.kind ?? b }),
  ]),
  scenario('crud-paths-headers', about('headers of every answer: audit id, flow control, caching'), [
    POST(cms, cm('c'), { compareHeaders: ['audit-id', 'cache-control', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid', 'x-content-type-options', 'strict-transport-security', 'server'], pick: brief }),
    GET(`${cms}/none`, { compareHeaders: ['audit-id', 'cache-control', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'] }),
    GET('/foo', { compareHeaders: ['audit-id', 'cache-control', 'x-kubernetes-pf-flowschema-uid'] }),
    GET('/healthz', { compareHeaders: ['audit-id', 'cache-control', 'x-kubernetes-pf-flowschema-uid', 'x-content-type-options'] }),
    GET(`${cms}/c`, { headers: { 'audit-id': 'my-own-id' }, compareHeaders: ['audit-id'], pick: brief }),
    GET(`${cms}/c`, { headers: { 'audit-id': 'i'.repeat(100) }, compareHeaders: ['audit-id'], pick: brief }),
    GET(`${cms}/c`, { as: null, compareHeaders: ['audit-id', 'cache-control', 'www-authenticate', 'x-content-type-options'] }),
  ]),
  scenario('crud-paths-query-in-odd-places', about('query strings that do not parse'), [
    POST(cms, cm('c'), { compare: 'status' }),
    GET(`${cms}/c?a=%zz`, { pick: brief }), GET(`${cms}/c?;`, { pick: brief }), GET(`${cms}?limit=1;x=2`, { pick: (b) => b.kind ?? b }), GET(`${cms}/c?=&&`, { pick: brief }), POST(`${cms}?dryRun=%zz`, cm('q'), { pick: brief }), DELETE(`${cms}/c?propagationPolicy=%zz`),
  ]),
];
