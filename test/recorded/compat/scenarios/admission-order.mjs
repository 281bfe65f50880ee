// The order of things: built-in plugins, mutating webhooks, validation, policies, validating webhooks, quota, storage.
import { GET, POST, PUT, PATCH, SLEEP } from '../steps.ts';
import { CM, PODS, cm, pod, webhook, mutating, validating, rule, answer, allow, deny, patch, add, hooked, called, brief, policy, binding, installPolicies, policyCleanup, quiet, dry, only, data, warned } from './kit/admission.mjs';

const QUOTAS = '/api/v1/namespaces/$ns/resourcequotas';
const quotaOf = (hard) => ({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } });
const quota = (hard) => [POST(QUOTAS, quotaOf(hard), quiet), PUT(`${QUOTAS}/q/status`, { ...quotaOf(hard), status: { hard, used: Object.fromEntries(Object.keys(hard).map((k) => [k, '0'])) } }, quiet), SLEEP(800)];
const used = GET(`${QUOTAS}/q`, { pick: (b) => b.status?.used });
/** A scenario with webhooks and, after them, policies. */
const all = (id, about, configurations, hooks, policies, steps, before = []) => {
  const s = hooked(`order-${id}`, about, configurations, { hooks, cleanup: policies.length ? policyCleanup(policies) : [] }, [...(policies.length ? installPolicies(...policies) : []), ...steps]);
  return { ...s, steps: [...before, ...s.steps] };
};
const refusing = (message, o = {}) => [policy({ validations: [{ expression: 'false', message }], ...o }), binding()];
const pods = { rules: [rule('pods', { operations: ['CREATE'] })] };

export default [
  all('mutating-before-policy', 'a policy sees what a mutating hook made', mutating(webhook()), { h: patch([add('/data/h', 'x')]) }, [policy({ validations: [{ expression: "!has(object.data.h)", messageExpression: "'h is ' + object.data.h" }] }), binding()], [POST(CM, cm())]),
  all('policy-before-validating', 'a refusal by a policy: the validating hooks are not called', [mutating(webhook('m')), validating(webhook('v'))], { m: allow, v: allow }, refusing('policy'), [POST(CM, cm()), called('m', 1), called('v')]),
  all('policy-warns-before-validating', 'a policy that warns: the validating hooks are called, and warn after it', validating(webhook('v')), { v: answer({ warnings: ['hook'] }) }, [policy({ validations: [{ expression: 'false', message: 'policy' }] }), binding({ actions: ['Warn'] })], [POST(CM, cm(), { ...data, ...warned }), called('v', 1)]),
  all('validation-before-policy', 'an invalid object reaches the mutating hook only', [mutating(webhook('m')), validating(webhook('v'))], { m: allow, v: allow }, refusing('policy'), [POST(CM, cm('c', { 'bad key': 'x' }), only('reason')), called('m', 1), called('v')]),
  all('quota-last', 'a refusal by a validating hook costs no quota', validating(webhook('v')), { v: deny({ message: 'hook' }) }, [], [POST(CM, cm()), used], quota({ configmaps: '5' })),
  all('quota-after-hooks', 'a quota that is exceeded: the validating hooks were called before', [mutating(webhook('m')), validating(webhook('v'))], { m: allow, v: allow }, [], [POST(CM, cm()), called('m', 1), called('v', 1)], quota({ configmaps: '0' })),
  all('quota-after-policy', 'a policy that denies costs no quota', validating(webhook('v', { rules: [rule('secrets')] })), { v: allow }, refusing('policy'), [POST(CM, cm(), only('reason')), used], quota({ configmaps: '5' })),
  all('quota-and-mutation', 'a quota counts what a mutating hook made of the object', mutating(webhook('h', pods)), { h: patch([add('/spec/containers/0/resources', { requests: { cpu: '2' } })]) }, [], [POST(PODS, pod()), used], quota({ 'requests.cpu': '1' })),
  all('exists-after-all', 'that a name is taken shows last of all', [mutating(webhook('m')), validating(webhook('v'))], { m: allow, v: deny({ message: 'hook' }) }, [], [POST(CM, cm())], [POST(CM, cm(), quiet)]),
  all('plugins-before-mutating', 'a mutating hook sees what the built-in plugins filled in', mutating(webhook('h', pods)), { h: allow }, [], [POST(PODS, pod(), quiet), brief('h', 1, 'object.spec.tolerations', 'object.spec.priority', 'object.spec.preemptionPolicy', 'object.metadata.managedFields')]),
  all('limits-after-mutating', 'limits are checked on what a mutating hook made', mutating(webhook('h', pods)), { h: patch([add('/spec/containers/0/resources/limits/cpu', '9')]) }, [], [POST(PODS, pod())], [POST('/api/v1/namespaces/$ns/limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }, quiet), SLEEP(800)]),
  all('limits-defaults-before-mutating', 'the defaults of a range come before the mutating hook', mutating(webhook('h', pods)), { h: allow }, [], [POST(PODS, pod(), quiet), brief('h', 1, 'object.spec.containers', 'object.metadata.annotations')], [POST('/api/v1/namespaces/$ns/limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] } }, quiet), SLEEP(800)]),
  all('pod-security-after-mutating', 'PodSecurity judges what a mutating hook made', mutating(webhook('h', pods)), { h: patch([add('/spec/hostNetwork', true)]) }, [], [POST(PODS, pod())], [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }, quiet), SLEEP(800)]),
  all('pod-security-before-policy', 'PodSecurity goes before policies and validating hooks', validating(webhook('v', pods)), { v: allow }, refusing('policy', { rules: [rule('pods')] }), [POST(PODS, pod('p', { hostNetwork: true })), called('v')], [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }, quiet), SLEEP(800)]),
  all('limits-before-pod-security', 'LimitRanger goes before PodSecurity', validating(webhook('v', pods)), { v: allow }, [], [POST(PODS, pod('p', { hostNetwork: true, containers: [{ name: 'c', image: 'img', resources: { limits: { cpu: '9' } } }] }))], [POST('/api/v1/namespaces/$ns/limitranges', { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }, quiet), PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }, quiet), SLEEP(800)]),
  all('priority-before-mutating', 'an unknown priority class is refused before the hooks', mutating(webhook('h', pods)), { h: allow }, [], [POST(PODS, pod('p', { priorityClassName: '$ns-nope' })), called('h')]),
  all('missing-namespace', 'a missing namespace is found before the hooks', mutating(webhook('h', { rules: [rule('configmaps')], namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-none' } } })), { h: allow }, [], [POST('/api/v1/namespaces/$ns-none/configmaps', cm()), called('h')]),
  all('dry-run', 'a dry run goes through everything', [mutating(webhook('m')), validating(webhook('v'))], { m: patch([add('/data/m', 'x')]), v: allow }, [policy({ validations: [{ expression: 'false', message: 'policy' }] }), binding({ actions: ['Warn'] })], [POST(CM, cm(), { ...dry, ...data, ...warned }), called('m', 1), called('v', 1), used], quota({ configmaps: '5' })),
  all('field-validation-before', 'strict field validation goes before everything', mutating(webhook()), { h: allow }, [], [POST(CM, { ...cm(), extra: 1 }, { query: { fieldValidation: 'Strict' } }), called('h')]),
  all('update-conflict', 'a conflict shows after the mutating hook, before the validating one', [mutating(webhook('m')), validating(webhook('v'))], { m: allow, v: allow }, [], [PUT(`${CM}/c`, cm('c', {}, { resourceVersion: '1' }), only('reason')), called('m', 1), called('v')], [POST(CM, cm(), quiet)]),
];
