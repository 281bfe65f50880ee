// Kinds that are created only to be acted on or answered: mutating admission, then their own checks, then validating admission.
import { GET, POST, DELETE } from '../steps.ts';
import { PODS, pod, quiet, dry, only, webhook, mutating, validating, rule, allow, deny, patch, add, answer, hooked, called, brief, reviewed } from './kit/admission.mjs';

const within = (id, about, configurations, hooks, steps, o = {}) => ({ ...hooked(`check-${id}`, about, configurations, { hooks, ...o }, steps), id: `plugins-check-${id}` });
const on = (resources, o = {}) => ({ rules: [rule(resources, o)] });
/** `reviewed`: rules for cluster-scoped kinds, whose conditions name the scenario. */
const hook = (key, { reviewed: rules, ...o }) => (rules ? { ...webhook(key, o), rules } : webhook(key, o));
const denying = deny({ message: 'the hook', code: 403, reason: 'Forbidden' });
/** A check that fails: a mutating hook was asked before, a validating one is not. */
const before = (id, about, rules, steps, o = {}) => within(id, `${about}: before validating admission`, [mutating(hook('m', rules)), validating(hook('v', rules))], { m: allow, v: denying }, steps, o);
const asked = [called('m', 1), called('v')];

// --- bindings and evictions ---
const bindings = on('pods/binding'), evictions = on('pods/eviction');
const binding = (metadata = {}, target = { kind: 'Node', name: 'n' }) => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p', ...metadata }, target });
const eviction = (metadata = {}, more = {}) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', ...metadata }, ...more });
const made = POST(PODS, pod(), quiet);
const bind = (body, o) => POST(`${PODS}/p/binding`, body, o);
const evict = (body, o) => POST(`${PODS}/p/eviction`, body, o);
const bound = GET(`${PODS}/p`, only('spec.nodeName'));
const acting = [
  before('binding-name', 'a Binding of another name', bindings, [made, bind(binding({ name: 'q' })), ...asked, bound]),
  before('binding-kind', 'a Binding to something else', bindings, [made, bind(binding({}, { kind: 'Pod', name: 'n' })), ...asked]),
  before('binding-target', 'a Binding to nothing', bindings, [made, bind(binding({}, { kind: 'Node' })), ...asked]),
  before('binding-old', 'a Binding to nothing by the old resource', on('bindings'), [made, POST('/api/v1/namespaces/$ns/bindings', binding({}, { kind: 'Node' })), ...asked]),
  before('binding-denied', 'a Binding that passes its checks', bindings, [made, bind(binding()), called('m', 1), called('v', 1), bound]),
  before('binding-missing', 'a Binding of a pod that is not there is denied first', bindings, [bind(binding()), called('v', 1)]),
  within('binding-mended', 'a Binding whose name a mutating hook mends', mutating(webhook('m', bindings)), { m: patch([add('/metadata/name', 'p')]) }, [made, bind(binding({ name: 'q' }), quiet), bound]),
  within('binding-broken', 'a Binding whose name a mutating hook changes', [mutating(webhook('m', bindings)), validating(webhook('v', bindings))], { m: patch([add('/metadata/name', 'q')]), v: allow }, [made, bind(binding()), called('v'), bound]),
  before('eviction-name', 'an Eviction of another name', evictions, [made, evict(eviction({ name: 'q' })), ...asked]),
  before('eviction-dry', 'an Eviction with another dry run than the request', evictions, [made, evict(eviction({}, { deleteOptions: { dryRun: ['Some'] } }), dry), ...asked, evict(eviction({}, { deleteOptions: { dryRun: ['Some'] } }))]),
  before('eviction-options', 'an Eviction with options that cannot be', evictions, [made, evict(eviction({}, { deleteOptions: { propagationPolicy: 'Nope', gracePeriodSeconds: -5 } })), called('m', 1)]),
  before('eviction-unsafe', 'an Eviction that ignores errors of reading', evictions, [made, evict(eviction({}, { deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true } })), ...asked]),
  before('eviction-denied', 'an Eviction that passes its checks', evictions, [made, evict(eviction()), called('m', 1), called('v', 1), GET(`${PODS}/p`, quiet)]),
  before('eviction-missing', 'an Eviction of a pod that is not there is denied first', evictions, [evict(eviction()), called('v', 1)]),
  within('eviction-mended', 'an Eviction whose name a mutating hook mends', mutating(webhook('m', evictions)), { m: patch([add('/metadata/name', 'p')]) }, [made, evict(eviction({ name: 'q' }), quiet)]),
  within('eviction-broken', 'an Eviction whose name a mutating hook changes', [mutating(webhook('m', evictions)), validating(webhook('v', evictions))], { m: patch([add('/metadata/name', 'q')]), v: allow }, [made, evict(eviction()), called('v'), GET(`${PODS}/p`, quiet)]),
  within('eviction-shown', 'the dry run of the request is shown in the options of an Eviction, if it has any', validating(webhook('v', evictions)), { v: allow }, [made, evict(eviction(), { ...dry, ...quiet }), brief('v', 1, 'object.deleteOptions', 'dryRun'), evict(eviction({}, { deleteOptions: { gracePeriodSeconds: 1 } }), { ...dry, ...quiet }), brief('v', 1, 'object.deleteOptions', 'dryRun'), evict(eviction({}, { deleteOptions: { dryRun: ['All'] } }), quiet), brief('v', 1, 'object.deleteOptions', 'dryRun')]),
];

