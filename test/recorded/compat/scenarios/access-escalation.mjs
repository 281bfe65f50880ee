// Nobody grants more than they have: roles and bindings written by users with few rights (§5).
import { scenario, POST, PUT, PATCH, APPLY } from '../steps.ts';
import { as, user, mine, person, may, mayVisit, onRbac, role, clusterRole, bind, roles, roleBindings, clusterRoles, clusterRoleBindings, granted, inForce, grantedEverywhere, inForceEverywhere, clusterCleanup, until, refusal, bindingObject, clusterBindingObject, clusterRoleObject, roleObject } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`escalation-${id}`, { section: '5', about, ...o }, steps);
const writer = [may('create,update,patch,get', 'roles,rolebindings', onRbac)];
const clusterWriter = [may('create,update,patch,get', 'clusterroles,clusterrolebindings', onRbac)];
const asMine = { ...mine, ...refusal };
/** Bindings go to somebody else, so that the user of the scenario gains nothing by them. */
const other = person('$ns-x');
const dry = { ...asMine, query: { dryRun: 'All' } };

/** The user holds `held` beside the right to write roles, and tries to write a Role with `tried`. */
const tries = (id, about, held, ...tried) => s(`role-${id}`, about, [...granted(...writer, ...held), ...tried.map((rules) => POST(roles, roleObject('r', rules), dry))]);
const roleCases = [
  tries('nothing-held', 'rules of several shapes, none of them held', [], [may('get', 'pods')], [may('get,list,watch', 'pods,services')], [may('*', '*', { apiGroups: ['*'] })], [may('get', 'pods', { resourceNames: ['a', 'b'] })], [may('get', 'deployments', { apiGroups: ['apps', ''] })]),
  tries('missing-order', 'missing rules are listed one to a line, sorted', [], [may('list', 'services'), may('get', 'pods'), may('get', 'configmaps')], [may('update,get', 'services,pods', { apiGroups: ['b', 'a'] })]),
  tries('missing-compact', 'verbs missing for one resource come together, doubles and all', [], [may('get', 'pods'), may('list', 'pods')], [may('get', 'pods'), may('get', 'pods')], [may('get', 'pods'), may('get', 'pods', { resourceNames: ['a'] })], [may('get', 'pods'), may('list', 'pods'), may('*', 'pods')]),
  tries('missing-split', 'of a rule only the combinations that are missing are listed', [may('get', 'pods')], [may('get,list', 'pods')], [may('get', 'pods,services')], [may('get', 'pods', { apiGroups: ['', 'apps'] })], [may('get,list', 'pods,services')]),
  tries('held', 'what is held may be granted, in any form', [may('get,list', 'pods,services')], [may('get', 'pods')], [may('list', 'services'), may('get', 'pods')], [may('get,list', 'pods,services')], [may('get', 'pods', { resourceNames: ['a'] })], []),
  tries('held-in-parts', 'two rules held cover one that joins them', [may('get', 'pods'), may('list', 'pods'), may('get,list', 'services')], [may('get,list', 'pods,services')]),
  tries('held-names', 'names that are held', [may('get', 'pods', { resourceNames: ['a', 'b'] })], [may('get', 'pods', { resourceNames: ['a'] })], [may('get', 'pods', { resourceNames: ['a', 'b'] })], [may('get', 'pods', { resourceNames: ['a', 'c'] })], [may('get', 'pods')]),
  tries('held-any-verb', 'a held * covers verbs, and * needs a held *', [may('*', 'pods')], [may('get,dance', 'pods')], [may('*', 'pods')], [may('*', 'services')]),
  tries('held-every-verb', 'many verbs are not *', [may('get,list,watch,create,update,patch,delete,deletecollection', 'pods')], [may('*', 'pods')]),
  tries('held-any-resource', 'a held * covers resources and subresources of its groups', [may('get', '*')], [may('get', 'pods,pods/log,made-up')], [may('get', '*/scale')], [may('get', '*')], [may('get', 'deployments', { apiGroups: ['apps'] })]),
  tries('held-any-group', 'a held * covers groups', [may('get', 'pods', { apiGroups: ['*'] })], [may('get', 'pods', { apiGroups: ['', 'x.example.com'] })], [may('get', 'pods', { apiGroups: ['*'] })], [may('get', 'services', { apiGroups: ['*'] })]),
  tries('held-subresource', 'a resource does not cover its subresources, */x does', [may('get', 'pods,*/log')], [may('get', 'pods/log')], [may('get', 'pods/status')], [may('get', '*/log')], [may('get', 'services/log')]),
  tries('invalid', 'what no rule can hold goes on to validation, missing rights come before it', [], [{ apiGroups: [''], resources: ['pods'], verbs: [] }], [{ resources: ['pods'], verbs: ['get'] }], [{ verbs: ['get'] }], [may('get', 'pods'), { verbs: [] }]),
  tries('empty-rule-parts', 'blank groups, resources and verbs', [], [may('', '')], [may('get', '', { apiGroups: [''] })]),
  s('role-groups', 'the message names the groups of the caller', [...granted(...writer), POST(roles, roleObject('r', [may('get', 'pods')]), { ...refusal, headers: as(user, { groups: ['g1', 'a "b"', 'system:authenticated'] }) }), POST(roles, roleObject('r', [may('get', 'pods')]), { ...refusal, headers: as(user, { groups: ['x'.repeat(200)], uid: 'u', extra: { k: ['v'] } }) })]),
  s('role-by-token-user', 'alice and her group', [role('w', ...writer), bind('w', 'Role/w', person('alice')), ...inForce, POST(roles, roleObject('r', [may('get', 'pods')]), { as: 'alice', ...refusal })]),
  s('role-many-rules', 'a long list of missing rules', [...granted(...writer), POST(roles, roleObject('r', ['pods', 'services', 'configmaps', 'secrets'].flatMap((r) => ['get', 'list'].map((v) => may(v, r, { apiGroups: ['', 'apps'] })))), dry)]),
  s('role-resolution-error', 'a binding of the caller to a missing role is told in the message', [bind('lost', 'Role/none'), ...granted(...writer), POST(roles, roleObject('r', [may('get', 'pods')]), dry)]),
  s('role-missing-group-order', 'the message keeps the order of the rule in one rule', [...granted(...writer), POST(roles, roleObject('r', [may('watch,get,list', 'services', { apiGroups: ['z', 'a'], resourceNames: ['n2', 'n1'] })]), dry)]),
  s('role-generate-name', 'with generateName the message has no name', [...granted(...writer), POST(roles, { ...roleObject('r', [may('get', 'pods')]), metadata: { generateName: 'g-' } }, dry)]),
  s('role-dry-run', 'a dry run is checked as well; admission and validation come after', [...granted(...writer), POST(roles, roleObject('Bad/Name', [may('get', 'pods')]), dry), POST(roles, roleObject('r', [may('get', 'pods')]), dry)]),
  s('role-exists', 'the check comes before the conflict of names', [...granted(...writer), role('r', may('get', 'pods')), POST(roles, roleObject('r', [may('get', 'pods')]), asMine), POST(roles, roleObject('r', []), asMine)]),
];

