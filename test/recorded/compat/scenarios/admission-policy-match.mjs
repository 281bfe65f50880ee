// ValidatingAdmissionPolicy: which requests a policy and its bindings apply to.
import { GET, POST, PATCH, DELETE } from '../steps.ts';
import { CM, DEPLOYMENTS, cm, deployment, rule, policy, binding, guarded, quiet, warned, data, REG, mutating, validating } from './kit/admission.mjs';

const deny = { validations: [{ expression: 'false', message: 'matched' }] };
const one = (id, about, settings, steps, o = {}) => guarded(`policy-match-${id}`, about, [policy({ ...deny, ...settings }), binding(o.binding)], steps, o);
/** Steps of which only the status shows: 422 where the policy matched. */
const tries = (...steps) => steps.map((s) => ({ ...s, compare: 'status' }));
const create = (name = 'c', metadata) => POST(CM, cm(name, undefined, metadata));
const secret = POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } });
const namespaced = { scope: 'Namespaced' };

const requests = tries(
  POST(DEPLOYMENTS, deployment('d')), PATCH(`${DEPLOYMENTS}/d0`, 'merge', { metadata: { labels: { x: 'y' } } }), PATCH(`${DEPLOYMENTS}/d0/status`, 'merge', { status: { replicas: 1 } }),
  PATCH(`${DEPLOYMENTS}/d0/scale`, 'merge', { spec: { replicas: 2 } }), DELETE(`${DEPLOYMENTS}/d0`), create(),
);
const before = [POST(DEPLOYMENTS, deployment('d0'), quiet)];
const apps = { groups: ['apps'] };
const rules = [
  ['resource', 'a resource without its subresources', [rule('deployments', apps)]],
  ['own-subresources', 'deployments/*', [rule('deployments/*', apps)]],
  ['a-subresource', 'deployments/scale', [rule('deployments/scale', apps)]],
  ['all', '*', [rule('*', { groups: ['*'], versions: ['*'], ...namespaced })]],
  ['all-and-subresources', '*/*', [rule('*/*', { groups: ['*'], versions: ['*'], ...namespaced })]],
  ['operations', 'UPDATE and DELETE', [rule('deployments', { ...apps, operations: ['UPDATE', 'DELETE'] })]],
  ['group-other', 'another group', [rule('deployments', { groups: ['extensions'] })]],
  ['version-other', 'another version', [rule('deployments', { ...apps, versions: ['v1beta1'] })]],
  ['two', 'two rules', [rule('configmaps'), rule('deployments', { ...apps, operations: ['DELETE'] })]],
].map(([id, about, list]) => one(`rule-${id}`, about, { rules: list }, requests, { before }));

const names = [
  one('names', 'resourceNames', { rules: [rule('configmaps', { resourceNames: ['a', 'b'] })] }, tries(create('a'), create('b'), create('c'))),
  one('names-update', 'resourceNames on update and delete', { rules: [rule('configmaps', { resourceNames: ['a'], operations: ['UPDATE', 'DELETE'] })] }, tries(create('a'), create('b'), PATCH(`${CM}/a`, 'merge', { data: { x: 'y' } }), PATCH(`${CM}/b`, 'merge', { data: { x: 'y' } }), DELETE(`${CM}/a`), DELETE(`${CM}/b`))),
  one('names-generated', 'resourceNames and generateName', { rules: [rule('configmaps', { resourceNames: ['gen-'] })] }, tries(POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }))),
  one('names-collection', 'resourceNames on the delete of a collection: there is no name', { rules: [rule('configmaps', { resourceNames: ['a'], operations: ['DELETE'] })] }, tries(create('a'), DELETE(CM), GET(`${CM}/a`))),
  one('names-second-rule', 'a rule whose names do not fit does not end the search', { rules: [rule('configmaps', { resourceNames: ['a'] }), rule('configmaps', { resourceNames: ['b'] })] }, tries(create('b'))),
];
const excluded = (excludeResourceRules) => ({ constraints: { excludeResourceRules } });
const excludes = [
  one('exclude', 'excludeResourceRules go before resourceRules', { rules: [rule('configmaps,secrets')], ...excluded([rule('secrets')]) }, tries(create(), secret)),
  one('exclude-operation', 'an operation is excluded', excluded([rule('configmaps', { operations: ['CREATE'] })]), tries(create(), PATCH(`${CM}/c`, 'merge', { data: { x: 'y' } }))),
  one('exclude-names', 'a name is excluded', excluded([rule('configmaps', { resourceNames: ['a'] })]), tries(create('a'), create('b'))),
  one('exclude-subresource', 'a subresource is excluded', { rules: [rule('deployments/*', apps)], ...excluded([rule('deployments/scale', apps)]) }, requests, { before }),
];

