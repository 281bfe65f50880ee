// MutatingAdmissionPolicies that act in the scenario's own namespace, and the wait until the server knows them.
import { scenario, POST } from '../../steps.ts';
import { dry, inNs, quiet, rule } from './admission.mjs';

export const ALPHA = '/apis/admissionregistration.k8s.io/v1alpha1';
const plural = { MutatingAdmissionPolicy: 'mutatingadmissionpolicies', MutatingAdmissionPolicyBinding: 'mutatingadmissionpolicybindings' };
export const pathOf = (o) => `${ALPHA}/${plural[o.kind]}`;

export const apply = (expression) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
export const patch = (expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
/** A text is an apply configuration if it begins with Object, else a JSON patch. */
const mutation = (m) => (typeof m === 'string' ? (m.trim().startsWith('[') ? patch(m) : apply(m)) : m);

export const policy = ({ name = '$ns-policy', rules = [rule('configmaps', { operations: ['CREATE', 'UPDATE'] })], constraints = {}, mutations, ...spec } = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1alpha1', kind: 'MutatingAdmissionPolicy', metadata: { name },
  spec: { matchConstraints: { resourceRules: rules, ...inNs, ...constraints }, mutations: [mutations].flat().map(mutation), reinvocationPolicy: 'Never', ...spec },
});
export const binding = ({ name = '$ns-binding', policyName = '$ns-policy', resources = {}, ...spec } = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1alpha1', kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName, matchResources: { ...inNs, ...resources }, ...spec },
});

/** What refreshes later than the policies of a scenario: one that marks leases. */
const ready = [
  policy({ name: '$ns-ready', rules: [rule('leases', { operations: ['CREATE'], groups: ['coordination.k8s.io'] })], mutations: '[JSONPatch{op: "add", path: "/spec/holderIdentity", value: "ready"}]' }),
  binding({ name: '$ns-ready', policyName: '$ns-ready' }),
];
const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'probe' }, spec: {} };
const untilReady = { ...POST('/apis/coordination.k8s.io/v1/namespaces/$ns/leases', lease, { ...dry, ...quiet, note: 'until the policies are in force' }), kind: 'poll', ms: 10000, until: (b) => b?.spec?.holderIdentity === 'ready' };

/** Steps that create policies and bindings and wait until they count. */
export const install = (...objects) => [...[...objects, ...ready].map((o) => POST(pathOf(o), o, { pick: (b) => (b?.kind === 'Status' ? b : 'accepted') })), untilReady];
export const cleanupOf = (objects) => [...objects, ...ready].map((o) => `${pathOf(o)}/${o.metadata.name}`).reverse();

/** A scenario with policies and bindings in force; `before` are steps that come first, such as those that make parameters. */
export const mutated = (id, about, objects, steps, { before = [], cleanup = [], ...o } = {}) => {
  const list = [objects].flat();
  return scenario(`mutating-policy-${id}`, { section: '7', about, needs: 'mutating-policies', ...o, cleanup: [...cleanupOf(list), ...cleanup] }, [...before, ...install(...list), ...steps]);
};
/** One policy with these settings, and one binding. */
export const one = (id, about, settings, steps, { binding: bound = {}, ...o } = {}) => mutated(id, about, [policy(settings), binding(bound)], steps, o);
