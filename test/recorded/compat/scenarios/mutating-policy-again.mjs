// MutatingAdmissionPolicy: which policies and webhooks are invoked again after a change.
import { PATCH, POST, scenario } from '../steps.ts';
import { CM, PODS, add, called, cm, install as installHooks, mutating, only, patch as hookPatch, pathOf as hookPath, pod, rule, webhook } from './kit/admission.mjs';
import { binding, cleanupOf, install, mutated, policy } from './kit/mutating-policy.mjs';

/** Counts how often it is invoked, in an annotation: the order of policies is not fixed. */
const counts = (key, more = '') => `[JSONPatch{op: "add", path: "/metadata/annotations/${key}", value: has(object.metadata.annotations.${key}) ? object.metadata.annotations.${key} + "x" : "x"}${more}]`;
const counter = (key, reinvocationPolicy, more = {}) => [policy({ name: `$ns-${key}`, reinvocationPolicy, mutations: counts(key), ...more }), binding({ name: `$ns-${key}`, policyName: `$ns-${key}` })];
const hookCounts = hookPatch((request) => [add('/metadata/annotations/hook', `${request.object.metadata.annotations?.hook ?? ''}x`)]);
const onceOnly = hookPatch((request) => (request.object.metadata.annotations?.hook ? undefined : [add('/metadata/annotations/hook', 'x')]));
const post = POST(CM, cm('c', { a: '1' }, { annotations: { z: '0' } }), only('metadata.annotations', 'data'));
const config = (reinvocationPolicy) => mutating(webhook('h', { rules: [rule('configmaps', { operations: ['CREATE'] })], reinvocationPolicy }));

const alone = (id, about, objects) => mutated(`again-${id}`, about, objects, [post]);
const withHook = (id, about, objects, { hook = 'Never', answer = hookCounts, steps = [post, called('h', 1)] } = {}) => {
  const configuration = config(hook);
  return scenario(`mutating-policy-again-${id}`, { section: '7', about, needs: 'mutating-policies', hooks: { h: answer }, cleanup: [...cleanupOf(objects), `${hookPath(configuration)}/$ns-x`, `${hookPath(configuration)}/$ns-ready`] }, [...installHooks(configuration), ...install(...objects), ...steps]);
};

