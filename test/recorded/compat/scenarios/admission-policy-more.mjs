// ValidatingAdmissionPolicy: variables in depth, three versions of a definition, custom parameters, subresources, audit annotations.
import { scenario, APPLY, AUDITED, DELETE, GET, PATCH, POST, PUT } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, rule, policy, binding, guarded, installPolicies, policyCleanup, quiet, dry, warned, data } from './kit/admission.mjs';
import { GROUP, CRDS, crd, at, widget, version, anything, serve } from './kit/crd.mjs';
import { grantAll } from './kit/audit.mjs';

const one = (id, about, settings, steps = [POST(CM, cm())], o = {}) => guarded(`policy-more-${id}`, about, [policy(settings), binding(o.binding)], steps, o);
const failing = (messageExpression, more = {}) => ({ validations: [{ expression: 'false', message: 'given', messageExpression }], ...more });
const named = (entries) => Object.entries(entries).map(([name, expression]) => ({ name, expression }));
const text = (list) => list.map((e) => `string(${e})`).join(" + ' ' + ");

const breakglass = "authorizer.group('').resource('configmaps').namespace('$ns').check('breakglass').allowed()";
const variables = [
  one('variables-has', 'has() of variables', failing(text(['has(variables.a)', 'has(variables.n)', "variables.?a.orValue('x')", 'variables.?n.hasValue()']), { variables: named({ a: 'object.data.a', n: 'oldObject' }) })),
  one('variables-has-error', 'has() of a variable that fails', { variables: named({ bad: 'object.data.nope' }), validations: ['has(variables.bad)'] }),
  one('variables-loop', 'a variable in a loop', failing("object.data.map(k, k + variables.suffix).join(',')", { variables: named({ suffix: "'-' + object.data.a" }) }), [POST(CM, cm('c', { a: '1' }))]),
  one('variables-chain', 'a chain of variables', failing('variables.v9', { variables: named(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`v${i}`, i === 0 ? 'object.data.a' : `variables.v${i - 1} + '${i}'`]))) })),
  one('variables-or', 'a variable that fails beside one that holds', { variables: named({ bad: 'object.data.nope', good: 'true' }), validations: ["variables.bad == 'x' || variables.good"] }, [POST(CM, cm(), data)]),
  one('variables-authorizer', 'a variable may ask the authorizer', { variables: named({ may: breakglass }), validations: [{ expression: '!variables.may', message: 'may' }] }),
  one('variables-authorizer-message', 'a message that reads a variable with the authorizer: the message that is given', failing("'may ' + string(variables.may)", { variables: named({ may: breakglass }) })),
  one('variables-authorizer-annotation', 'an annotation that reads a variable with the authorizer', { variables: named({ may: breakglass }), auditAnnotations: [{ key: 'k', valueExpression: "'may ' + string(variables.may)" }] }),
  one('variables-object', 'a variable that is part of the object', failing("variables.spec.replicas == 1 ? variables.names.join(',') : 'no'", { rules: [rule('deployments', { groups: ['apps'] })], variables: named({ spec: 'object.spec', names: 'variables.spec.template.spec.containers.map(c, c.name)' }) }), [POST(DEPLOYMENTS, deployment())]),
  one('variables-optional', 'a variable that is an optional', failing("variables.o.orValue('none') + ' ' + string(variables.p.hasValue())", { variables: named({ o: 'object.?data.?nope', p: 'object.?data.?a' }) })),
  one('variables-shadowed', 'a loop variable of the same name', failing("['x', 'y'].map(variables, variables).join(',')", { variables: named({ a: 'object.data.a' }) })),
];

