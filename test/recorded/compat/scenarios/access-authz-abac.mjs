// ABAC: policies of a file, alone and before RBAC (§6). The users are those of the policies in set-ups/authz.ts.
import { DELETE, GET, POST, scenario } from '../steps.ts';
import { as, bind, inForce, may, person, role, roles, sar } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`authz-abac-${id}`, { section: '6', about, needs: 'abac', ...o }, steps);
const maps = '/api/v1/namespaces/$ns/configmaps';
/** Only the message of a refusal, or the kind of what came instead. */
const message = { pick: (b) => (b?.kind === 'Status' && b.status === 'Failure' ? b.message : b?.kind ?? typeof b) };
const by = (name, o = {}) => ({ headers: as(name, o), ...message });
const map = { metadata: { name: 'a' } };
const rules = (name, o) => POST('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: '$ns' } }, { headers: as(name, o), pick: (b) => (b.kind === 'Status' ? b : { ...b.status, resourceRules: sorted(b.status.resourceRules), nonResourceRules: sorted(b.status.nonResourceRules) }) });
/** In an order of their own: the reference has those of its bindings in any. */
const sorted = (list) => list?.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) ?? null;

export default [
  s('all', 'a policy for everything', [GET(maps, by('abac-all')), POST(maps, map, by('abac-all')), DELETE(`${maps}/a`, undefined, by('abac-all')), GET('/version', by('abac-all')), GET('/api/v1/nodes', by('abac-all'))]),
  s('readonly', 'a policy for reading', [GET(maps, by('abac-reader')), GET(`${maps}?watch=1&timeoutSeconds=1`, { headers: as('abac-reader'), compare: 'status', text: true }), POST(maps, map, by('abac-reader')), DELETE(maps, undefined, by('abac-reader')), GET('/version', by('abac-reader')), POST('/version', undefined, by('abac-reader'))]),
  s('namespace', 'a policy for another namespace', [GET('/api/v1/namespaces/default/configmaps/none', by('abac-default')), GET(maps, by('abac-default')), GET('/api/v1/configmaps', by('abac-default')), GET('/api/v1/namespaces/default', by('abac-default')), GET('/api/v1/nodes', by('abac-default'))]),
  s('resource', 'a policy for one resource', [POST(maps, map, by('abac-maps')), GET('/api/v1/configmaps/', by('abac-maps')), GET('/api/v1/namespaces/$ns/secrets', by('abac-maps')), GET('/apis/apps/v1/namespaces/$ns/configmaps', by('abac-maps'))]),
  s('api-group', 'a policy for one group of the API', [GET('/apis/apps/v1/namespaces/$ns/deployments', by('abac-apps')), GET('/apis/batch/v1/namespaces/$ns/jobs', by('abac-apps')), GET(maps, by('abac-apps'))]),
  s('cluster', 'a policy without a namespace', [GET('/api/v1/nodes', by('abac-cluster')), GET('/api/v1/configmaps', by('abac-cluster')), GET(maps, by('abac-cluster'))]),
  s('paths', 'policies for paths', [GET('/api', by('abac-paths')), GET('/apis', by('abac-paths')), GET('/version', by('abac-paths')), GET('/api/v1/nodes', by('abac-paths')), GET('/version', by('abac-version')), GET('/version/', by('abac-version')), POST('/version', undefined, by('abac-version'))]),
  s('subresource', 'a resource with a slash is no subresource', [GET('/api/v1/namespaces/$ns/pods/p/log', by('abac-subresource')), sar(['get', 'pods/log'], { user: 'abac-subresource' }), sar(['get', 'pods/log'], { user: 'abac-all' })]),
  s('group', 'a policy for a group, and one for a user in a group', [GET(maps, by('u', { groups: ['abac-group'] })), GET(maps, by('u', { groups: ['other'] })), GET('/api/v1/namespaces/$ns/secrets', by('abac-both')), GET('/api/v1/namespaces/$ns/secrets', by('abac-both', { groups: ['abac-group'] })), GET('/api/v1/namespaces/$ns/secrets', by('u', { groups: ['abac-group'] }))]),
  s('unversioned', 'a line of the first release', [POST(maps, map, by('abac-old')), GET('/api/v1/namespaces/$ns/secrets', by('abac-old')), GET('/version', by('abac-old'))]),
  s('nobody', 'who has no policy', [GET(maps, by('u')), GET('/version', by('u')), GET(maps, { as: 'alice', ...message }), GET('/healthz', { as: null, ...message })]),
  s('masters', 'members of system:masters need none', [GET(maps, by('u', { groups: ['system:masters'] })), GET(maps, message)]),
  s('reviews', 'reviews of access', [sar(['get', 'configmaps'], { user: 'abac-maps' }), sar(['escalate', 'configmaps'], { user: 'abac-maps' }), sar(['get', 'secrets'], { user: 'abac-maps' }), sar(['get', '/api/x'], { user: 'abac-paths' }), sar(['*', '*', { group: '*', namespace: '*' }], { user: 'abac-all' }), sar(['get', 'pods'], { groups: ['abac-group'] })]),
  s('rules', 'reviews of rules', [rules('abac-all'), rules('abac-reader'), rules('abac-default'), rules('abac-maps'), rules('abac-paths'), rules('abac-old'), rules('u', { groups: ['abac-group'] }), rules('u')]),
  s('roles', 'roles count for nothing', [role('r', may('get,list', 'configmaps')), bind('r', 'Role/r', person('$ns-u')), GET(maps, by('$ns-u'))]),
  s('escalation', 'a policy has all verbs, escalate too', [POST(roles, { metadata: { name: 'r' }, rules: [may('*', '*', { apiGroups: ['*'] })] }, by('abac-roles')), POST('/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/rolebindings', { metadata: { name: 'b' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' } }, by('abac-roles'))]),
  s('impersonation', 'impersonation is a verb like others', [GET(maps, { as: 'alice', headers: as('u'), ...message })]),
  s('then-rbac', 'a role allows what no policy does, and the reasons are told', [role('r', may('list', 'configmaps')), bind('r', 'Role/r', person('$ns-u')), bind('gone', 'Role/gone', person('$ns-u')), ...inForce, GET(maps, by('$ns-u')), POST(maps, map, by('$ns-u')), POST(maps, map, by('abac-maps')), rules('abac-maps'), sar(['create', 'configmaps'], { user: '$ns-u' })], { needs: 'abac-rbac' }),
];
