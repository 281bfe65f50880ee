// rbac.authorization.k8s.io/v1: Role, ClusterRole, RoleBinding, ClusterRoleBinding.
import { scenario, POST, PATCH, POLL } from '../steps.ts';
import { kind } from './kit/kinds-groups.mjs';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const user = { kind: 'User', name: '$ns-u' };
const role = kind({ apiVersion, resource: 'roles', kind: 'Role' });
const clusterRole = kind({ apiVersion, resource: 'clusterroles', kind: 'ClusterRole', cluster: true });
const binding = kind({ apiVersion, resource: 'rolebindings', kind: 'RoleBinding', base: { roleRef: { kind: 'Role', name: 'r' } } });
const clusterBinding = kind({ apiVersion, resource: 'clusterrolebindings', kind: 'ClusterRoleBinding', cluster: true, base: { roleRef: { kind: 'ClusterRole', name: '$ns-r' } } });

const rules = (...r) => ({ rules: r });
const subjects = (...s) => ({ subjects: s });
const ref = (o) => ({ roleRef: { kind: 'ClusterRole', name: 'r', ...o } });

const ruleRefusals = {
  verbs: [rules({ ...rule, verbs: [] }), rules({ ...rule, verbs: undefined }), rules({})],
  'api-groups': [rules({ ...rule, apiGroups: undefined }), rules({ ...rule, apiGroups: [] })],
  resources: [rules({ ...rule, resources: undefined })],
  'urls-with-resources': [rules({ ...rule, nonResourceURLs: ['/x'] }), rules({ nonResourceURLs: ['/x'], resourceNames: ['n'], verbs: ['get'] })],
  name: [{ 'metadata.name': 'a/b' }, { 'metadata.name': 'a%b' }, { 'metadata.name': '..' }],
};
const bindingRefusals = {
  name: { 'metadata.name': 'a/b' },
  'role-ref': [{ roleRef: undefined }, ref({ name: '' }), ref({ name: 'a/b' }), ref({ kind: 'Group' }), ref({ kind: '' }), ref({ apiGroup: 'example.com' })],
  'subject-kind': [subjects({ kind: 'Robot', name: 'r' }), subjects({ name: 'r' }), subjects({})],
  'subject-name': [subjects({ kind: 'User' }), subjects({ kind: 'ServiceAccount', name: 'Bad_Name', namespace: 'n' })],
  'subject-group': [subjects({ kind: 'User', name: 'u', apiGroup: 'example.com' }), subjects({ kind: 'Group', name: 'g', apiGroup: 'v1' }), subjects({ kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: 'rbac.authorization.k8s.io' })],
};
const roles = role.list, bindings = binding.list;