const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'x']));
const dear = "object.data.all(a, object.data.all(b, object.data.all(c, a != 'z')))";
const dearText = `${dear} ? 'a' : 'b'`;
const costs = [
  one('cost-variables', 'variables that cost too much together', { variables: named(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`v${i}`, dear]))), validations: [Array.from({ length: 20 }, (_, i) => `variables.v${i}`).join(' && ')] }, [POST(CM, cm('c', many))]),
  one('cost-variables-within', 'variables that cost more than one expression may', { variables: named(Object.fromEntries(Array.from({ length: 3 }, (_, i) => [`v${i}`, dear]))), validations: ['variables.v0 && variables.v1 && variables.v2'] }, [POST(CM, cm('c', many), quiet)]),
  one('cost-variable-once', 'a variable is paid for once', { variables: named({ v: dear }), validations: Array.from({ length: 30 }, () => 'variables.v') }, [POST(CM, cm('c', many), quiet)]),
  one('cost-messages', 'messages that cost too much together', { validations: Array.from({ length: 20 }, (_, i) => ({ expression: 'false', message: `m${i}`, messageExpression: dearText })) }, [POST(CM, cm('c', many))]),
  one('cost-messages-left', 'messages have what the validations left', { validations: [...Array.from({ length: 10 }, () => ({ expression: dear })), ...Array.from({ length: 10 }, (_, i) => ({ expression: 'false', message: `m${i}`, messageExpression: dearText }))] }, [POST(CM, cm('c', many))]),
  one('cost-annotations', 'annotations that cost too much together', { validations: ['true'], auditAnnotations: Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, valueExpression: dearText })) }, [POST(CM, cm('c', many))]),
  one('cost-conditions', 'match conditions that cost too much together', { matchConditions: Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, expression: dear })), validations: ['false'] }, [POST(CM, cm('c', many))]),
  one('cost-conditions-ignore', 'the same with failurePolicy Ignore', { failurePolicy: 'Ignore', matchConditions: Array.from({ length: 10 }, (_, i) => ({ name: `c${i}`, expression: dear })), validations: ['false'] }, [POST(CM, cm('c', many), quiet)]),
];

