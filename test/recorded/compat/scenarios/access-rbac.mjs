// Which requests the rules of roles cover, for whom, and with which reason (§5). Reviews ask; a few requests confirm.
import { scenario, GET, POST, PATCH, DELETE, PUT } from '../steps.ts';
import { as, user, mine, person, groupOf, account, accountName, may, mayVisit, role, clusterRole, bind, clusterBind, roles, roleBindings, clusterRoles, granted, inForce, grantedEverywhere, inForceEverywhere, clusterCleanup, until, sar, refusal, bindingObject, clusterRoleObject, roleObject, selfSar } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`rbac-${id}`, { section: '5', about, ...o }, steps);
const core = '/api/v1/namespaces/$ns';
const cm = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const defaultRoles = roles.replace('$ns', 'default');
/** Which of several missing roles or fitting bindings comes first is left to chance. */
const inAnyOrder = (b) => { const sorted = (m) => m?.replace(/RBAC: \[(.*)\]$/, (_, l) => `RBAC: [${l.split(', ').sort().join(', ')}]`); return b.kind === 'Status' ? { ...b, message: sorted(b.message) } : { ...b.status, reason: sorted(b.status.reason) }; };
const anyReason = { pick: (b) => ({ ...b.status, reason: b.status.reason?.replace(/by .* of .* to/, 'by … to') }) };
const madeMaps = ['a', 'b'].map((n) => POST(`${core}/configmaps`, cm(n), { compare: 'status' }));