const labels = { metadata: { labels: { a: 'b' } } };
const updates = [
  s('role-update', 'an update is checked for all rules of the new state', [...granted(...writer, may('get', 'services')), role('r', may('get', 'services')),
    PUT(`${roles}/r`, roleObject('r', [may('get', 'services'), may('get', 'pods')]), asMine), PATCH(`${roles}/r`, 'merge', { rules: [may('get', 'pods')] }, asMine), PATCH(`${roles}/r`, 'json-patch', [{ op: 'add', path: '/rules/-', value: may('list', 'pods') }], asMine), PATCH(`${roles}/r`, 'merge', labels, asMine), PATCH(`${roles}/r`, 'merge', { rules: [] }, asMine)]),
  s('role-update-of-more', 'a role with more rights cannot even get a label; taking rights away is fine', [...granted(...writer, may('get', 'services')), role('r', may('get', 'services'), may('get', 'pods')),
    PATCH(`${roles}/r`, 'merge', labels, asMine), PATCH(`${roles}/r`, 'merge', {}, asMine), PATCH(`${roles}/r`, 'merge', { rules: [may('get', 'services')] }, asMine)]),
  s('role-update-unchanged', 'a PUT of what is there, by one who lacks the rights', [...granted(...writer), POST(roles, roleObject('r', [may('get', 'pods')]), { id: 'r', compare: 'status' }), PUT(`${roles}/r`, '${r}', asMine), PUT(`${roles}/r`, roleObject('r', [may('get', 'pods')]), asMine)]),
  s('role-update-gc', 'owners and finalizers may change without the rights', [...granted(...writer), POST(roles, roleObject('r', [may('get', 'pods')]), { id: 'r', compare: 'status' }), PATCH(`${roles}/r`, 'merge', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '11111111-2222-3333-4444-555555555555' }] } }, asMine), PATCH(`${roles}/r`, 'merge', { metadata: { finalizers: ['example.com/x'] } }, asMine), PATCH(`${roles}/r`, 'merge', { metadata: { finalizers: null, annotations: { a: 'b' } } }, asMine), PATCH(`${roles}/r`, 'merge', { metadata: { finalizers: null } }, asMine)]),
  s('role-apply', 'an apply that creates, and one that changes', [...granted(...writer, may('get', 'services')), APPLY(`${roles}/r`, 'm', roleObject('r', [may('get', 'pods')]), asMine), APPLY(`${roles}/r`, 'm', roleObject('r', [may('get', 'services')]), asMine), APPLY(`${roles}/r`, 'm', roleObject('r', [may('get', 'pods')]), asMine)]),
  s('role-put-missing', 'a PUT of a missing role creates it and is checked', [...granted(...writer, may('get', 'services')), PUT(`${roles}/none`, roleObject('none', [may('get', 'pods')]), asMine), PUT(`${roles}/none`, roleObject('none', [may('get', 'services')]), asMine)]),
  s('role-strategic', 'a strategic patch replaces the list of rules', [...granted(...writer, may('get', 'services')), role('r', may('get', 'services')), PATCH(`${roles}/r`, 'strategic', { rules: [may('get', 'pods')] }, asMine)]),
];