const requestText = "request.operation + ' ' + request.kind.kind + ' ' + (has(request.subResource) ? request.subResource : '-') + ' ' + (has(request.name) ? request.name : '-') + ' ' + string(object == null) + ' ' + string(oldObject == null)";
const tells = (id, about, rules, steps, expression = requestText) => one(`sees-${id}`, about, failing(expression, { rules }), steps);
const account = POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, quiet);
const event = (v, more) => ({ apiVersion: v, kind: 'Event', metadata: { name: 'e', namespace: '$ns' }, type: 'Normal', reason: 'r', ...more });
const about = { kind: 'ConfigMap', namespace: '$ns', name: 'c' };
const subresources = [
  tells('binding', 'a binding of a pod', [rule('pods/binding')], [POST(PODS, pod(), quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } })], `${requestText} + ' ' + object.target.name`),
  tells('token', 'a token request', [rule('serviceaccounts/token')], [account, POST('/api/v1/namespaces/$ns/serviceaccounts/a/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 700 } })], `${requestText} + ' ' + string(object.spec.expirationSeconds) + ' ' + request.kind.group`),
  tells('eviction', 'an eviction', [rule('pods/eviction')], [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 3 } })], `${requestText} + ' ' + request.kind.group + ' ' + string(object.deleteOptions.gracePeriodSeconds)`),
  tells('resize', 'a resize', [rule('pods/resize')], [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '1' } } }] }), quiet), PATCH(`${PODS}/p/resize`, 'strategic', { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } })]),
  tells('ephemeral', 'ephemeral containers', [rule('pods/ephemeralcontainers')], [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } })], `${requestText} + ' ' + object.spec.ephemeralContainers[0].name`),
  tells('scale-old', 'the old scale', [rule('deployments/scale', { groups: ['apps'] })], [POST(DEPLOYMENTS, deployment(), quiet), PUT(`${DEPLOYMENTS}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', namespace: '$ns' }, spec: { replicas: 4 } })], "object.kind + ' ' + object.apiVersion + ' ' + string(oldObject.spec.replicas) + ' ' + string(object.spec.replicas) + ' ' + object.status.selector"),
  tells('event', 'an event of the core group', [rule('events')], [POST('/apis/events.k8s.io/v1/namespaces/$ns/events', event('events.k8s.io/v1', { regarding: about, action: 'a', eventTime: '2020-01-01T00:00:00.000000Z', reportingController: 'x.com/y', reportingInstance: 'i' }))], "object.apiVersion + ' ' + request.resource.group + '/' + request.requestResource.group + ' ' + (has(object.involvedObject) ? object.involvedObject.name : '-')"),
  tells('apply-create', 'an apply that creates, and one that updates', [rule('configmaps')], [APPLY(`${CM}/c`, 'm', cm())]),
  tells('patch-nothing', 'a patch that changes nothing', [rule('configmaps', { operations: ['UPDATE'] })], [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', {})]),
  tells('options-update', 'the options of a patch', [rule('configmaps', { operations: ['UPDATE'] })], [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '1' } }, { query: { fieldManager: 'me', fieldValidation: 'Strict', dryRun: 'All' } })], "request.options.kind + ' ' + request.options.fieldManager + ' ' + request.options.fieldValidation + ' ' + request.options.dryRun[0]"),
  tells('options-preconditions', 'preconditions of a delete', [rule('configmaps', { operations: ['DELETE'] })], [POST(CM, cm(), { ...quiet, id: 'made' }), DELETE(`${CM}/c`, { preconditions: { resourceVersion: '${made.metadata.resourceVersion}' } })], "string(has(request.options.preconditions.uid)) + ' ' + string(request.options.preconditions.resourceVersion == oldObject.metadata.resourceVersion)"),
  tells('namespace-metadata', 'namespaceObject: what its type names UID is not there', [rule('configmaps')], [POST(CM, cm())], "string(has(namespaceObject.metadata.UID)) + ' ' + string(has(namespaceObject.metadata.creationTimestamp)) + ' ' + string(dyn(namespaceObject.metadata.creationTimestamp) == dyn('x'))"),
  one('namespace-time', 'namespaceObject: times are strings', { validations: ['namespaceObject.metadata.creationTimestamp.getFullYear() > 2000'] }),
];

const conditions = [
  one('condition-namespace-null', 'match conditions have no namespaceObject', { matchConditions: [{ name: 'c', expression: 'namespaceObject == null' }], validations: ['false'] }),
  one('condition-params-null', 'match conditions with params that are null', { paramKind: { apiVersion: 'v1', kind: 'ServiceAccount' }, matchConditions: [{ name: 'c', expression: 'params == null' }], validations: [{ expression: 'false', message: 'null' }] }),
  one('condition-same-errors', 'two conditions with the same error', { matchConditions: [{ name: 'a', expression: "object.nope == 'x'" }, { name: 'b', expression: "object.nope == 'x'" }], validations: ['false'] }),
];

const three = crd({ versions: ['v1', 'v2', 'v3'].map((v, i) => version(v, { spec: anything({ description: v }), storage: i === 0 })) });
const guard = (id, about, objects, steps, { definition = three, before = [] } = {}) => scenario(`admission-policy-more-${id}`, { section: '7', about, cleanup: [...policyCleanup([objects].flat()), `${CRDS}/${definition.metadata.name}`] }, [...serve(definition), ...before, ...installPolicies(...[objects].flat()), ...steps]);
const widgets = (...versions) => [rule('widgets', { groups: [GROUP], versions })];
const versionsText = failing("object.apiVersion.split('/')[1] + ' ' + request.kind.version + ' ' + request.resource.version + ' ' + request.requestKind.version + ' ' + string(object.spec.a)");
const write = (v) => POST(at('', { v }), widget('w', { spec: { a: 1 } }, { v }));
const versions = [
  ['v2-of-v1', 'v2 of a request in v1', widgets('v2'), {}, 'v1'], ['v3-of-v1', 'v3 of a request in v1', widgets('v3'), {}, 'v1'], ['v2-v3-of-v1', 'two versions of a request in a third', widgets('v2', 'v3'), {}, 'v1'],
  ['v3-v2-of-v1', 'the same in another order', widgets('v3', 'v2'), {}, 'v1'], ['rules-of-v1', 'two rules of a version each', [...widgets('v3'), ...widgets('v2')], {}, 'v1'], ['own-first', 'the version of the request goes first', [...widgets('v3'), ...widgets('v2')], {}, 'v2'],
  ['exact-other', 'Exact', widgets('v2'), { constraints: { matchPolicy: 'Exact' } }, 'v1'], ['exclude-other', 'another version is excluded', widgets('*'), { constraints: { excludeResourceRules: widgets('v3') } }, 'v1'],
  ['exclude-exact', 'another version is excluded, with Exact', widgets('*'), { constraints: { matchPolicy: 'Exact', excludeResourceRules: widgets('v3') } }, 'v1'], ['unserved', 'a version that there is not', widgets('v9'), {}, 'v1'],
].map(([id, about, rules, settings, v]) => guard(`versions-${id}`, about, [policy({ rules, ...versionsText, ...settings }), binding()], [{ ...write(v), ...(id === 'exact-other' || id.startsWith('exclude') || id === 'unserved' ? quiet : {}) }]));
const onBinding = guard('versions-binding-exact', 'a binding with Exact for another version', [policy({ rules: widgets('v1'), ...versionsText }), binding({ resources: { matchPolicy: 'Exact', resourceRules: widgets('v2') } })], [{ ...write('v1'), ...quiet }]);

// Audit annotations: who installs is not recorded, who writes is, once for each request.
const installer = { as: { cert: { cn: '$ns-i', o: ['audit-none', 'system:masters'] } } };
const writer = { as: { cert: { cn: '$ns-u', o: ['audit-complete-only', '$ns-all'] } }, ...quiet };
// Keys of annotations hold the name of the policy, so it is the same in each run.
const audited = (id, about, given, steps = [POST(CM, cm(), writer)]) => {
  const objects = JSON.parse(JSON.stringify(given).replaceAll('$ns-policy', `compat-audit-${id}`));
  return scenario(`admission-policy-more-audit-${id}`, { section: '7', about, needs: 'audit', cleanup: policyCleanup(objects) }, [...[...grantAll, ...installPolicies(...objects)].map((s) => ({ ...s, ...installer })), ...steps, AUDITED(steps.length)]);
};
const annotates = (...list) => ({ auditAnnotations: list.map(([key, valueExpression]) => ({ key, valueExpression })) });
const failed = { validations: [{ expression: 'true' }, { expression: 'false', message: 'because <&>' }] };
const audits = [
  audited('failure', 'a validation that fails', [policy(failed), binding({ actions: ['Audit'] })]),
  audited('failure-deny', 'one that denies, too', [policy(failed), binding({ actions: ['Deny', 'Audit'] })]),
  audited('failure-two', 'two that fail: the first counts', [policy({ validations: [{ expression: 'false', message: 'one' }, { expression: 'false', message: 'two' }] }), binding({ actions: ['Audit'] })]),
  audited('failure-error', 'one that cannot be evaluated', [policy({ validations: ["object.data.nope == 'x'"] }), binding({ actions: ['Audit', 'Warn'] })]),
  audited('annotations', 'annotations', [policy(annotates(['a', "'  va '"], ['b', 'string(object.data.a)'], ['c', 'null'], ['d', "''"])), binding()]),
  audited('annotations-bindings', 'two bindings with the same value', [policy(annotates(['a', 'string(object.data.a)'])), binding(), binding({ name: '$ns-binding-2' })]),
  audited('annotations-denied', 'annotations of a request that is denied', [policy({ validations: ['false'], ...annotates(['a', "'x'"]) }), binding()]),
  audited('annotations-long', 'a long value', [policy(annotates(['a', `'${'x'.repeat(1000)}' + string(object.data.long)`])), binding()], [POST(CM, cm('c', { long: 'y'.repeat(12000) }), writer)]),
  audited('annotations-error', 'one that fails hides none of the others', [policy({ failurePolicy: 'Ignore', ...annotates(['a', 'string(object.data.nope)'], ['b', "'x'"]) }), binding()]),
  audited('unmatched', 'a policy that does not match', [policy({ ...annotates(['a', "'x'"]), matchConditions: [{ name: 'c', expression: 'false' }] }), binding()]),
];

export default [...variables, ...costs, ...subresources, ...conditions, ...versions, onBinding, ...audits];