/** One rule in the namespace, and requests that it covers or does not: [verb, resource, { group, name }]. */
const rule = (id, about, rules, ...requests) => s(`rule-${id}`, about, [...granted(...[rules].flat()), ...requests.map((r) => sar(r))]);
const resourceRules = [
  rule('verb', 'a verb covers itself only', may('get', 'pods'), ['get', 'pods'], ['GET', 'pods'], ['list', 'pods'], ['*', 'pods'], ['', 'pods']),
  rule('verb-any', '* covers every verb, also made-up ones', may('*', 'pods'), ['get', 'pods'], ['deletecollection', 'pods'], ['dance', 'pods'], ['', 'pods'], ['*', 'pods']),
  rule('verb-pattern', 'verbs are no patterns', may('get*,li*', 'pods'), ['get', 'pods'], ['list', 'pods'], ['get*', 'pods']),
  rule('resource', 'a resource covers neither its subresources nor others', may('get', 'pods'), ['get', 'pods'], ['get', 'pods/log'], ['get', 'podtemplates'], ['get', 'Pods'], ['get', 'pod'], ['get', 'po'], ['get', '*']),
  rule('resource-any', '* covers every resource and subresource of its groups', may('get', '*'), ['get', 'pods'], ['get', 'pods/log'], ['get', 'made-up/thing'], ['get', 'deployments', { group: 'apps' }]),
  rule('subresource', 'a subresource covers itself only', may('get', 'pods/log'), ['get', 'pods/log'], ['get', 'pods'], ['get', 'pods/status'], ['get', 'nodes/log']),
  rule('subresource-of-any', '*/scale covers scale of every resource', may('get', '*/scale', { apiGroups: ['*'] }), ['get', 'deployments/scale', { group: 'apps' }], ['get', 'replicationcontrollers/scale'], ['get', 'deployments', { group: 'apps' }], ['get', 'deployments/status', { group: 'apps' }], ['get', 'scale']),
  rule('subresource-any', 'pods/* is no pattern', may('get', 'pods/*'), ['get', 'pods/log'], ['get', 'pods'], ['get', 'pods/*']),
  rule('subresource-any-any', '*/* is no pattern', may('get', '*/*'), ['get', 'pods/log'], ['get', 'pods'], ['get', 'pods/*']),
  rule('subresource-deep', 'only the first word after the name is the subresource', may('get', 'pods/proxy'), ['get', 'pods/proxy'], ['get', 'pods', { subresource: 'proxy/a/b' }]),
  rule('group', 'the group counts, the version does not', may('get', 'deployments', { apiGroups: ['apps'] }), ['get', 'deployments', { group: 'apps' }], ['get', 'deployments', { group: 'apps', version: 'v9' }], ['get', 'deployments'], ['get', 'deployments', { group: 'extensions' }], ['get', 'deployments', { group: '*' }]),
  rule('group-any', '* covers every group', may('get', 'pods', { apiGroups: ['*'] }), ['get', 'pods'], ['get', 'pods', { group: 'made-up.example.com' }], ['get', 'pods', { group: '*' }]),
  rule('group-pattern', 'groups are no patterns', may('get', 'pods', { apiGroups: ['*.example.com', 'v1'] }), ['get', 'pods', { group: 'a.example.com' }], ['get', 'pods']),
  rule('lists', 'each list of a rule is combined with the others', may('get,list', 'pods,services', { apiGroups: ['', 'apps'] }), ['get', 'pods'], ['list', 'services'], ['list', 'pods', { group: 'apps' }], ['watch', 'pods'], ['get', 'nodes']),
  rule('not-joined', 'two rules are not combined', [may('get', 'pods'), may('list', 'services')], ['get', 'pods'], ['list', 'services'], ['list', 'pods'], ['get', 'services']),
  rule('names', 'resourceNames cover requests for those names only', may('get,list,watch,delete,create,deletecollection', 'pods', { resourceNames: ['a', 'b'] }), ['get', 'pods', { name: 'a' }], ['delete', 'pods', { name: 'b' }], ['get', 'pods', { name: 'c' }], ['list', 'pods'], ['create', 'pods'], ['list', 'pods', { name: 'a' }], ['create', 'pods', { name: 'a' }], ['deletecollection', 'pods']),
  rule('names-any', 'resourceNames have no wildcard', may('get', 'pods', { resourceNames: ['*', 'a*'] }), ['get', 'pods', { name: 'a' }], ['get', 'pods', { name: '*' }], ['get', 'pods']),
  rule('names-empty', 'an empty list of names covers all', may('get', 'pods', { resourceNames: [] }), ['get', 'pods', { name: 'a' }], ['get', 'pods']),
  rule('names-blank', 'an empty name covers requests without one', may('list', 'pods', { resourceNames: [''] }), ['list', 'pods'], ['list', 'pods', { name: 'a' }]),
  rule('names-subresource', 'names apply to subresources too', may('get', 'pods/log', { resourceNames: ['a'] }), ['get', 'pods/log', { name: 'a' }], ['get', 'pods/log', { name: 'b' }], ['get', 'pods', { name: 'a' }]),
  rule('none', 'a role without rules covers nothing', [], ['get', 'pods']),
  rule('scope', 'a role covers its namespace, not the cluster', may('*', '*', { apiGroups: ['*'] }), ['get', 'pods'], ['get', 'pods', { namespace: 'default' }], ['get', 'pods', { namespace: '' }], ['get', 'nodes', { namespace: '' }], ['get', 'nodes'], ['get', '/healthz'], ['get', '/metrics']),
];