const escalate = (o = {}) => may('escalate', 'roles', { ...onRbac, ...o });
const escalateCases = [
  s('verb-escalate', 'the verb escalate on roles lifts the check', [...granted(...writer, escalate()), POST(roles, roleObject('r', [may('*', '*', { apiGroups: ['*'] })]), asMine), PATCH(`${roles}/r`, 'merge', { rules: [may('get', 'x')] }, asMine)]),
  s('verb-escalate-named', 'escalate for one name: a create has no name, an update has', [...granted(...writer, escalate({ resourceNames: ['r'] })), POST(roles, roleObject('r', [may('get', 'pods')]), asMine), role('r'), PATCH(`${roles}/r`, 'merge', { rules: [may('get', 'pods')] }, asMine), role('other'), PATCH(`${roles}/other`, 'merge', { rules: [may('get', 'pods')] }, asMine)]),
  s('verb-escalate-not-bind', 'escalate on roles does not help with bindings', [...granted(...writer, escalate()), role('r', may('get', 'pods')), POST(roleBindings, bindingObject('b', 'Role/r', [person()]), asMine)]),
  s('verb-escalate-cluster', 'escalate on clusterroles, aggregation rules too', [...grantedEverywhere(...clusterWriter, may('escalate', 'clusterroles', onRbac)), POST(clusterRoles, clusterRoleObject('$ns-r', [mayVisit('*', '*')]), dry), POST(clusterRoles, clusterRoleObject('$ns-r', [], { aggregationRule: { clusterRoleSelectors: [{}] } }), dry)], { cleanup: clusterCleanup }),
  s('masters', 'members of system:masters are not checked', [POST(roles, roleObject('r', [may('*', '*', { apiGroups: ['*'] })]), { ...refusal, headers: as('x', { groups: ['system:masters'] }) }), POST(roleBindings, bindingObject('b', 'ClusterRole/not-there', [person()]), { ...refusal, headers: as('x', { groups: ['system:masters'] }) })]),
];

