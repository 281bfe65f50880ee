// admissionregistration.k8s.io/v1: the two webhook configurations, ValidatingAdmissionPolicy and its binding. What is created
// for good matches only resources of a group that nobody has.
import { kind } from './kit/kinds-groups.mjs';

const apiVersion = 'admissionregistration.k8s.io/v1';
const rule = { operations: ['CREATE'], apiGroups: ['$ns.example.com'], apiVersions: ['v1'], resources: ['widgets'] };
const webhook = { name: 'w.example.com', clientConfig: { url: 'https://localhost:1/x' }, sideEffects: 'None', admissionReviewVersions: ['v1'], rules: [rule] };
const hooks = (...w) => ({ webhooks: w.map((o) => ({ ...webhook, ...o })) });
const rules = (o) => hooks({ rules: [{ ...rule, ...o }] });
const service = (o) => hooks({ clientConfig: { service: { name: 's', namespace: 'n', ...o } } });
const url = (u) => hooks({ clientConfig: { url: u } });
const conditions = (...matchConditions) => hooks({ matchConditions });
const condition = (expression, name = 'c') => ({ name, expression });

const hookTables = (k) => [
  ...k.creates({
    minimal: { webhooks: undefined },
    'minimal-webhook': {},
    maximal: hooks(
      { failurePolicy: 'Ignore', matchPolicy: 'Exact', timeoutSeconds: 30, sideEffects: 'NoneOnDryRun', admissionReviewVersions: ['v1', 'v1beta1', 'v9'], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } }, objectSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] }, matchConditions: [condition("request.operation == 'CREATE' && object.metadata.name != ''"), condition("authorizer.group('').resource('pods').check('get').allowed()", 'example.com/d')], rules: [{ ...rule, operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'], scope: 'Namespaced', resources: ['widgets', 'widgets/status'] }], clientConfig: { service: { name: 's', namespace: 'n', path: '/a/b', port: 8443 }, caBundle: 'AAAA' } },
      { name: 'v.example.com', clientConfig: { service: { name: 's', namespace: 'n' } }, rules: [] }),
  }),
  ...k.accepts({
    resources: [['*'], ['*/*'], ['*', 'pods/log'], ['pods/*', 'nodes'], ['*/scale', 'pods']].map((resources) => rules({ resources })),
    'ca-bundle': [hooks({ clientConfig: { url: 'https://h/p', caBundle: 'AAAA' } })],
    url: ['https://h', 'https://h:8443/a/b', 'https://10.0.0.1/'].map(url),
    'no-rules': hooks({ rules: undefined }),
    'match-condition-cost': conditions(condition('object.spec.all(x, object.spec.all(y, object.spec.all(z, x == y && y == z)))')),
  }),
  ...k.refuses({
    name: { 'metadata.name': 'A' },
    'webhook-name': [hooks({ name: '' }), hooks({ name: 'a.b' }), hooks({ name: 'A.b.c' }), hooks({ name: 'plain' }), hooks({}, {})],
    'client-config': [hooks({ clientConfig: {} }), hooks({ clientConfig: { url: 'https://h', service: { name: 's', namespace: 'n' } } }), hooks({ clientConfig: undefined })],
    url: ['http://h', 'h/p', 'https://', 'https://u:p@h', 'https://h?q=1', 'https://h#f', 'https://h%', ''].map(url),
    service: [service({ name: '' }), service({ namespace: '' }), service({ port: 0 }), service({ port: 65536 }), service({ path: 'a' }), service({ path: '/a//b' }), service({ path: '//' }), service({ path: '/a_b/' })],
    'side-effects': [hooks({ sideEffects: undefined }), hooks({ sideEffects: 'Some' }), hooks({ sideEffects: 'Unknown' }), hooks({ sideEffects: 'Many' })],
    'review-versions': [hooks({ admissionReviewVersions: undefined }), hooks({ admissionReviewVersions: [] }), hooks({ admissionReviewVersions: ['v2'] }), hooks({ admissionReviewVersions: ['v1', 'v1'] }), hooks({ admissionReviewVersions: ['v1', '', '1v'] })],
    policies: [hooks({ failurePolicy: 'Retry' }), hooks({ matchPolicy: 'Close' }), hooks({ failurePolicy: '' })],
    timeout: [hooks({ timeoutSeconds: 0 }), hooks({ timeoutSeconds: 31 })],
    selectors: [hooks({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }), hooks({ objectSelector: { matchLabels: { a: 'bad value' } } })],
    operations: [rules({ operations: undefined }), rules({ operations: ['*', 'CREATE'] }), rules({ operations: ['create', 'READ'] })],
    'rule-groups': [rules({ apiGroups: undefined }), rules({ apiGroups: ['*', 'a'] }), rules({ apiVersions: undefined }), rules({ apiVersions: ['*', 'v1'] }), rules({ apiVersions: [''] }), rules({ scope: 'World' })],
    'rule-resources': [undefined, [''], ['*/*', 'pods'], ['*', 'pods'], ['pods/*', 'pods/log'], ['*/log', 'pods/log']].map((resources) => rules({ resources })),
    'match-condition-name': [conditions(condition('true', '')), conditions(condition('true', 'bad name')), conditions(condition('true'), condition('false')), conditions(...Array.from({ length: 65 }, (_, i) => condition('true', `c${i}`)))],
    'match-condition-expression': ['', '  ', '1', 'object.', 'nothing == 1', "'a' + 1 == 'b'", 'params.x', 'variables.x', 'oldObject == null ? 1 : 2'].map((e) => conditions(condition(e))),
  }),
  ...k.updates({
    any: [{ webhooks: [{ ...webhook, timeoutSeconds: 5 }] }, { webhooks: [{ ...webhook, sideEffects: 'Some' }] }, { webhooks: null }, { webhooks: [{ ...webhook, matchConditions: [condition('1')] }] }],
  }),
  ...k.strategy({ spec: { webhooks: [{ ...webhook, timeoutSeconds: 3 }] } }),
  ...k.puts(),
];

