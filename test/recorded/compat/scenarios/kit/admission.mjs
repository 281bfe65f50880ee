// Webhooks and policies that act in the scenario's own namespace, and the wait until the server knows them.
import { scenario, POST, HOOKED } from '../../steps.ts';

export const REG = '/apis/admissionregistration.k8s.io/v1';
const plural = {
  MutatingWebhookConfiguration: 'mutatingwebhookconfigurations', ValidatingWebhookConfiguration: 'validatingwebhookconfigurations',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies', ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};
export const pathOf = (o) => `${REG}/${plural[o.kind]}`;
export const warned = { compareHeaders: ['warning'] };
export const quiet = { compare: 'status' };
export const dry = { query: { dryRun: 'All' } };
/** Only the fields named (dotted); a Status in full. */
export const only = (...paths) => ({ pick: (b) => (b?.kind === 'Status' ? b : Object.fromEntries(paths.map((p) => [p, p.split('.').reduce((o, k) => o?.[k], b) ?? null]))) });
/** A ConfigMap by what an admission step may have changed. */
export const data = only('data');

export const CM = '/api/v1/namespaces/$ns/configmaps';
export const PODS = '/api/v1/namespaces/$ns/pods';
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/$ns/deployments';
export const cm = (name = 'c', values = { a: '1' }, metadata = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data: values });
export const pod = (name = 'p', spec = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'img' }], ...spec } });
export const deployment = (name = 'd', spec = {}, metadata = {}) => ({
  apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, ...metadata },
  spec: { selector: { matchLabels: { app: 'a' } }, template: { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'img' }] } }, ...spec },
});

// --- webhooks ---

export const inNs = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } } };
/** rule('pods,pods/status', { operations: ['CREATE'], groups: ['apps'] }) */
export const rule = (resources = 'configmaps', { operations = ['*'], groups = [''], versions = ['v1'], ...o } = {}) => ({ apiGroups: groups, apiVersions: versions, operations, resources: resources.split(','), ...o });
/** One webhook of a configuration; `key` names the scenario's hook that serves it. */
export const webhook = (key = 'h', o = {}) => own({
  name: `${key}.example.com`, clientConfig: { url: `\${hook.${key}}`, caBundle: '${caBundle}' }, sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 10,
  rules: [rule()], ...inNs, ...o,
});
/** Cluster-scoped objects pass any namespaceSelector: a wide rule must name the scope, or the hook a label of the scenario's own objects. */
const own = (h) => {
  const wide = (r) => r.scope !== 'Namespaced' && (r.resources.some((x) => x.startsWith('*')) || r.resources.some((x) => clusterScoped.has(x.split('/')[0])));
  if (h.rules.some(wide) && !JSON.stringify(h.objectSelector?.matchLabels ?? {}).includes('$ns')) throw new Error(`the rules of ${h.name} reach objects of other scenarios`);
  return h;
};
const clusterScoped = new Set(['namespaces', 'nodes', 'persistentvolumes', 'priorityclasses', 'certificatesigningrequests', 'subjectaccessreviews', 'customresourcedefinitions', 'clusterroles', 'storageclasses', 'ingressclasses', 'runtimeclasses']);
const configuration = (kind) => (webhooks, name = '$ns-x') => ({ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: [webhooks].flat() });
export const mutating = configuration('MutatingWebhookConfiguration');
export const validating = configuration('ValidatingWebhookConfiguration');

/** A hook that allows, with these fields of the response (or what a function of the request makes of it). */
export const answer = (fields = {}) => (review, n) => ({
  apiVersion: review.apiVersion, kind: 'AdmissionReview',
  response: { uid: review.request.uid, allowed: true, ...(typeof fields === 'function' ? fields(review.request, n) : fields) },
});
export const allow = answer();
export const deny = (status) => answer({ allowed: false, ...(status ? { status } : {}) });
const encoded = (ops) => Buffer.from(JSON.stringify(ops)).toString('base64');
/** A hook that answers with a JSON patch. */
export const patch = (ops, more = {}) => answer((request, n) => {
  const list = typeof ops === 'function' ? ops(request, n) : ops;
  return list ? { patchType: 'JSONPatch', patch: encoded(list), ...more } : more;
});
export const add = (path, value) => ({ op: 'add', path, value });