const requests = [
  s('names-list', 'a named rule lets one list and watch that name by field selector', [...granted(may('list,watch', 'configmaps', { resourceNames: ['a'] })), ...madeMaps,
    GET(`${core}/configmaps?fieldSelector=metadata.name%3Da`, { ...mine, pick: (b) => b.items?.map((i) => i.metadata.name) ?? b }), GET(`${core}/configmaps?fieldSelector=metadata.name%3Db`, mine), GET(`${core}/configmaps`, mine), GET(`${core}/configmaps?fieldSelector=metadata.name%3Da&watch=1&timeoutSeconds=1`, { ...mine, compare: 'status' }), GET(`${core}/configmaps?watch=1&timeoutSeconds=1`, mine)]),
  s('names-write', 'a named rule for writes; create knows no name', [...granted(may('update,patch,delete,create', 'configmaps', { resourceNames: ['a', 'c'] })), ...madeMaps,
    PUT(`${core}/configmaps/a`, cm('a'), { ...mine, ...refusal }), PATCH(`${core}/configmaps/a`, 'merge', { data: { k: 'v' } }, { ...mine, ...refusal }), PATCH(`${core}/configmaps/b`, 'merge', {}, mine), POST(`${core}/configmaps`, cm('c'), mine), DELETE(`${core}/configmaps/a`, undefined, { ...mine, ...refusal }), DELETE(`${core}/configmaps/b`, undefined, mine)]),
  s('names-deletecollection', 'a named rule does not cover a delete of the collection, even by field selector', [...granted(may('deletecollection', 'configmaps', { resourceNames: ['a'] })), ...madeMaps, DELETE(`${core}/configmaps?fieldSelector=metadata.name%3Da`, undefined, mine), DELETE(`${core}/configmaps`, undefined, mine)]),
  s('wildcard-requests', 'a rule of wildcards lets one do anything in the namespace', [...granted(may('*', '*', { apiGroups: ['*'] })), POST(`${core}/configmaps`, cm('a'), { ...mine, ...refusal }), GET(`${core}/pods/none/log`, mine), GET('/api/v1/namespaces/$ns', { ...mine, ...refusal }), GET(`${core}/nothings`, mine), DELETE(`${core}/configmaps`, undefined, { ...mine, ...refusal }), GET('/api/v1/nodes', mine)]),
  s('scale-requests', 'a rule for */scale in use', [...granted(may('get,patch', '*/scale', { apiGroups: ['apps'] })), POST('/apis/apps/v1/namespaces/$ns/deployments', { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } } } }, { compare: 'status' }),
    GET('/apis/apps/v1/namespaces/$ns/deployments/d/scale', { ...mine, ...refusal }), PATCH('/apis/apps/v1/namespaces/$ns/deployments/d/scale', 'merge', { spec: { replicas: 2 } }, { ...mine, ...refusal }), GET('/apis/apps/v1/namespaces/$ns/deployments/d', mine), GET(`${core}/replicationcontrollers/r/scale`, mine)]),
  s('group-versions', 'a grant for a group covers all its versions', [...granted(may('list', 'horizontalpodautoscalers', { apiGroups: ['autoscaling'] })), ...['v1', 'v2', 'v9'].map((v) => GET(`/apis/autoscaling/${v}/namespaces/$ns/horizontalpodautoscalers`, { ...mine, ...refusal }))]),
  s('events-two-groups', 'events of the core group and of events.k8s.io are granted apart', [...granted(may('list', 'events')), GET(`${core}/events`, { ...mine, ...refusal }), GET('/apis/events.k8s.io/v1/namespaces/$ns/events', mine)]),
  s('custom-resources', 'rules for groups and resources that do not exist yet', [...granted(may('list', 'widgets', { apiGroups: ['$ns.example.com'] })), GET('/apis/$ns.example.com/v1/namespaces/$ns/widgets', mine), GET('/apis/$ns.example.com/v1/namespaces/$ns/gadgets', mine)]),
];

const url = (id, about, rules, ...list) => s(`url-${id}`, about, [...grantedEverywhere(...[rules].flat()), ...list.map((r) => sar(r))], { cleanup: clusterCleanup });
const urls = [
  url('exact', 'a path covers itself only', mayVisit('get', '/x/y'), ['get', '/x/y'], ['get', '/x/y/'], ['get', '/x/y/z'], ['get', '/x'], ['post', '/x/y'], ['head', '/x/y'], ['get', '/X/Y']),
  url('star', 'a star at the end covers what begins so', mayVisit('get', '/x/*'), ['get', '/x/'], ['get', '/x/y'], ['get', '/x/y/z'], ['get', '/x'], ['get', '/xy']),
  url('star-in-word', 'a star in the last word', mayVisit('get', '/x/ab*'), ['get', '/x/ab'], ['get', '/x/abc'], ['get', '/x/abc/d'], ['get', '/x/a']),
  url('stars', 'several stars at the end are one', mayVisit('get', '/x/**'), ['get', '/x/'], ['get', '/x/y'], ['get', '/x']),
  url('star-in-the-middle', 'a star in the middle is no pattern', mayVisit('get', '/x/*/z'), ['get', '/x/y/z'], ['get', '/x/*/z']),
  url('any', '* covers every path', mayVisit('*', '*'), ['get', '/x'], ['post', '/'], ['dance', '/metrics'], ['get', '/api/v1/namespaces/$ns/pods']),
  url('any-slash', '/* covers every path as well', mayVisit('get', '/*'), ['get', '/'], ['get', '/metrics'], ['post', '/metrics']),
  url('not-resources', 'rules for paths are none for resources', mayVisit('*', '*'), ['get', 'pods'], ['get', 'nodes', { namespace: '' }]),
  url('resources-not-urls', 'rules for resources are none for paths', may('*', '*', { apiGroups: ['*'] }), ['get', '/metrics'], ['get', 'pods']),
  s('url-requests', 'paths granted and asked for', [...grantedEverywhere(mayVisit('get', '/healthz/*', '/nothing')), GET('/healthz/ping', mine), GET('/nothing', mine), GET('/livez/ping', mine), GET('/nothing', { ...mine, method: 'HEAD', compare: 'status' })], { cleanup: clusterCleanup }),
  s('url-in-role-binding', 'a role for paths bound in a namespace grants none', [clusterRole('$ns-granted', mayVisit('get', '/metrics'), may('get', 'pods')), bind('b', 'ClusterRole/$ns-granted'), ...inForce, sar(['get', '/metrics']), sar(['get', 'pods'])], { cleanup: clusterCleanup }),
];