const policies = [
  alone('never', 'one policy, Never', counter('a', 'Never')),
  alone('if-needed', 'one policy, IfNeeded', counter('a', 'IfNeeded')),
  alone('if-needed-nothing', 'one that changes nothing, IfNeeded', [policy({ reinvocationPolicy: 'IfNeeded', mutations: ['Object{}', '[JSONPatch{op: "test", path: "/data/a", value: "nope"}]'] }), binding(), ...counter('a', 'IfNeeded', { matchConditions: [{ name: 'c', expression: 'false' }] })]),
  alone('two-never', 'two policies, Never', [...counter('a', 'Never'), ...counter('b', 'Never')]),
  alone('two-mixed', 'two policies, Never and IfNeeded', [...counter('a', 'Never'), ...counter('b', 'IfNeeded')]),
  alone('two-if-needed', 'two policies, IfNeeded', [...counter('a', 'IfNeeded'), ...counter('b', 'IfNeeded')]),
  alone('no-op-beside', 'one that changes nothing makes the other run again', [policy({ mutations: 'Object{}' }), binding(), ...counter('b', 'IfNeeded', { mutations: 'Object{metadata: Object.metadata{annotations: {"n": (has(object.metadata.annotations.n) ? object.metadata.annotations.n : "") + "x"}}}' })]),
  alone('condition', 'a policy whose condition holds only after the other', [...counter('a', 'Never'), ...counter('b', 'IfNeeded', { matchConditions: [{ name: 'c', expression: '!has(object.metadata.annotations.b)' }] })]),
  mutated('again-params', 'a policy with two parameters, IfNeeded', [policy({ reinvocationPolicy: 'IfNeeded', paramKind: { apiVersion: 'v1', kind: 'ServiceAccount' }, mutations: 'Object{data: {params.metadata.name: (has(object.data.p) && params.metadata.name == "p" ? object.data.p : params.metadata.name == "q" && has(object.data.q) ? object.data.q : "") + "x"}}' }), binding({ paramRef: { selector: { matchLabels: { app: 'x' } }, parameterNotFoundAction: 'Deny' } })], [post], { before: ['p', 'q'].map((name) => POST('/api/v1/namespaces/$ns/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, labels: { app: 'x' } } }, { compare: 'status' })) }),
  mutated('again-plugins', 'built-in plugins run again after a policy', [policy({ rules: [rule('pods', { operations: ['CREATE'] })], mutations: '[JSONPatch{op: "remove", path: "/spec/tolerations"}]' }), binding()], [POST(PODS, pod(), only('spec.tolerations'))]),
  mutated('again-priority', 'a policy that names a priority class', [policy({ rules: [rule('pods', { operations: ['CREATE'] })], mutations: 'Object{spec: Object.spec{priorityClassName: "system-node-critical"}}' }), binding()], [POST(PODS, pod(), only('spec.priority', 'spec.priorityClassName'))]),
];

const three = [];
for (const [a, b, hook] of [['Never', 'Never', 'Never'], ['Never', 'Never', 'IfNeeded'], ['IfNeeded', 'Never', 'Never'], ['IfNeeded', 'Never', 'IfNeeded'], ['IfNeeded', 'IfNeeded', 'Never'], ['IfNeeded', 'IfNeeded', 'IfNeeded']]) {
  const name = [a, b, hook].map((p) => (p === 'Never' ? 'n' : 'i')).join('');
  three.push(withHook(`three-${name}`, `two policies and a webhook: ${a}, ${b}, ${hook}`, [...counter('a', a), ...counter('b', b)], { hook }));
  three.push(withHook(`quiet-${name}`, `the same with a webhook that changes the object once`, [...counter('a', a), ...counter('b', b)], { hook, answer: onceOnly }));
}
const among = [
  withHook('hook-alone', 'a webhook alone, with a policy that does not match', counter('a', 'IfNeeded', { constraints: { objectSelector: { matchLabels: { no: 'no' } } } }), { hook: 'IfNeeded' }),
  withHook('after-hook', 'a policy that reacts to the webhook by its condition is not invoked again: it was not invoked before', counter('a', 'IfNeeded', { matchConditions: [{ name: 'c', expression: 'has(object.metadata.annotations.hook)' }] })),
  withHook('after-hook-inside', 'a policy that reacts to the webhook in its expression', counter('a', 'IfNeeded', { mutations: 'Object{metadata: Object.metadata{annotations: {"seen": string(has(object.metadata.annotations.hook))}}}' })),
  withHook('after-hook-never', 'the same with Never', counter('a', 'Never', { mutations: 'Object{metadata: Object.metadata{annotations: {"seen": string(has(object.metadata.annotations.hook))}}}' })),
  withHook('hook-sees-policy', 'the webhook sees what policies did', counter('a', 'Never'), { answer: hookPatch((request) => [add('/metadata/annotations/hook', JSON.stringify(request.object.metadata.annotations))]) }),
  withHook('no-op-policy', 'a policy without effect and a webhook that is invoked if needed', [policy({ mutations: 'Object{}', reinvocationPolicy: 'IfNeeded' }), binding()], { hook: 'IfNeeded', answer: onceOnly }),
  withHook('hook-only-second', 'a webhook that matches only after its own change', counter('a', 'IfNeeded'), { hook: 'IfNeeded', answer: hookPatch((request, n) => (n === 1 ? [add('/metadata/annotations/hook', 'first')] : [add('/metadata/annotations/again', 'second')])) }),
];

export default [...policies, ...three, ...among];