export default [
  ...role.creates({
    minimal: {},
    maximal: rules({ apiGroups: ['', 'apps', '*'], resources: ['pods', 'pods/log', '*/scale', '*'], resourceNames: ['a', 'b'], verbs: ['get', 'list', '*', 'made-up'] }, { ...rule, resourceNames: [] }),
    'any-name': { 'metadata.name': 'system:Some_Role:x' },
    'null-rules': { rules: null },
  }),
  ...role.refuses({ ...ruleRefusals, 'urls-in-a-namespace': [rules({ nonResourceURLs: ['/x'], verbs: ['get'] }), rules({ ...rule, nonResourceURLs: ['/x'] })] }),
  ...role.updates({ any: [{ rules: [rule, rule] }, { rules: [{}] }, { rules: null }] }, { from: rules(rule) }),
  ...role.puts(),

  ...clusterRole.creates({
    minimal: {},
    maximal: { rules: [{ nonResourceURLs: ['/x', '/y/*', '*'], verbs: ['get'] }, { ...rule, resourceNames: ['n'] }] },
    aggregated: { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.com/x': '$ns' } }, {}] }, rules: [] },
  }),
  ...clusterRole.refuses({
    ...ruleRefusals,
    'aggregation-rule': [{ aggregationRule: {} }, { aggregationRule: { clusterRoleSelectors: [] } }, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'bad value' } }] } }, { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } }],
  }),
  ...clusterRole.updates({ any: [{ rules: [rule] }, { rules: [{ verbs: [] }] }, { aggregationRule: { clusterRoleSelectors: [{}] } }] }),
  ...clusterRole.puts(),

  ...binding.creates({
    minimal: {},
    maximal: { roleRef: { apiGroup: apiVersion.split('/')[0], kind: 'ClusterRole', name: 'system:x' }, subjects: [user, { kind: 'Group', name: 'g', namespace: 'odd' }, { kind: 'ServiceAccount', name: 's' }, { kind: 'ServiceAccount', name: 't', namespace: 'n' }] },
  }),
  ...binding.refuses(bindingRefusals),
  ...binding.updates({
    'role-ref': [{ roleRef: { name: 'other' } }, { roleRef: { kind: 'ClusterRole' } }, { roleRef: null }, { roleRef: { apiGroup: null } }],
    subjects: [{ subjects: [user] }, { subjects: [{ kind: 'User' }] }],
  }),
  ...binding.puts(),

  ...clusterBinding.creates({ minimal: {}, maximal: subjects(user, { kind: 'Group', name: '$ns-g' }, { kind: 'ServiceAccount', name: 's', namespace: '$ns' }) }),
  ...clusterBinding.refuses({ ...bindingRefusals, 'role-kind': { roleRef: { kind: 'Role', name: 'r' } }, 'service-account-namespace': subjects({ kind: 'ServiceAccount', name: 's' }) }),
  ...clusterBinding.updates({ any: [{ roleRef: { name: 'other' } }, { subjects: [user] }, { roleRef: { kind: 'Role' } }] }),
  ...clusterBinding.puts(),

  scenario('rbac-escalation', { section: '5', about: 'RBAC: one cannot grant what one does not have, unless allowed to escalate or bind' }, [
    POST(roles, { apiVersion, kind: 'Role', metadata: { name: 'writer' }, rules: [{ apiGroups: [apiVersion.split('/')[0]], resources: ['roles', 'rolebindings'], verbs: ['create', 'list', 'update', 'patch', 'get'] }] }, { compare: 'status' }),
    POST(bindings, { apiVersion, kind: 'RoleBinding', metadata: { name: 'writer' }, roleRef: { kind: 'Role', name: 'writer' }, subjects: [{ kind: 'User', name: 'alice' }] }, { compare: 'status' }),
    POLL(roles, (b, status) => status === 200, { as: 'alice', compare: 'status' }),
    POST(roles, role.object(rules(rule)), { as: 'alice' }),
    POST(roles, role.object({ 'metadata.name': 'empty' }), { as: 'alice' }),
    PATCH(`${roles}/empty`, 'merge', { rules: [{ ...rule, verbs: ['get', 'list'], resources: ['pods', 'secrets'] }] }, { as: 'alice' }),
    POST(roles, role.object({ 'metadata.name': 'subset', ...rules({ apiGroups: [apiVersion.split('/')[0]], resources: ['roles'], verbs: ['list'] }) }), { as: 'alice', compare: 'status' }),
    POST(bindings, binding.object({ 'metadata.name': 'b1', roleRef: { kind: 'ClusterRole', name: 'cluster-admin' } }), { as: 'alice', pick: (b) => ({ ...b, message: b.message?.slice(0, 160) }) }),
    POST(bindings, binding.object({ 'metadata.name': 'b2', roleRef: { kind: 'Role', name: 'writer' } }), { as: 'alice', compare: 'status' }),
    POST(bindings, binding.object({ 'metadata.name': 'b3', roleRef: { kind: 'Role', name: 'not-there' } }), { as: 'alice' }),
  ]),
  scenario('rbac-update-checks-all-rules', { section: '5', about: 'RBAC: any update of a role needs rights on all its rules, save one of finalizers or owners only' }, [
    POST(roles, role.object(rules(rule)), { compare: 'status' }),
    POST(roles, { apiVersion, kind: 'Role', metadata: { name: 'labeller' }, rules: [{ apiGroups: [apiVersion.split('/')[0]], resources: ['roles'], verbs: ['patch', 'get', 'list'] }] }, { compare: 'status' }),
    POST(bindings, { apiVersion, kind: 'RoleBinding', metadata: { name: 'labeller' }, roleRef: { kind: 'Role', name: 'labeller' }, subjects: [{ kind: 'User', name: 'alice' }] }, { compare: 'status' }),
    POLL(roles, (b, status) => status === 200, { as: 'alice', compare: 'status' }),
    PATCH(role.item, 'merge', { metadata: { labels: { a: 'b' } } }, { as: 'alice' }),
    PATCH(role.item, 'merge', { metadata: { finalizers: ['example.com/f'] } }, { as: 'alice', compare: 'status' }),
    PATCH(role.item, 'merge', { metadata: { finalizers: null } }, { as: 'alice', compare: 'status' }),
    PATCH(role.item, 'merge', { rules: [] }, { as: 'alice', compare: 'status' }),
  ]),
];