const subjects = [
  s('subject-user', 'a user is matched by the whole name', [role('r', may('get', 'pods')), bind('b', 'Role/r', person('$ns-u')), ...inForce, ...['$ns-u', '$ns-U', '$ns-u2', '$ns', ''].map((u) => sar(['get', 'pods'], { user: u, groups: ['x'] }))]),
  s('subject-group', 'a group is matched among all groups of the caller', [role('r', may('get', 'pods')), bind('b', 'Role/r', groupOf('$ns-g')), ...inForce, sar(['get', 'pods'], { user: 'x', groups: ['other', '$ns-g'] }), sar(['get', 'pods'], { user: 'x', groups: ['other'] }), sar(['get', 'pods'], { user: '$ns-g' }), sar(['get', 'pods'], { groups: ['$ns-g'] })]),
  s('subject-account', 'a service account is matched by its long user name', [role('r', may('get', 'pods')), bind('b', 'Role/r', account('sa')), ...inForce, sar(['get', 'pods'], { user: accountName('sa') }), sar(['get', 'pods'], { user: accountName('sb') }), sar(['get', 'pods'], { user: accountName('sa', 'default') }), sar(['get', 'pods'], { user: 'sa' })]),
  s('subject-account-no-namespace', 'a service account without a namespace is one of the namespace of the binding', [role('r', may('get', 'pods')), POST(roleBindings, bindingObject('b', 'Role/r', [{ kind: 'ServiceAccount', name: 'sa' }]), refusal), ...inForce, sar(['get', 'pods'], { user: accountName('sa') }), sar(['get', 'pods'], { user: accountName('sa', 'default') })]),
  s('subject-account-other-namespace', 'a service account of another namespace', [role('r', may('get', 'pods')), bind('b', 'Role/r', account('sa', '$ns-other')), ...inForce, sar(['get', 'pods'], { user: accountName('sa', '$ns-other') }), sar(['get', 'pods'], { user: accountName('sa') })]),
  s('subject-account-as-user', 'a service account bound as a user', [role('r', may('get', 'pods')), bind('b', 'Role/r', person(accountName('sa'))), ...inForce, sar(['get', 'pods'], { user: accountName('sa') })]),
  s('subject-account-groups', 'the groups of service accounts', [role('r', may('get', 'pods')), bind('b', 'Role/r', groupOf('system:serviceaccounts:$ns')), ...inForce, GET(`${core}/pods/none`, { headers: as(accountName('any')) }), GET(`${core}/pods/none`, { headers: as(accountName('any', 'default')) })]),
  s('subject-authenticated', 'system:authenticated is every known user, impersonated ones too', [role('r', may('get', 'pods')), bind('b', 'Role/r', groupOf('system:authenticated')), ...inForce, ...['alice', 'bob', null].map((as_) => GET(`${core}/pods/none`, { as: as_, note: String(as_) })), GET(`${core}/pods/none`, mine), GET(`${core}/pods/none`, { headers: as('system:anonymous') })]),
  s('subject-unauthenticated', 'system:unauthenticated is anonymous callers only', [role('r', may('get', 'pods')), bind('b', 'Role/r', groupOf('system:unauthenticated')), ...inForce, GET(`${core}/pods/none`, { as: null }), GET(`${core}/pods/none`, { as: 'bob' })]),
  s('subject-anonymous', 'the user system:anonymous can be bound by name', [role('r', may('get', 'pods')), bind('b', 'Role/r', person('system:anonymous')), ...inForce, GET(`${core}/pods/none`, { as: null })]),
  s('subject-group-of-token', 'groups of the token file', [role('r', may('get', 'pods')), bind('b', 'Role/r', groupOf('dev')), ...inForce, GET(`${core}/pods/none`, { as: 'alice' }), GET(`${core}/pods/none`, { as: 'bob' })]),
  s('subject-any', 'a star as user or group is no wildcard', [role('r', may('get', 'pods')), bind('b', 'Role/r', person('*'), groupOf('*')), ...inForce, sar(['get', 'pods']), sar(['get', 'pods'], { user: '*' })]),
  s('subject-many', 'the first subject that fits is named in the reason', [role('r', may('get', 'pods')), bind('b', 'Role/r', person('x'), groupOf('$ns-g'), person('$ns-u')), ...inForce, sar(['get', 'pods'], { user: '$ns-u', groups: ['$ns-g'] }), sar(['get', 'pods'], { user: '$ns-u' })]),
];

