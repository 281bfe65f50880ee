// Which flow schema and priority level a request falls under: the uids in its answer are those of the named objects (§8).
import { scenario, GET, POST, PATCH, DELETE } from '../steps.ts';
import { as, accountName, nodeHeaders } from './kit/access.mjs';

const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
const uid = (b) => b.metadata.uid;
const headers = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'];
const quietly = { compareHeaders: headers, pick: () => null };
const s = (id, about, steps, o = {}) => scenario(`flow-${id}`, { section: '8', about, namespace: false, ...o }, steps);
/** The two objects first, so that their uids get names, then requests whose answers name them. */
const falls = (id, about, schema, level, ...requests) => s(id, about, [GET(`${flow}/flowschemas/${schema}`, { pick: uid }), GET(`${flow}/prioritylevelconfigurations/${level}`, { pick: uid }), ...requests.map((r) => ({ ...r, ...quietly }))]);
const pods = '/api/v1/namespaces/default/pods?limit=1';
const lease = (ns, name = '$ns-none') => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/${name}`;
const by = (user, groups = []) => ({ headers: as(user, { groups }) });
const masters = ['system:masters'];

export default [
  falls('masters', 'members of system:masters are exempt', 'exempt', 'exempt', GET(pods), POST('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes: {} } }), GET('/api/v1/namespaces/default/pods/none'), GET('/healthz'), GET(pods, by('u', masters))),
  falls('users', 'people fall under global-default, answered or refused', 'global-default', 'global-default', GET('/api', { as: 'alice' }), GET(pods, { as: 'alice' }), POST('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { as: 'bob' }), GET('/nothing', { as: 'bob' }), GET(pods, by('$ns-u'))),
  falls('anonymous', 'so do anonymous callers', 'global-default', 'global-default', GET(pods, { as: null }), GET('/version', { as: null }), GET('/api', { as: null })),
  falls('probes', 'health paths are exempt for everybody', 'probes', 'exempt', ...['/healthz', '/livez', '/readyz'].flatMap((p) => [GET(p, { as: null }), GET(p, { as: 'bob' })])),
  falls('probes-below', 'a path without a star covers what is below it, unlike in roles', 'probes', 'exempt', GET('/healthz/ping', { as: 'bob' }), GET('/livez/', { as: 'bob' }), GET('/healthz?verbose', { as: 'bob' }), GET('/readyz/x/y', { as: null })),
  falls('probes-other-methods', 'other methods, and paths that only begin so, are no probes', 'global-default', 'global-default', POST('/healthz', {}, { as: 'bob' }), GET('/healthz', { as: 'bob', method: 'HEAD' }), GET('/healthzz', { as: 'bob' })),
  falls('accounts', 'service accounts', 'service-accounts', 'workload-low', GET('/api', by(accountName('x', 'default'))), GET(pods, by(accountName('x', 'default')))),
  falls('accounts-with-groups', 'it is the group that counts', 'service-accounts', 'workload-low', GET('/api', by('u', ['system:serviceaccounts']))),
  falls('accounts-kube-system', 'service accounts of kube-system', 'kube-system-service-accounts', 'workload-high', GET('/api', by(accountName('x', 'kube-system')))),
  falls('scheduler', 'the scheduler', 'kube-scheduler', 'workload-high', GET(pods, by('system:kube-scheduler')), GET('/api', by('system:kube-scheduler'))),
  falls('controller-manager', 'the controller manager', 'kube-controller-manager', 'workload-high', GET(pods, by('system:kube-controller-manager'))),
  falls('nodes', 'nodes', 'system-nodes', 'system', GET(pods, { headers: nodeHeaders('n') }), GET('/api', { headers: nodeHeaders('n') })),
  falls('nodes-high', 'the state of nodes and their leases', 'system-node-high', 'node-high', GET('/api/v1/nodes/n', { headers: nodeHeaders('n') }), GET(lease('kube-node-lease', 'n'), { headers: nodeHeaders('n') }), PATCH('/api/v1/nodes/$ns-none/status', 'merge', {}, { headers: nodeHeaders('n') })),
  falls('leader-election', 'leases by the components and by service accounts of kube-system, in any namespace', 'system-leader-election', 'leader-election', GET(lease('kube-system'), by('system:kube-scheduler')), GET(lease('default'), by('system:kube-scheduler')), GET(lease('kube-system'), by('system:kube-controller-manager')), GET(lease('default'), by(accountName('x', 'kube-system')))),
  falls('leader-election-other-verbs', 'other verbs on leases are ordinary', 'kube-scheduler', 'workload-high', GET('/apis/coordination.k8s.io/v1/namespaces/kube-system/leases', by('system:kube-scheduler')), PATCH(lease('kube-system'), 'merge', {}, by('system:kube-scheduler')), GET('/apis/coordination.k8s.io/v1/leases', by('system:kube-scheduler'))),
  falls('workload-leader-election', 'config maps and endpoints by service accounts of kube-system', 'workload-leader-election', 'leader-election', GET('/api/v1/namespaces/default/configmaps/none', by(accountName('x', 'kube-system'))), GET('/api/v1/namespaces/default/endpoints/none', by(accountName('x', 'kube-system')))),
  falls('leader-election-by-others', 'leases by other service accounts', 'service-accounts', 'workload-low', GET(lease('kube-system'), by(accountName('x', 'default')))),
  falls('endpoint-controller', 'endpoints by their controllers', 'endpoint-controller', 'workload-high', ...['endpoint-controller', 'endpointslicemirroring-controller'].map((n) => GET('/api/v1/namespaces/default/endpoints/none', by(accountName(n, 'kube-system')))), GET('/api/v1/namespaces/default/endpoints/none', by('system:kube-controller-manager'))),
  falls('other-controllers', 'slices by their controller are like those of any account of kube-system', 'kube-system-service-accounts', 'workload-high', GET('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/none', by(accountName('endpointslice-controller', 'kube-system')))),
  s('no-token', 'before a caller is known there is no schema', [GET(pods, { headers: { authorization: 'Bearer nobody' }, ...quietly }), GET('/version', { headers: { 'impersonate-group': 'g' }, ...quietly })]),
  s('impersonation-refused', 'nor when impersonation is refused: it comes first', [GET(pods, { as: 'bob', headers: as('x'), ...quietly })]),
  falls('watch', 'a watch has them as well', 'global-default', 'global-default', GET('/api/v1/namespaces/default/pods?watch=1', { as: 'alice' })),
  falls('discovery', 'all kinds of answers have them', 'exempt', 'exempt', GET('/apis'), GET('/openapi/v3'), GET('/metrics'), GET('/nothing'), GET('/api/v1/nothings'), DELETE('/api/v1/namespaces/default/pods/none'), GET('/version', { method: 'OPTIONS' })),
  s('own-schema', 'a schema for one user wins by its precedence', [
    POST(`${flow}/flowschemas`, { apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind: 'FlowSchema', metadata: { name: '$ns-f' }, spec: { matchingPrecedence: 9000, priorityLevelConfiguration: { name: 'workload-low' }, distinguisherMethod: { type: 'ByUser' }, rules: [{ subjects: [{ kind: 'User', user: { name: '$ns-u' } }], resourceRules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/api'] }] }] } }, { pick: uid }),
    GET(`${flow}/prioritylevelconfigurations/workload-low`, { pick: uid }), GET(`${flow}/flowschemas/global-default`, { pick: uid }), GET(`${flow}/prioritylevelconfigurations/global-default`, { pick: uid }),
    { ...GET(pods, { ...by('$ns-u'), compare: 'status', id: 'seen' }), kind: 'poll', ms: 3000, until: () => false, note: 'time for it to be taken up' },
    GET(pods, { ...by('$ns-u'), ...quietly }), GET('/api', { ...by('$ns-u'), ...quietly }), GET('/apis', { ...by('$ns-u'), ...quietly }), GET('/api/v1/namespaces/default/pods/none', { ...by('$ns-u'), ...quietly }), GET(pods, { ...by('$ns-v'), ...quietly }), GET(pods, { ...by('$ns-u', masters), ...quietly, note: 'the exempt schema goes before' })], { cleanup: [`${flow}/flowschemas/$ns-f`] }),
];