const clusterTries = (id, about, held, ...bodies) => s(`clusterrole-${id}`, about, [...grantedEverywhere(...clusterWriter, ...held), ...bodies.map((b) => POST(clusterRoles, clusterRoleObject('$ns-r', b.rules ?? [], b), dry))], { cleanup: clusterCleanup });
const clusterCases = [
  clusterTries('urls', 'paths that are not held', [], { rules: [mayVisit('get', '/x')] }, { rules: [mayVisit('get,post', '/x', '/y/*', '*')] }, { rules: [mayVisit('*', '*'), may('get', 'nodes')] }),
  clusterTries('urls-held', 'paths that are held, by prefix', [mayVisit('get', '/x/*', '/y')], { rules: [mayVisit('get', '/x/a')] }, { rules: [mayVisit('get', '/x/a/*')] }, { rules: [mayVisit('get', '/x/*', '/y')] }, { rules: [mayVisit('get', '/x')] }, { rules: [mayVisit('get', '/y/z')] }, { rules: [mayVisit('post', '/y')] }, { rules: [mayVisit('get', '*')] }),
  clusterTries('urls-any', 'a held * covers paths', [mayVisit('get', '*')], { rules: [mayVisit('get', '/x', '/x/*', '*')] }, { rules: [mayVisit('*', '/x')] }),
  clusterTries('discovery', 'what every user holds may be granted', [], { rules: [mayVisit('get', '/healthz', '/apis/*')] }, { rules: [may('create', 'selfsubjectaccessreviews', { apiGroups: ['authorization.k8s.io'] })] }),
  clusterTries('aggregation', 'an aggregation rule needs every right', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }, { aggregationRule: { clusterRoleSelectors: [] } }, { aggregationRule: { clusterRoleSelectors: [{}] }, rules: [may('get', 'pods')] }),
  clusterTries('aggregation-all-resources', 'every verb on every resource includes escalate, so it goes without paths', [may('*', '*', { apiGroups: ['*'] })], { aggregationRule: { clusterRoleSelectors: [{}] } }),
  clusterTries('aggregation-all', 'with every right on resources and paths it goes', [may('*', '*', { apiGroups: ['*'] }), mayVisit('*', '*')], { aggregationRule: { clusterRoleSelectors: [{}] } }),
  s('clusterrole-aggregation-update', 'changing or labelling an aggregated role needs every right as well', [...grantedEverywhere(...clusterWriter), POST(clusterRoles, clusterRoleObject('$ns-a', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: '$ns' } }] } }), { compare: 'status' }),
    PATCH(`${clusterRoles}/$ns-a`, 'merge', labels, asMine), PATCH(`${clusterRoles}/$ns-a`, 'merge', { aggregationRule: null }, asMine), PATCH(`${clusterRoles}/$ns-a`, 'merge', { metadata: { finalizers: ['example.com/x'] } }, asMine)], { cleanup: [...clusterCleanup, `${clusterRoles}/$ns-a`] }),
  s('clusterrole-held-in-namespace', 'rights held in a namespace do not count for a ClusterRole', [...grantedEverywhere(...clusterWriter), ...granted(may('get', 'pods')), POST(clusterRoles, clusterRoleObject('$ns-r', [may('get', 'pods')]), dry)], { cleanup: clusterCleanup }),
  s('role-held-in-cluster', 'rights held in the cluster count for a Role', [...grantedEverywhere(may('get', 'pods')), ...granted(...writer), POST(roles, roleObject('r', [may('get', 'pods')]), dry)], { cleanup: clusterCleanup }),
];