/** What a created configuration or policy needs before it counts: another one after it, that refuses objects of a kind the scenarios do not use. */
const probe = {
  MutatingWebhookConfiguration: ['/api/v1/namespaces/$ns/podtemplates', { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'probe', labels: { probe: 'x' } }, template: { spec: { containers: [{ name: 'c', image: 'img' }] } } }, rule('podtemplates'), 500],
  ValidatingWebhookConfiguration: ['/apis/apps/v1/namespaces/$ns/controllerrevisions', { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'probe', labels: { probe: 'x' } }, revision: 1, data: { a: 1 } }, rule('controllerrevisions', { groups: ['apps'] }), 500],
  ValidatingAdmissionPolicy: ['/api/v1/namespaces/$ns/endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'probe', labels: { probe: 'x' } } }, rule('endpoints'), 422],
};
/** For rules that match anything: the probes are left out. */
export const notProbe = { objectSelector: { matchExpressions: [{ key: 'probe', operator: 'DoesNotExist' }] } };
const unreachable = (o) => ({ ...o, clientConfig: { url: 'https://127.0.0.1:1/' } });
const until = (kind, note) => {
  const [path, body, , status] = probe[kind];
  return { ...POST(path, body, { ...dry, ...quiet, note }), kind: 'poll', ms: 10000, until: (_, s) => s === status };
};
const readyHook = (kind) => [
  POST(pathOf({ kind }), configuration(kind)(unreachable(webhook('ready', { rules: [probe[kind][2]] })), '$ns-ready'), quiet),
  until(kind, 'until the webhooks are in force'),
];

/** Steps that create configurations and wait until they count. */
export const install = (...configurations) => [
  ...configurations.map((c) => POST(pathOf(c), c, quiet)),
  ...[...new Set(configurations.map((c) => c.kind))].flatMap(readyHook),
];
const cleanupOf = (objects) => [...objects.map((o) => `${pathOf(o)}/${o.metadata.name}`), ...[...new Set(objects.map((o) => o.kind))].map((kind) => `${pathOf({ kind })}/$ns-ready`)];

/** A scenario with webhook configurations in force; o.hooks serve them. */
export const hooked = (id, about, configurations, { cleanup = [], ...o }, steps) => {
  const list = [configurations].flat();
  return scenario(`admission-${id}`, { section: '7', about, ...o, cleanup: [...cleanupOf(list), ...cleanup] }, [...install(...list), ...steps]);
};

/** The reviews that a hook has received, in full. */
export const reviewed = (name = 'h', calls = 1, o = {}) => HOOKED(name, { calls, note: name, ...o });
/** The reviews by the fields named. An update that met a stale cache is reviewed twice: the same one after another counts once. */
export const brief = (name, calls, ...fields) => HOOKED(name, { calls, note: name, pick: (cs) => once(cs.map((c) => Object.fromEntries(fields.map((f) => [f, f.split('.').reduce((o, k) => o?.[k], c.body.request) ?? null])))) });
const once = (list) => list.filter((x, i) => i === 0 || JSON.stringify(x) !== JSON.stringify(list[i - 1]));
/** How often a hook was called. */
export const called = (name = 'h', calls = 0) => HOOKED(name, { calls, ms: 1000, note: name, pick: (cs) => cs.length });

// --- policies ---

const POLICY = 'ValidatingAdmissionPolicy', BINDING = 'ValidatingAdmissionPolicyBinding';
export const policy = ({ name = '$ns-policy', rules = [rule('configmaps')], constraints = {}, validations, ...spec } = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1', kind: POLICY, metadata: { name },
  spec: { matchConstraints: { resourceRules: rules, ...inNs, ...constraints }, ...(validations ? { validations: [validations].flat().map((v) => (typeof v === 'string' ? { expression: v } : v)) } : {}), ...spec },
});
export const binding = ({ name = '$ns-binding', policyName = '$ns-policy', resources = {}, actions = ['Deny'], ...spec } = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1', kind: BINDING, metadata: { name }, spec: { policyName, validationActions: actions, matchResources: { ...inNs, ...resources }, ...spec },
});
const readyPolicy = [
  policy({ name: '$ns-ready', rules: [probe[POLICY][2]], validations: 'false' }), binding({ name: '$ns-ready', policyName: '$ns-ready' }),
];
/** Steps that create policies and bindings and wait until they count. */
export const installPolicies = (...objects) => [...[...objects, ...readyPolicy].map((o) => POST(pathOf(o), o, quiet)), until(POLICY, 'until the policies are in force')];
export const policyCleanup = (objects) => [...objects, ...readyPolicy].map((o) => `${pathOf(o)}/${o.metadata.name}`).reverse();
/** A scenario with policies and bindings in force; `before` are steps that come first, such as those that make parameters. */
export const guarded = (id, about, objects, steps, { before = [], cleanup = [], ...o } = {}) => {
  const list = [objects].flat();
  return scenario(`admission-${id}`, { section: '7', about, ...o, cleanup: [...policyCleanup(list), ...cleanup] }, [...before, ...installPolicies(...list), ...steps]);
};