const validating = kind({ apiVersion, resource: 'validatingwebhookconfigurations', kind: 'ValidatingWebhookConfiguration', cluster: true, base: hooks({}), label: 'validatingwebhook' });
const mutating = kind({ apiVersion, resource: 'mutatingwebhookconfigurations', kind: 'MutatingWebhookConfiguration', cluster: true, base: hooks({}), label: 'mutatingwebhook' });

const policy = kind({ apiVersion, resource: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy', cluster: true, label: 'vap', base: { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } } });
const binding = kind({ apiVersion, resource: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding', cluster: true, label: 'vapbinding', base: { spec: { policyName: '$ns-p', validationActions: ['Deny'] } } });

const validation = (o) => ({ 'spec.validations': [{ expression: 'true', ...o }] });
const expression = (e, more = {}) => ({ 'spec.validations': [{ expression: e }], ...more });
const constraints = (o) => ({ 'spec.matchConstraints': { resourceRules: [rule], ...o } });
const annotation = (o) => ({ 'spec.auditAnnotations': [{ key: 'k', valueExpression: "'v'", ...o }] });
const variable = (...variables) => ({ 'spec.variables': variables });
const paramKind = (o) => ({ 'spec.paramKind': { apiVersion: 'v1', kind: 'ConfigMap', ...o } });
const paramRef = (o) => ({ 'spec.paramRef': { name: 'p', parameterNotFoundAction: 'Deny', ...o } });

export default [
  ...hookTables(validating),
  ...hookTables(mutating),
  ...mutating.creates({ 'reinvocation-policy': hooks({ reinvocationPolicy: 'IfNeeded' }) }),
  ...mutating.refuses({ 'reinvocation-policy': [hooks({ reinvocationPolicy: 'Always' }), hooks({ reinvocationPolicy: '' })] }),

  // ValidatingAdmissionPolicy
  ...policy.creates({
    minimal: {},
    maximal: { spec: {
      failurePolicy: 'Ignore', paramKind: { apiVersion: '$ns.example.com/v1', kind: 'Params' },
      matchConstraints: { matchPolicy: 'Exact', namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } }, objectSelector: { matchLabels: { a: 'b' } }, resourceRules: [{ ...rule, resourceNames: ['n', 'm'], scope: 'Cluster' }], excludeResourceRules: [{ ...rule, resources: ['gadgets'], resourceNames: ['o'] }] },
      matchConditions: [condition('request.userInfo.username != params.name')], variables: [{ name: 'a', expression: 'object.spec' }, { name: 'b', expression: 'variables.a.x + 1' }],
      validations: [{ expression: 'variables.b > 2 && params.max > 1', message: 'm', messageExpression: "'got ' + string(variables.b)", reason: 'Forbidden' }, { expression: 'namespaceObject.metadata.name == request.namespace', reason: 'RequestEntityTooLarge' }],
      auditAnnotations: [{ key: 'k', valueExpression: "object.x == 1 ? 'one' : 'more'" }] } },
    'audit-only': { 'spec.validations': undefined, ...annotation({}) },
  }),
  ...policy.accepts({
    expressions: ['object.metadata.name.startsWith("a")', 'has(object.spec) && object.spec.replicas < 5', 'oldObject == null', "authorizer.serviceAccount('n', 's').group('apps').resource('deployments').namespace('x').check('get').allowed()", "authorizer.requestResource.check('custom').allowed()", "quantity('1Gi').isGreaterThan(quantity('1Mi'))", "ip('10.0.0.1').family() == 4", 'object.items.all(i, i.x > 0)', "object.s.find('[a-z]+') != ''", '[1, 2].map(x, x * 2).sum() == 6', 'optional.none().hasValue() || object.?spec.?x.orValue(1) == 1', "request.dryRun == false && request.kind.kind == 'Pod'"].map((e) => expression(e)),
    'expressions-of-unknown-type-or-cost': ['object.metadata.name + 1 == 2', 'object.metadata.name.all(x, true)', 'object.a.all(a, object.b.all(b, object.c.all(c, object.d.all(d, a == b && c == d))))'].map((e) => expression(e)),
    'message-expression': validation({ messageExpression: "string(object.metadata.name) + ' bad'" }),
    reason: ['Invalid', 'Forbidden', 'RequestEntityTooLarge'].map((reason) => validation({ reason })),
  }),
  ...policy.refuses({
    name: { 'metadata.name': 'A' },
    'failure-policy': { 'spec.failurePolicy': 'Retry' },
    'match-constraints': [{ 'spec.matchConstraints': undefined }, constraints({ resourceRules: [] }), constraints({ resourceRules: undefined }), constraints({ matchPolicy: 'Close' }), constraints({ namespaceSelector: { matchLabels: { a: 'bad value' } } }), constraints({ objectSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } })],
    'resource-rules': [constraints({ resourceRules: [{}] }), constraints({ resourceRules: [{ ...rule, resourceNames: ['a', 'a', 'b/c'] }] }), constraints({ excludeResourceRules: [{ ...rule, resources: ['*', 'a'] }] }), constraints({ resourceRules: [{ ...rule, operations: ['READ'] }] })],
    'param-kind': [paramKind({ apiVersion: '' }), paramKind({ kind: '' }), paramKind({ apiVersion: 'a/b/c' }), paramKind({ apiVersion: 'Bad_Group/V1' }), paramKind({ kind: 'bad kind' }), paramKind({ apiVersion: 'g/' })],
    'nothing-to-check': [{ 'spec.validations': undefined }, { 'spec.validations': [], 'spec.auditAnnotations': [] }, { spec: undefined }],
    'expression-missing': [validation({ expression: undefined }), validation({ expression: '  ' })],
    'expression-syntax': ['object.', '1 +', 'a b', "'open", '{', 'object.spec.', '@'].map((e) => expression(e)),
    'expression-names': ['nothing', 'self.x', 'params.x', 'variables.x', 'object.metadata.nothing', 'request.nothing', 'namespaceObject.nothing', 'foo(1)', "'a'.nothing()"].map((e) => expression(e)),
    'expression-types': ['1', "'text'", 'object', '[true]', "1 + 'a' == 2", "'a' < 1", '!1', '1 ? true : false'].map((e) => expression(e)),
    message: [validation({ message: '  ' }), validation({ message: 'a\nb' })],
    'message-expression': ['  ', '1', 'nothing', 'authorizer.path("/x").check("get").allowed() ? "a" : "b"', "'a"].map((messageExpression) => validation({ messageExpression })),
    reason: [validation({ reason: 'Because' }), validation({ reason: '' })],
    variables: [variable({}), variable({ name: '1a', expression: '1' }), variable({ name: 'a-b', expression: '1' }), variable({ name: 'a', expression: ' ' }), variable({ name: 'a', expression: 'variables.b' }, { name: 'b', expression: '1' }), variable({ name: 'a', expression: '1 +' }), variable({ name: 'in', expression: '1' })],
    'audit-annotations': [annotation({ key: '' }), annotation({ key: 'bad key' }), annotation({ key: 'a/b' }), annotation({ valueExpression: '' }), annotation({ valueExpression: '1' }), annotation({ valueExpression: 'nothing' }), { 'spec.auditAnnotations': [{ key: 'k', valueExpression: "'v'" }, { key: 'k', valueExpression: "'v'" }] }, { 'spec.auditAnnotations': Array.from({ length: 21 }, (_, i) => ({ key: `k${i}`, valueExpression: "'v'" })) }, annotation({ valueExpression: `'${'v'.repeat(5120)}'` })],
    'match-conditions': [{ 'spec.matchConditions': [condition('params.x == 1')] }, { 'spec.matchConditions': [condition('variables.x == 1')] }, { 'spec.matchConditions': [condition('')] }, { 'spec.matchConditions': [condition('true'), condition('true')] }],
  }),
  ...policy.updates({
    any: [{ spec: { validations: [{ expression: 'false' }] } }, { spec: { validations: [{ expression: 'nothing' }] } }, { spec: { failurePolicy: null } }, { spec: { matchConstraints: null } }, { spec: { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } }],
  }, { from: { 'spec.failurePolicy': 'Ignore' } }),
  ...policy.statuses({ any: [
    { observedGeneration: 1, typeChecking: { expressionWarnings: [{ fieldRef: 'spec.validations[0].expression', warning: 'w' }] }, conditions: [{ type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' }] },
    { typeChecking: { expressionWarnings: [{ fieldRef: '', warning: '' }, { fieldRef: 'spec..x', warning: 'w' }] } }, { conditions: [{}] },
  ] }),
  ...policy.strategy({ status: { observedGeneration: 1 }, spec: { spec: { validations: [{ expression: 'false' }] } } }),
  ...policy.puts(),

  // ValidatingAdmissionPolicyBinding
  ...binding.creates({
    minimal: {},
    maximal: { spec: { policyName: '$ns-p', validationActions: ['Warn', 'Audit'], paramRef: { selector: { matchLabels: { a: 'b' } }, namespace: '$ns', parameterNotFoundAction: 'Allow' }, matchResources: { matchPolicy: 'Exact', resourceRules: [{ ...rule, resourceNames: ['n'] }], excludeResourceRules: [{ ...rule, resourceNames: ['o'], scope: 'Cluster' }], namespaceSelector: { matchLabels: { a: 'b' } }, objectSelector: { matchLabels: { c: 'd' } } } } },
    'param-by-name': paramRef({ namespace: 'n' }),
    'match-resources-defaults': { 'spec.matchResources': {} },
  }),
  ...binding.refuses({
    name: { 'metadata.name': 'A' },
    'policy-name': [{ 'spec.policyName': undefined }, { 'spec.policyName': 'A' }, { spec: undefined }],
    'validation-actions': [[], undefined, ['Deny', 'Warn'], ['Deny', 'Deny'], ['Log']].map((a) => ({ 'spec.validationActions': a })),
    'param-ref': [paramRef({ name: undefined }), paramRef({ selector: {} }), paramRef({ name: 'a/b' }), paramRef({ parameterNotFoundAction: undefined }), paramRef({ parameterNotFoundAction: 'Ignore' }), paramRef({ name: undefined, selector: { matchLabels: { a: 'bad value' } } })],
    'match-resources': [{ 'spec.matchResources': { matchPolicy: 'Close' } }, { 'spec.matchResources': { resourceRules: [{}] } }],
  }),
  ...binding.updates({ any: [{ spec: { policyName: 'other' } }, { spec: { validationActions: ['Audit'] } }, { spec: { validationActions: null } }, { spec: { paramRef: { name: 'q', parameterNotFoundAction: 'Allow' } } }] }),
  ...binding.strategy({ spec: { spec: { validationActions: ['Audit'] } } }),
  ...binding.puts(),
];