/** Roles made after the marker of granted() need one of their own to be waited for. */
const inForceAgain = [role('late', may('use', 'late')), bind('late', 'Role/late', person('$ns-late')), until(['use', 'late'], { user: '$ns-late' })];
const bindCases = [
  s('binding-not-held', 'binding a role whose rights one lacks', [...granted(...writer), role('r', may('get,list', 'pods'), may('get', 'services')), POST(roleBindings, bindingObject('b', 'Role/r', [other]), asMine)]),
  s('binding-held', 'binding a role whose rights one has', [...granted(...writer, may('get', 'pods')), role('r', may('get', 'pods')), ...inForceAgain, POST(roleBindings, bindingObject('b', 'Role/r', [other]), asMine)]),
  s('binding-missing-role', 'binding a role that is not there', [...granted(...writer), POST(roleBindings, bindingObject('b', 'Role/none', [other]), asMine), POST(roleBindings, bindingObject('b', 'ClusterRole/$ns-none', [other]), asMine)]),
  s('binding-missing-role-allowed', 'with the verb bind a role that is not there can be bound', [...granted(...writer, may('bind', 'roles', { ...onRbac, resourceNames: ['none'] })), POST(roleBindings, bindingObject('b', 'Role/none', [other]), asMine)]),
  s('binding-no-subjects', 'the rights are asked for even without subjects', [...granted(...writer), role('r', may('get', 'pods')), POST(roleBindings, bindingObject('b', 'Role/r'), asMine)]),
  s('binding-empty-role', 'an empty role is bound by anyone', [...granted(...writer), role('r'), ...inForceAgain, POST(roleBindings, bindingObject('b', 'Role/r', [other]), asMine)]),
  s('binding-bad-ref', 'references of another kind', [...granted(...writer), POST(roleBindings, { ...bindingObject('b', 'Role/r', [other]), roleRef: { kind: 'Group', name: 'x' } }, asMine), POST(roleBindings, { ...bindingObject('b', 'Role/r', [other]), roleRef: { apiGroup: 'example.com', kind: 'Role', name: 'x' } }, asMine), POST(roleBindings, { ...bindingObject('b', 'Role/r', [other]), roleRef: undefined }, asMine)]),
  s('binding-verb-bind', 'the verb bind on the role lifts the check, by name or for all', [...granted(...writer, may('bind', 'roles', { ...onRbac, resourceNames: ['r'] }), may('bind', 'clusterroles', onRbac)), role('r', may('get', 'pods')), role('other', may('get', 'pods')), ...inForceAgain,
    POST(roleBindings, bindingObject('b', 'Role/r', [other]), asMine), POST(roleBindings, bindingObject('c', 'Role/other', [other]), asMine), POST(roleBindings, bindingObject('d', 'ClusterRole/cluster-admin', [other]), asMine)]),
  s('binding-verb-bind-namespace', 'bind granted in a namespace does not count in the cluster', [...grantedEverywhere(...clusterWriter), ...granted(may('bind', 'clusterroles', onRbac)), POST(clusterRoleBindings, clusterBindingObject('$ns-b', 'ClusterRole/system:basic-user', [other]), asMine), POST(clusterRoleBindings, clusterBindingObject('$ns-c', 'ClusterRole/system:monitoring', [other]), asMine)], { cleanup: [...clusterCleanup, `${clusterRoleBindings}/$ns-b`, `${clusterRoleBindings}/$ns-c`] }),
  s('binding-update', 'changing subjects or labels of a binding asks for the rights', [...granted(...writer), role('r', may('get', 'pods')), bind('b', 'Role/r', other), ...inForceAgain,
    PATCH(`${roleBindings}/b`, 'merge', { subjects: [person('$ns-y')] }, asMine), PATCH(`${roleBindings}/b`, 'merge', labels, asMine), PATCH(`${roleBindings}/b`, 'merge', { subjects: null }, asMine), PATCH(`${roleBindings}/b`, 'merge', { metadata: { finalizers: ['example.com/x'] } }, asMine), PATCH(`${roleBindings}/b`, 'merge', { metadata: { finalizers: null } }, asMine), PUT(`${roleBindings}/b`, bindingObject('b', 'Role/granted', [other]), asMine)]),
  s('binding-put-missing', 'a PUT of a missing binding creates it and is checked', [...granted(...writer), role('r', may('get', 'pods')), ...inForceAgain, PUT(`${roleBindings}/b`, bindingObject('b', 'Role/r', [other]), asMine), PUT(`${roleBindings}/b`, bindingObject('b', 'Role/granted', [other]), asMine)]),
  s('binding-apply', 'an apply of a binding', [...granted(...writer), role('r', may('get', 'pods')), ...inForceAgain, APPLY(`${roleBindings}/b`, 'm', bindingObject('b', 'Role/r', [other]), asMine), APPLY(`${roleBindings}/c`, 'm', bindingObject('c', 'Role/granted', [other]), asMine)]),
  s('clusterbinding-not-held', 'binding a ClusterRole in the cluster', [...grantedEverywhere(...clusterWriter), POST(clusterRoleBindings, clusterBindingObject('$ns-b', 'ClusterRole/cluster-admin', [other]), asMine), POST(clusterRoleBindings, clusterBindingObject('$ns-b', 'ClusterRole/system:monitoring', [other]), asMine), POST(clusterRoleBindings, clusterBindingObject('$ns-b', 'ClusterRole/system:discovery', [other]), asMine), POST(clusterRoleBindings, clusterBindingObject('$ns-c', 'ClusterRole/$ns-none', [other]), asMine)], { cleanup: [...clusterCleanup, `${clusterRoleBindings}/$ns-b`, `${clusterRoleBindings}/$ns-c`] }),
  s('binding-of-url-role', 'binding a ClusterRole for paths in a namespace asks for the paths', [...granted(...writer), POST(roleBindings, bindingObject('b', 'ClusterRole/system:monitoring', [other]), asMine)]),
  s('binding-cluster-held-in-namespace', 'what one may do in a namespace lets one bind there', [clusterRole('$ns-granted', may('get', 'pods')), ...granted(...writer, may('get', 'pods')), ...inForceEverywhere, POST(roleBindings, bindingObject('b', 'ClusterRole/$ns-granted', [other]), asMine)], { cleanup: clusterCleanup }),
];

export default [...roleCases, ...updates, ...escalateCases, ...clusterCases, ...bindCases];