const bindings = [
  s('binding-cluster-role-in-namespace', 'a ClusterRole bound in a namespace counts there', [clusterRole('$ns-granted', may('get', 'pods,nodes')), bind('b', 'ClusterRole/$ns-granted'), ...inForce, sar(['get', 'pods']), sar(['get', 'pods', { namespace: 'default' }]), sar(['get', 'nodes', { namespace: '' }]), sar(['get', 'nodes'])], { cleanup: clusterCleanup }),
  s('binding-cluster', 'a ClusterRole bound in the cluster counts everywhere', [clusterRole('$ns-granted', may('get', 'pods,nodes')), clusterBind('$ns-granted', 'ClusterRole/$ns-granted'), ...inForceEverywhere, sar(['get', 'pods']), sar(['get', 'pods', { namespace: 'none-such' }]), sar(['get', 'pods', { namespace: '' }]), sar(['get', 'nodes', { namespace: '' }])], { cleanup: clusterCleanup }),
  s('binding-role-of-other-namespace', 'a Role is looked up in the namespace of the binding only', [POST(`${defaultRoles}`, roleObject('$ns-r', [may('get', 'pods')]), { compare: 'status' }), bind('b', 'Role/$ns-r'), ...inForce, sar(['get', 'pods'])], { cleanup: [`${defaultRoles}/$ns-r`] }),
  s('binding-missing-role', 'a binding to a missing role: the reason says so', [bind('b', 'Role/none'), bind('c', 'ClusterRole/$ns-none'), ...inForce, GET(`${core}/pods`, { ...mine, pick: inAnyOrder }), sar(['get', 'pods'], { user }, { pick: inAnyOrder })]),
  s('binding-missing-cluster-role', 'a cluster binding to a missing role', [clusterBind('$ns-granted', 'ClusterRole/$ns-none'), ...inForceEverywhere, GET('/api/v1/nodes', mine), GET(`${core}/pods`, mine), GET('/metrics', mine)], { cleanup: clusterCleanup }),
  s('binding-missing-role-beside-good', 'what is missing does not take away what another binding grants', [bind('b', 'Role/none'), ...granted(may('get', 'pods')), GET(`${core}/pods/none`, mine), sar(['get', 'pods']), GET(`${core}/services`, mine)]),
  s('binding-no-subjects', 'a binding without subjects grants nothing', [role('r', may('get', 'pods')), POST(roleBindings, bindingObject('b', 'Role/r'), refusal), ...inForce, sar(['get', 'pods'])]),
  s('binding-cluster-first', 'of several grants the reason names the one of the cluster', [...grantedEverywhere(may('get', 'pods')), ...granted(may('get', 'pods')), sar(['get', 'pods'])], { cleanup: clusterCleanup }),
  s('binding-odd-names', 'names with colons in reasons', [POST(roles, roleObject('a:b', [may('get', 'pods')]), refusal), POST(roleBindings, bindingObject('c:d', 'Role/a:b', [person()]), refusal), ...inForce, sar(['get', 'pods'])]),
  s('binding-deleted', 'a deleted binding grants no longer', [...granted(may('get', 'pods')), sar(['get', 'pods']), DELETE(`${roleBindings}/granted`, undefined, { compare: 'status' }), until(['get', 'pods'], { user }, false), GET(`${core}/pods/none`, mine)]),
  s('binding-role-deleted', 'nor does one whose role is deleted', [...granted(may('get', 'pods')), DELETE(`${roles}/granted`, undefined, { compare: 'status' }), until(['get', 'pods'], { user }, false), GET(`${core}/pods/none`, mine)]),
  s('binding-role-changed', 'a changed role counts at once', [...granted(may('get', 'pods')), PATCH(`${roles}/granted`, 'merge', { rules: [may('get', 'services')] }, { compare: 'status' }), until(['get', 'services']), sar(['get', 'pods']), sar(['get', 'services'])]),
  s('binding-subjects-changed', 'changed subjects count', [...granted(may('get', 'pods')), PATCH(`${roleBindings}/granted`, 'merge', { subjects: [person('$ns-v')] }, { compare: 'status' }), until(['get', 'pods'], { user: '$ns-v' }), sar(['get', 'pods']), sar(['get', 'pods'], { user: '$ns-v' })]),
  s('binding-in-terminating-namespace', 'grants still count while a namespace is being deleted', [...granted(may('get', 'pods')), DELETE('/api/v1/namespaces/$ns', undefined, { compare: 'status' }), sar(['get', 'pods'])]),
  s('binding-default-roles', 'admin, edit and view are empty before a controller has filled them: no rights by them', [bind('b', 'ClusterRole/view'), ...inForce, sar(['get', 'pods']), GET(`${core}/configmaps`, mine)]),
  s('binding-aggregate-roles', 'the roles that they would gather can be bound themselves', [bind('b', 'ClusterRole/system:aggregate-to-view'), ...inForce, sar(['get', 'pods']), sar(['get', 'secrets']), sar(['create', 'pods']), sar(['get', 'pods/log'])]),
  s('binding-cluster-admin', 'cluster-admin bound in a namespace', [bind('b', 'ClusterRole/cluster-admin'), ...inForce, sar(['delete', 'pods']), sar(['dance', 'x/y', { group: 'z' }]), sar(['get', 'nodes', { namespace: '' }]), sar(['get', '/metrics'])]),
];