// --- tokens ---
const tokens = on('serviceaccounts/token');
const ACCOUNTS = '/api/v1/namespaces/$ns/serviceaccounts';
const account = POST(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, quiet);
const token = (spec = {}, metadata = {}) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec });
const request = (body, o) => POST(`${ACCOUNTS}/a/token`, body, o);
const issuing = [
  before('token-missing', 'a token of an account that is not there', tokens, [request(token()), ...asked]),
  before('token-name', 'a token for another account', tokens, [account, request(token({}, { name: 'b' })), ...asked]),
  before('token-seconds', 'a token for a moment', tokens, [account, request(token({ expirationSeconds: 5 })), ...asked]),
  before('token-denied', 'a token that passes its checks', tokens, [account, request(token({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'nope' } })), called('m', 1), called('v', 1)]),
  within('token-shown', 'what each step sees of a request for a token', [mutating(webhook('m', tokens)), validating(webhook('v', tokens))], { m: allow, v: allow }, [account, request(token(), quiet), reviewed('m'), reviewed('v'), request(token({ audiences: ['x'], expirationSeconds: 700 }, { name: 'a', namespace: '$ns' }), quiet), reviewed('v')]),
  within('token-mended', 'what a mutating hook makes of a request for a token', mutating(webhook('m', tokens)), { m: patch([add('/spec/audiences', ['hook']), add('/spec/expirationSeconds', 1234)]) }, [account, request(token({ audiences: ['x'] }), only('spec', 'metadata.name', 'metadata.namespace'))]),
  within('token-broken', 'a mutating hook that breaks it', mutating(webhook('m', tokens)), { m: patch([add('/metadata/name', 'b')]) }, [account, request(token())]),
];

// --- reviews ---
/** Reviews of a namespace or user of the scenario: those of access may have no labels. */
const mine = (group, resources) => ({ namespaceSelector: {}, matchConditions: [{ name: 'own', expression: "string(has(object.spec) ? (has(object.spec.user) ? object.spec.user : has(object.spec.resourceAttributes) && has(object.spec.resourceAttributes.namespace) ? object.spec.resourceAttributes.namespace : '') : '').startsWith('$ns') || (has(object.metadata.labels) && 'own' in object.metadata.labels && object.metadata.labels.own == '$ns')" }], reviewed: [rule(resources, { groups: [group] })] });
const labels = { labels: { own: '$ns' } };
const AUTHZ = '/apis/authorization.k8s.io/v1', AUTHN = '/apis/authentication.k8s.io/v1';
const authz = (resources) => mine('authorization.k8s.io', resources);
const authn = (resources) => mine('authentication.k8s.io', resources);
const review = (kind, spec, metadata = {}) => ({ apiVersion: 'authorization.k8s.io/v1', kind, metadata, spec });
const pods = { verb: 'get', resource: 'pods', namespace: '$ns' };
const reviews = [
  before('access-invalid', 'a SubjectAccessReview about nothing', authz('subjectaccessreviews'), [POST(`${AUTHZ}/subjectaccessreviews`, review('SubjectAccessReview', { user: '$ns-u' })), ...asked]),
  before('access-denied', 'a SubjectAccessReview that passes its checks', authz('subjectaccessreviews'), [POST(`${AUTHZ}/subjectaccessreviews`, review('SubjectAccessReview', { user: '$ns-u', resourceAttributes: pods })), called('v', 1)]),
  before('self-access-invalid', 'a SelfSubjectAccessReview about two things', authz('selfsubjectaccessreviews'), [POST(`${AUTHZ}/selfsubjectaccessreviews`, review('SelfSubjectAccessReview', { resourceAttributes: pods, nonResourceAttributes: { verb: 'get', path: '/' } })), ...asked]),
  before('local-access-namespace', 'a LocalSubjectAccessReview about another namespace', authz('localsubjectaccessreviews'), [POST(`${AUTHZ}/namespaces/$ns/localsubjectaccessreviews`, review('LocalSubjectAccessReview', { user: '$ns-u', resourceAttributes: { ...pods, namespace: 'other' } })), ...asked]),
  before('rules-namespace', 'a SelfSubjectRulesReview of no namespace', authz('selfsubjectrulesreviews'), [POST(`${AUTHZ}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', {}, labels)), ...asked]),
  before('rules-denied', 'a SelfSubjectRulesReview that passes its checks', authz('selfsubjectrulesreviews'), [POST(`${AUTHZ}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', { namespace: '$ns' }, labels)), called('v', 1)]),
  before('token-review-empty', 'a TokenReview of no token', authn('tokenreviews'), [POST(`${AUTHN}/tokenreviews`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', metadata: labels, spec: {} }), ...asked]),
  before('self-denied', 'a SelfSubjectReview', authn('selfsubjectreviews'), [POST(`${AUTHN}/selfsubjectreviews`, { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: labels }), called('v', 1)]),
  within('rules-mended', 'a SelfSubjectRulesReview whose namespace a mutating hook fills in', mutating(hook('m', authz('selfsubjectrulesreviews'))), { m: patch([add('/spec/namespace', '$ns')]) }, [POST(`${AUTHZ}/selfsubjectrulesreviews`, review('SelfSubjectRulesReview', {}, labels), quiet)]),
];

export default [...acting, ...issuing, ...reviews];
