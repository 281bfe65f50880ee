// MutatingAdmissionPolicy: what policies and bindings match, what expressions see, parameters, costs and failures.
import { APPLY, DELETE, PATCH, POST, PUT } from '../steps.ts';
import { CM, DEPLOYMENTS, PODS, cm, data, deployment, dry, only, pod, quiet, rule } from './kit/admission.mjs';
import { binding, mutated, one, policy, install, cleanupOf, pathOf, ALPHA } from './kit/mutating-policy.mjs';

const note = (text) => `Object{data: {"told": ${text}}}`;
const marks = note('"marked"');
const told = only('data.told');
const onMap = (id, about, settings, steps = [POST(CM, cm(), data)], o = {}) => one(id, about, { mutations: marks, ...settings }, steps, o);

const matching = [
  onMap('match-operation', 'only creates', { rules: [rule('configmaps', { operations: ['CREATE'] })] }, [POST(CM, cm(), data), PUT(`${CM}/c`, cm(), data)]),
  onMap('match-all-operations', 'all operations: a delete is none of them', { rules: [rule('configmaps', { operations: ['*'] })] }, [POST(CM, cm(), data), PUT(`${CM}/c`, cm(), data), DELETE(`${CM}/c`, undefined, quiet)]),
  onMap('match-names', 'objects by name', { rules: [{ ...rule('configmaps', { operations: ['CREATE'] }), resourceNames: ['d'] }] }, [POST(CM, cm(), data), POST(CM, cm('d'), data)]),
  onMap('match-excluded', 'rules that exclude', { constraints: { excludeResourceRules: [{ ...rule('configmaps', { operations: ['CREATE'] }), resourceNames: ['d'] }] } }, [POST(CM, cm(), data), POST(CM, cm('d'), data)]),
  onMap('match-object-selector', 'objects by label', { constraints: { objectSelector: { matchLabels: { a: 'b' } } } }, [POST(CM, cm(), data), POST(CM, cm('d', {}, { labels: { a: 'b' } }), data), PUT(`${CM}/d`, cm('d'), data)]),
  onMap('match-namespace-selector', 'a namespace that does not match', { constraints: { namespaceSelector: { matchLabels: { nothing: '$ns' } } } }),
  onMap('match-binding-selector', 'a binding for objects with a label', {}, [POST(CM, cm(), data), POST(CM, cm('d', {}, { labels: { a: 'b' } }), data)], { binding: { resources: { objectSelector: { matchLabels: { a: 'b' } } } } }),
  onMap('match-binding-rules', 'a binding for updates', {}, [POST(CM, cm(), data), PUT(`${CM}/c`, cm(), data)], { binding: { resources: { resourceRules: [rule('configmaps', { operations: ['UPDATE'] })] } } }),
  onMap('match-unbound', 'a policy without a binding', {}, undefined, { binding: { policyName: '$ns-other' } }),
  mutated('match-two-bindings', 'two bindings that match: the mutation is made twice', [policy({ mutations: '[JSONPatch{op: "add", path: "/data/told", value: (has(object.data.told) ? object.data.told : "") + "x"}]' }), binding(), binding({ name: '$ns-binding-2' })], [POST(CM, cm(), data)]),
  onMap('condition', 'a match condition', { matchConditions: [{ name: 'c', expression: "object.data.a == '1'" }] }, [POST(CM, cm(), data), POST(CM, cm('d', { a: '2' }), data)]),
  onMap('condition-error', 'a match condition that fails', { matchConditions: [{ name: 'c', expression: "object.data.nope == '1'" }] }),
  onMap('condition-error-ignored', 'one that fails, with failurePolicy Ignore', { failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: "object.data.nope == '1'" }] }),
  onMap('condition-error-and-false', 'one that fails, and one that is false', { matchConditions: [{ name: 'c', expression: "object.data.nope == '1'" }, { name: 'd', expression: 'false' }] }),
  onMap('condition-two-errors', 'two that fail', { matchConditions: [{ name: 'c', expression: "object.data.nope == '1'" }, { name: 'd', expression: "object.data.other == '1'" }] }),
  onMap('condition-namespace', 'a match condition has no namespaceObject', { matchConditions: [{ name: 'c', expression: 'namespaceObject == null' }] }),
  onMap('exempt', 'policies themselves are not mutated', { rules: [rule('*', { groups: ['admissionregistration.k8s.io'], versions: ['*'], operations: ['CREATE'] })], constraints: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } }, mutations: 'Object{metadata: Object.metadata{labels: {"marked": "x"}}}' }, [
    POST(pathOf({ kind: 'MutatingAdmissionPolicy' }), { ...policy({ mutations: marks }), metadata: { name: '$ns-p2', labels: { owner: '$ns' } } }, { ...dry, ...only('metadata.labels') }),
    POST('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata: { name: '$ns-p2', labels: { owner: '$ns' } } }, { ...dry, ...only('metadata.labels') }),
  ], { binding: { resources: { namespaceSelector: {} } } }),
  onMap('equivalent', 'another version of the resource: the policy sees and makes that', { rules: [rule('horizontalpodautoscalers', { operations: ['CREATE'], groups: ['autoscaling'] })], mutations: 'Object{metadata: Object.metadata{labels: {"kind": request.kind.version, "asked": request.requestKind.version}}, spec: Object.spec{targetCPUUtilizationPercentage: 33}}' }, [POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 } }, only('apiVersion', 'metadata.labels', 'spec'))]),
  onMap('exact', 'another version with matchPolicy Exact', { rules: [rule('horizontalpodautoscalers', { operations: ['CREATE'], groups: ['autoscaling'] })], constraints: { matchPolicy: 'Exact' }, mutations: 'Object{metadata: Object.metadata{labels: {"a": "b"}}}' }, [POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 } }, only('apiVersion', 'metadata.labels', 'spec.maxReplicas'))]),
  onMap('json-equivalent', 'the same with a JSON patch', { rules: [rule('horizontalpodautoscalers', { operations: ['CREATE'], groups: ['autoscaling'] })], mutations: '[JSONPatch{op: "add", path: "/spec/targetCPUUtilizationPercentage", value: 33}]' }, [POST('/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers', { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 2 } }, only('apiVersion', 'spec'))]),
];