const masters = [
  s('masters', 'members of system:masters may do anything, without RBAC', [sar(['dance', 'x/y', { group: 'z' }], { user: 'x', groups: ['system:masters'] }), sar(['get', '/x'], { groups: ['system:masters'] }), sar(['', ''], { groups: ['system:masters'] }), sar(['get', 'pods'], { user: 'system:masters' }), sar(['get', 'pods'], { user: 'admin' })]),
  s('masters-reason', 'the review of oneself names no binding for system:masters', [selfSar({ resourceAttributes: { verb: 'get', resource: 'pods' } }), selfSar({ resourceAttributes: { verb: 'get', resource: 'pods' } }, { headers: as('x', { groups: ['system:masters'] }) })]),
];

const aggregation = [
  s('aggregation-without-controller', 'an aggregated role stays as written: filling it is a controller\'s work', [
    POST(clusterRoles, clusterRoleObject('$ns-part', [may('get', 'pods')], { metadata: { name: '$ns-part', labels: { 'example.com/to': '$ns' } } }), { compare: 'status' }),
    POST(clusterRoles, clusterRoleObject('$ns-whole', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.com/to': '$ns' } }] } }), { ignore: ['metadata.managedFields'] }),
    clusterBind('$ns-granted', 'ClusterRole/$ns-whole'), ...inForceEverywhere, sar(['get', 'pods']),
    GET(`${clusterRoles}/$ns-whole`, { pick: (b) => ({ rules: b.rules, aggregationRule: b.aggregationRule }) })], { cleanup: [...clusterCleanup, `${clusterRoles}/$ns-part`, `${clusterRoles}/$ns-whole`] }),
  s('aggregation-own-rules', 'rules written into an aggregated role count', [POST(clusterRoles, clusterRoleObject('$ns-whole', [may('get', 'pods')], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.com/to': '$ns' } }] } }), { compare: 'status' }), clusterBind('$ns-granted', 'ClusterRole/$ns-whole'), ...inForceEverywhere, sar(['get', 'pods'])], { cleanup: [...clusterCleanup, `${clusterRoles}/$ns-whole`] }),
];

const everyUser = ['system:basic-user', 'system:discovery', 'system:public-info-viewer'];
const defaults = [
  s('default-authenticated', `what every known user may do: ${everyUser.join(', ')}`, [
    ...['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'].map((r) => sar(['create', r, { group: 'authorization.k8s.io', namespace: '' }], { user: 'x', groups: ['system:authenticated'] })), sar(['create', 'selfsubjectreviews', { group: 'authentication.k8s.io', namespace: '' }], { user: 'x', groups: ['system:authenticated'] }),
    ...['/api', '/apis/apps', '/healthz', '/version/', '/metrics', '/openapi/v3'].map((p) => sar(['get', p], { user: 'x', groups: ['system:authenticated'] }, anyReason))], { namespace: false }),
  s('default-unauthenticated', 'what anonymous callers may do', [...['/healthz', '/livez', '/readyz', '/version', '/version/', '/api', '/'].map((p) => sar(['get', p], { user: 'system:anonymous', groups: ['system:unauthenticated'] })), sar(['create', 'selfsubjectreviews', { group: 'authentication.k8s.io', namespace: '' }], { user: 'system:anonymous', groups: ['system:unauthenticated'] })], { namespace: false }),
  s('default-monitoring', 'the group system:monitoring', [...['/metrics', '/metrics/slis', '/healthz', '/healthz/ping', '/livez/x', '/readyz/', '/api'].map((p) => sar(['get', p], { user: 'x', groups: ['system:monitoring'] }))], { namespace: false }),
  s('default-accounts', 'service accounts read the issuer documents', [...['/openid/v1/jwks', '/openid/v1/jwks/', '/.well-known/openid-configuration', '/.well-known/openid-configuration/'].map((p) => sar(['get', p], { user: accountName('s'), groups: ['system:serviceaccounts'] })), GET('/openid/v1/jwks', { headers: { ...as(accountName('s')), accept: 'application/jwk-set+json' }, compare: 'status' })], { namespace: false }),
  s('default-components', 'scheduler, controller manager and proxy by their users', [sar(['create', 'pods/binding'], { user: 'system:kube-scheduler' }), sar(['update', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-system', name: 'kube-scheduler' }], { user: 'system:kube-scheduler' }), sar(['update', 'leases', { group: 'coordination.k8s.io', namespace: 'kube-system', name: 'other' }], { user: 'system:kube-scheduler' }), sar(['create', 'serviceaccounts/token', { namespace: 'kube-system' }], { user: 'system:kube-controller-manager' }), sar(['list', 'endpointslices', { group: 'discovery.k8s.io' }], { user: 'system:kube-proxy' }), sar(['get', 'pods'], { user: 'system:kube-proxy' })]),
  s('default-controllers', 'controllers by their service accounts of kube-system', [sar(['create', 'pods'], { user: accountName('replicaset-controller', 'kube-system') }), sar(['create', 'pods'], { user: accountName('replicaset-controller', 'default') }), sar(['delete', 'anything', { group: 'any.example.com' }], { user: accountName('generic-garbage-collector', 'kube-system') }), sar(['escalate', 'clusterroles', { group: 'rbac.authorization.k8s.io', namespace: '' }], { user: accountName('clusterrole-aggregation-controller', 'kube-system') })]),
];

export default [...resourceRules, ...requests, ...urls, ...subjects, ...bindings, ...masters, ...aggregation, ...defaults];