const labelled = { objectSelector: { matchLabels: { l: 'x' } } };
const selectors = [
  one('object', 'objectSelector', { constraints: labelled }, tries(create('a', { labels: { l: 'x' } }), create('b', { labels: { l: 'y' } }), create('c'))),
  one('object-update', 'objectSelector: the old or the new object', { rules: [rule('configmaps', { operations: ['UPDATE'] })], constraints: labelled }, tries(create('a', { labels: { l: 'x' } }), create('b'), PATCH(`${CM}/a`, 'merge', { metadata: { labels: { l: null } } }), PATCH(`${CM}/b`, 'merge', { metadata: { labels: { l: 'x' } } }), PATCH(`${CM}/b`, 'merge', { data: { x: 'y' } }))),
  one('object-binding', 'objectSelector of the binding', {}, tries(create('a', { labels: { l: 'x' } }), create('b')), { binding: { resources: labelled } }),
  one('namespace-other', 'a policy for another namespace', { constraints: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-none' } } } }, tries(create())),
  one('namespace-binding-other', 'a binding for another namespace', {}, tries(create()), { binding: { resources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-none' } } } } }),
  one('binding-rules', 'a binding narrows the policy', { rules: [rule('configmaps,secrets')] }, tries(create(), secret), { binding: { resources: { resourceRules: [rule('secrets')] } } }),
  one('binding-rules-wider', 'a binding cannot widen it', { rules: [rule('configmaps')] }, tries(create(), secret), { binding: { resources: { resourceRules: [rule('configmaps,secrets')] } } }),
  one('binding-exclude', 'a binding excludes', { rules: [rule('configmaps,secrets')] }, tries(create(), secret), { binding: { resources: { excludeResourceRules: [rule('configmaps')] } } }),
  one('binding-names', 'a binding for a name', {}, tries(create('a'), create('b')), { binding: { resources: { resourceRules: [rule('configmaps', { resourceNames: ['a'] })] } } }),
  guarded('policy-match-binding-plain', 'a binding without matchResources', [policy(deny), { ...binding(), spec: { policyName: '$ns-policy', validationActions: ['Deny'] } }], tries(create())),
];

const HPA = (v) => `/apis/autoscaling/${v}/namespaces/$ns/horizontalpodautoscalers`;
const hpa = (v) => POST(HPA(v), { apiVersion: `autoscaling/${v}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 } });
const hpas = (version) => [rule('horizontalpodautoscalers', { groups: ['autoscaling'], versions: [version] })];
const tells = { validations: [{ expression: 'false', messageExpression: "object.apiVersion + ' ' + request.kind.version + ' ' + request.resource.version + ' ' + request.requestKind.version + ' ' + request.requestResource.version" }] };
const equivalence = [
  one('equivalent', 'Equivalent: the object in the version of the rule', { ...tells, rules: hpas('v1'), constraints: { matchPolicy: 'Equivalent' } }, [hpa('v2')]),
  one('equivalent-default', 'it is the default', { ...tells, rules: hpas('v2') }, [hpa('v1')]),
  one('exact', 'Exact: other versions do not match', { ...tells, rules: hpas('v1'), constraints: { matchPolicy: 'Exact' } }, [...tries(hpa('v2')), { ...hpa('v1'), body: { ...hpa('v1').body, metadata: { name: 'i' } } }]),
  one('equivalent-binding', 'the version of the policy counts, not that of the binding', { ...tells, rules: hpas('v1') }, [hpa('v2')], { binding: { resources: { resourceRules: hpas('v2') } } }),
  one('equivalent-exclude', 'Equivalent: excluded in another version', { ...tells, rules: hpas('*'), constraints: { excludeResourceRules: hpas('v1') } }, tries(hpa('v2'))),
];

const when = (...expressions) => ({ matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })) });
const conditions = [
  one('condition-true', 'a match condition that holds', when("object.data.a == '1'"), [create()]),
  one('condition-false', 'one that does not', when("object.data.a == '2'"), tries(create())),
  one('condition-all', 'all must hold', when('true', 'false'), tries(create())),
  one('condition-error', 'one that fails', when("object.data.nope == 'x'"), [create()]),
  one('condition-error-ignore', 'one that fails, failurePolicy Ignore', { failurePolicy: 'Ignore', ...when("object.data.nope == 'x'") }, tries(create())),
  one('condition-error-warn', 'one that fails, in a binding that warns', when("object.data.nope == 'x'"), [POST(CM, cm(), { ...data, ...warned })], { binding: { actions: ['Warn'] } }),
  one('condition-error-and-false', 'one that fails beside one that does not hold', when("object.data.nope == 'x'", 'false'), tries(create())),
  one('condition-two-errors', 'two that fail', when("object.data.nope == 'x'", "object.nope == 'y'"), [create()]),
  one('condition-namespace', 'match conditions see no namespaceObject: the namespace of the request does', when("request.namespace == '$ns'"), [create()]),
  one('condition-authorizer', 'match conditions may ask the authorizer', when("!authorizer.group('').resource('configmaps').namespace('$ns').check('breakglass').allowed()"), tries(create())),
  one('condition-user', 'users that are left out', when("request.userInfo.username != 'admin'"), tries(create(), POST(CM, cm('d'), { headers: { 'impersonate-user': 'x', 'impersonate-group': ['system:masters'] } }))),
];

const owner = { labels: { owner: '$ns' } };
const mine = { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } };
const registered = { mutating: mutating([], '$ns-e'), validating: validating([], '$ns-e'), policy: policy({ name: '$ns-e', validations: 'true' }), binding: binding({ name: '$ns-e' }) };
const collections = { mutating: 'mutatingwebhookconfigurations', validating: 'validatingwebhookconfigurations', policy: 'validatingadmissionpolicies', binding: 'validatingadmissionpolicybindings' };
const exempt = Object.entries(registered).map(([id, o]) => one(`exempt-${id}`, `${o.kind} objects are under ${/Policy/.test(o.kind) ? 'no policy' : 'policies, unlike under webhooks'}`, { rules: [rule('*', { groups: ['admissionregistration.k8s.io'] })], constraints: mine }, tries(POST(`${REG}/${collections[id]}`, { ...o, metadata: { ...o.metadata, ...owner } }), DELETE(`${REG}/${collections[id]}/$ns-e`)), { binding: { resources: mine }, cleanup: [`${REG}/${collections[id]}/$ns-e`] }));

export default [...rules, ...names, ...excludes, ...selectors, ...equivalence, ...conditions, ...exempt];