const subresources = [
  onMap('scale', 'a scale', { rules: [rule('deployments/scale', { operations: ['UPDATE'], groups: ['apps'] })], mutations: 'Object{spec: Object.spec{replicas: object.spec.replicas > 3 ? 3 : object.spec.replicas}}' }, [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 9 } }, only('spec', 'kind'))]),
  onMap('json-scale', 'a scale by JSON patch', { rules: [rule('deployments/scale', { operations: ['UPDATE'], groups: ['apps'] })], mutations: '[JSONPatch{op: "replace", path: "/spec/replicas", value: 4}]' }, [POST(DEPLOYMENTS, deployment(), quiet), PUT(`${DEPLOYMENTS}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', namespace: '$ns' }, spec: { replicas: 9 } }, only('spec', 'kind'))]),
  onMap('status', 'a status', { rules: [rule('pods/status', { operations: ['UPDATE'] })], mutations: 'Object{status: Object.status{message: "by " + request.subResource, conditions: [Object.status.conditions{type: "Marked", status: "True"}]}}' }, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { reason: 'x' } }, only('status.message', 'status.reason', 'status.conditions'))]),
  onMap('status-spec', 'a status: what changes the spec is reset', { rules: [rule('pods/status', { operations: ['UPDATE'] })], mutations: 'Object{spec: Object.spec{activeDeadlineSeconds: 5}}' }, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { reason: 'x' } }, only('spec.activeDeadlineSeconds', 'status.reason'))]),
  onMap('eviction', 'an eviction', { rules: [rule('pods/eviction', { operations: ['CREATE'] })], mutations: 'Object{deleteOptions: Object.deleteOptions{gracePeriodSeconds: 0}}' }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })]),
  onMap('binding-subresource', 'a binding of a pod', { rules: [rule('pods/binding', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "replace", path: "/target/name", value: "other"}]' }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, quiet), { ...POST(PODS, undefined, only('spec.nodeName')), method: 'GET', path: `${PODS}/p` }]),
  onMap('connect', 'an exec: its options have no schema', { rules: [rule('pods/exec', { operations: ['CONNECT'] })], mutations: 'Object{container: "other"}' }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=sh`)]),
  onMap('connect-json', 'an exec by JSON patch', { rules: [rule('pods/exec', { operations: ['CONNECT'] })], mutations: '[JSONPatch{op: "add", path: "/container", value: "nope"}]' }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=sh`)]),
  onMap('token', 'a request for a token', { rules: [rule('serviceaccounts/token', { operations: ['CREATE'] })], mutations: 'Object{spec: Object.spec{expirationSeconds: 700}}' }, [POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }, quiet), POST('/api/v1/namespaces/$ns/serviceaccounts/s/token', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 900 } }, only('spec.expirationSeconds'))]),
  onMap('namespace', 'a namespace', { rules: [rule('namespaces', { operations: ['CREATE'] })], constraints: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } }, mutations: 'Object{metadata: Object.metadata{labels: {"null": string(namespaceObject == null), "ns": request.namespace}}}' }, [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-n', labels: { owner: '$ns' } } }, { ...dry, ...only('metadata.labels') })], { binding: { resources: { namespaceSelector: {} } } }),
  onMap('generate-name', 'a name that is to be generated', { mutations: note('has(object.metadata.name) ? object.metadata.name : "none"') }, [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, data)]),
  onMap('generate-name-denied', 'a refusal then', { mutations: 'Object{nothing: 1}' }, [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, { pick: (b) => JSON.parse(JSON.stringify(b).replaceAll(/gen-[a-z0-9]{5}/g, 'gen-<random>')) })]),
  onMap('create-by-apply', 'an apply that creates', { mutations: note('request.operation + string(oldObject == null)') }, [APPLY(`${CM}/c`, 'm', cm(), data), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }), data)]),
];

const sees = [
  ['request', "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + request.name + ' ' + request.userInfo.username"],
  ['namespace', "namespaceObject.metadata.name + ' ' + namespaceObject.status.phase"],
  ['authorizer', "string(authorizer.group('').resource('secrets').namespace('default').check('get').allowed()) + string(authorizer.requestResource.check('create').allowed())"],
  ['old', 'string(oldObject == null)'],
  ['options', 'request.options.kind'],
  ['object', "object.kind + object.apiVersion + string(has(object.metadata.managedFields)) + string(has(object.metadata.uid))"],
].map(([id, text]) => onMap(`sees-${id}`, `expressions see ${text}`, { mutations: note(text) }, [POST(CM, cm(), told)]));

const variables = [
  onMap('variables', 'variables build on each other, and see what was mutated', { variables: [{ name: 'a', expression: 'object.data.a' }, { name: 'b', expression: "variables.a + 'b'" }], mutations: ['Object{data: {"a": variables.b}}', 'Object{data: {"told": variables.b}}'] }),
  onMap('variables-error', 'a variable that fails', { variables: [{ name: 'bad', expression: 'object.data.nope' }], mutations: note('variables.bad') }),
  onMap('variables-unused', 'one that fails and is not used', { variables: [{ name: 'bad', expression: 'object.data.nope' }] }),
  onMap('variables-types', 'variables keep their types', { variables: [{ name: 'n', expression: '3' }, { name: 'l', expression: "['a', 'b']" }, { name: 'm', expression: "{'k': 'v'}" }], mutations: ['Object{data: variables.m}', note("string(variables.n) + variables.l[1]")] }),
];

const nested = (n) => `${Array.from({ length: n }, (_, i) => `object.data.all(k${i}, `).join('')}object.data.a != 'y'${')'.repeat(n)}`;
const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i === 0 ? 'a' : `k${i}`, 'x'.repeat(100)]));
const dear = `object.data.a.matches('${'y'.repeat(60)}')`;
const longText = { a: 'x'.repeat(300000) };
const accepted = { pick: (b) => (b.kind === 'Status' ? b : (b.data.told ?? 'untold')) };
const costs = [
  onMap('cost', 'an expression that costs too much', { mutations: note(`string(${nested(3)})`) }, [POST(CM, cm('c', many), accepted)]),
  onMap('cost-ignored', 'the same with failurePolicy Ignore', { failurePolicy: 'Ignore', mutations: note(`string(${nested(3)})`) }, [POST(CM, cm('c', many), accepted)]),
  onMap('cost-each', 'each mutation has a budget of its own', { mutations: Array.from({ length: 25 }, () => note(`string(${dear})`)) }, [POST(CM, cm('c', longText), accepted)]),
  onMap('cost-variables', 'variables count', { variables: Array.from({ length: 25 }, (_, i) => ({ name: `v${i}`, expression: dear })), mutations: note(`string(${Array.from({ length: 25 }, (_, i) => `variables.v${i}`).join(' || ')})`) }, [POST(CM, cm('c', longText), accepted)]),
  onMap('cost-conditions', 'match conditions that cost too much together', { matchConditions: Array.from({ length: 8 }, (_, i) => ({ name: `c${i}`, expression: `${dear} || true` })) }, [POST(CM, cm('c', longText), accepted)]),
];

const paramKind = { apiVersion: 'v1', kind: 'ServiceAccount' };
const ACCOUNTS = '/api/v1/namespaces/$ns/serviceaccounts';
const account = (name = 'p', annotations = { want: '2' }, labels = { app: 'x' }) => POST(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, annotations, labels } }, quiet);
const byName = (o = {}) => ({ binding: { paramRef: { name: 'p', parameterNotFoundAction: 'Deny', ...o } } });
const bySelector = (o = {}) => ({ binding: { paramRef: { selector: { matchLabels: { app: 'x' } }, parameterNotFoundAction: 'Deny', ...o } } });
const param = (id, about, ref, steps = [POST(CM, cm(), data)], { before = [account()], ...settings } = {}) => onMap(`params-${id}`, about, { paramKind, mutations: 'Object{data: {params.metadata.name: params.metadata.annotations.want}}', ...settings }, steps, { before, ...ref });
/** Repeats a dry run until it is answered so. */
const until = (test) => ({ ...POST(CM, cm('u'), { ...dry, ...data }), kind: 'poll', ms: 8000, until: test });
const params = [
  param('name', 'a parameter by name', byName()),
  param('namespace', 'a parameter by name and namespace', byName({ namespace: '$ns' })),
  param('missing-deny', 'one that is not there: Deny', byName({ name: 'nope' })),
  param('missing-allow', 'one that is not there: Allow', byName({ name: 'nope', parameterNotFoundAction: 'Allow' })),
  param('missing-ignore', 'Deny with failurePolicy Ignore', byName({ name: 'nope' }), undefined, { failurePolicy: 'Ignore' }),
  param('selector', 'parameters by selector: a mutation for each', bySelector(), undefined, { before: [account('p'), account('q', { want: '3' }), account('r', { want: '4' }, {})] }),
  param('none', 'a binding without paramRef: params is null', {}, undefined, { mutations: note('string(params == null)') }),
  param('unknown-kind', 'a kind that there is not', byName(), undefined, { paramKind: { apiVersion: 'v1', kind: 'Nothing' } }),
  param('changed', 'a parameter that changes', byName(), [POST(CM, cm(), data), PATCH(`${ACCOUNTS}/p`, 'merge', { metadata: { annotations: { want: '7' } } }, quiet), until((b) => b?.data?.p === '7')]),
  param('deleted', 'a parameter that vanishes', byName(), [POST(CM, cm(), data), DELETE(`${ACCOUNTS}/p`, undefined, quiet), until((b) => /no params found/.test(b?.message))]),
  param('deleted-allow', 'one that may vanish', byName({ parameterNotFoundAction: 'Allow' }), [POST(CM, cm(), data), DELETE(`${ACCOUNTS}/p`, undefined, quiet), until((b) => b?.data && !b.data.p)]),
  param('created-later', 'one that comes later', byName(), [POST(CM, cm(), data), account(), until((b) => b?.data?.p === '2')], { before: [] }),
  param('selector-grows', 'a selector that selects more and fewer', bySelector(), [POST(CM, cm(), data), account('q', { want: '3' }), until((b) => b?.data?.q === '3'), PATCH(`${ACCOUNTS}/p`, 'merge', { metadata: { labels: { app: 'z' } } }, quiet), until((b) => b?.data && !b.data.p)]),
  param('condition', 'match conditions may use params', byName(), [POST(CM, cm(), data), POST(CM, cm('d', { a: '2' }), data)], { matchConditions: [{ name: 'c', expression: 'object.data.a != params.metadata.annotations.want' }] }),
];

const life = [
  mutated('changed', 'a policy that changes, and one that is deleted', [policy({ mutations: marks }), binding()], [
    POST(CM, cm(), data), PATCH(`${ALPHA}/mutatingadmissionpolicies/$ns-policy`, 'merge', { spec: { mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: note('"other"') } }] } }, quiet),
    until((b) => b?.data?.told === 'other'), DELETE(`${ALPHA}/mutatingadmissionpolicybindings/$ns-binding`, undefined, quiet), until((b) => b?.data && !b.data.told),
  ]),
  mutated('two-policies', 'two policies', [policy({ mutations: 'Object{data: {"b": "2"}}' }), binding(), policy({ name: '$ns-policy-2', mutations: 'Object{data: {"c": "3"}}' }), binding({ name: '$ns-binding-2', policyName: '$ns-policy-2' })], [POST(CM, cm(), data)]),
  mutated('two-faults', 'one policy fails, another one does not', [policy({ mutations: 'Object{nothing: 1}' }), binding(), policy({ name: '$ns-policy-2', mutations: 'Object{data: {"c": "3"}}' }), binding({ name: '$ns-binding-2', policyName: '$ns-policy-2' })], [POST(CM, cm(), data)]),
  onMap('old-validated', 'what a policy makes is validated', { mutations: 'Object{immutable: true}' }, [POST(CM, cm(), only('immutable')), PATCH(`${CM}/c`, 'merge', { data: { a: '9' } })]),
];

export default [...matching, ...subresources, ...sees, ...variables, ...costs, ...params, ...life];
