// Reviews of access beyond their shapes (kinds-reviews): selectors and their errors, rules of the caller, bodies and metadata (§5).
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { tidy } from './kit/kinds-groups.mjs';
import { as, user, mine, person, may, mayVisit, role, bind, granted, grantedEverywhere, clusterCleanup, inForce, sar, sarPath, sarObject, selfSar, refusal, accountName, nodeHeaders, whoami } from './kit/access.mjs';

const s = (id, about, steps, o = {}) => scenario(`review-${id}`, { section: '5', about, namespace: false, ...o }, steps);
const authz = '/apis/authorization.k8s.io/v1';
const nodes = ['system:nodes'];
/** The outcome with what the selector did to it. A node may list pods by its own name only, so the answer shows whether a selector was understood. */
const asNode = (selectors, verb = 'list') => sar([verb, 'pods', { namespace: '', ...selectors }], { user: 'system:node:n', groups: nodes }, { pick: (b) => tidy(b.kind === 'Status' ? b : b.status), note: JSON.stringify(selectors) });
const field = (...requirements) => ({ fieldSelector: { requirements } });
const onNode = (operator, ...values) => ({ key: 'spec.nodeName', operator, ...(values.length ? { values } : {}) });
const raw = (rawSelector) => ({ fieldSelector: { rawSelector } });
const label = (...requirements) => ({ labelSelector: { requirements } });

const selectors = [
  s('selector-raw', 'a raw field selector that restricts, and some that do not', ['spec.nodeName=n', 'spec.nodeName==n', 'spec.nodeName!=n', 'spec.nodeName=m', 'metadata.name=p,spec.nodeName=n', 'spec.nodeName=n,spec.nodeName=m'].map((x) => asNode(raw(x)))),
  s('selector-raw-bad', 'a raw field selector that cannot be read is ignored, with a note', ['spec.nodeName', 'a=b=c', '=', '\\'].map((x) => asNode(raw(x)))),
  s('selector-requirements', 'requirements: In and NotIn with one value', [asNode(field(onNode('In', 'n'))), asNode(field(onNode('NotIn', 'n'))), asNode(field(onNode('In', 'm'))), asNode(field({ key: 'metadata.name', operator: 'In', values: ['p'] }, onNode('In', 'n')))]),
  s('selector-requirements-many', 'several values are not supported: ignored, with a note', [asNode(field(onNode('In', 'n', 'm'))), asNode(field(onNode('NotIn', 'n', 'm')))]),
  s('selector-requirements-partly', 'of several requirements the good ones count', [asNode(field(onNode('In', 'n'), { key: 'x', operator: 'In', values: ['a', 'b'] })), asNode(field(onNode('In', 'n'), { key: 'x', operator: 'Exists' })), asNode(field(onNode('In', 'n'), { key: 'x', operator: 'Like', values: ['y'] }))]),
  s('selector-requirements-exists', 'Exists and DoesNotExist are not supported yet', [asNode(field(onNode('Exists'))), asNode(field(onNode('DoesNotExist')))]),
  s('selector-requirements-invalid', 'requirements that are refused', [asNode(field(onNode('In'))), asNode(field(onNode('NotIn'))), asNode(field(onNode('Exists', 'n'))), asNode(field({ key: '', operator: 'In', values: ['a'] })), asNode(field({ operator: 'In', values: ['a'] })), asNode(field({ key: 'a' })), asNode(field(onNode('', 'n')))]),
  s('selector-both', 'raw and requirements together, and neither', [asNode({ fieldSelector: { rawSelector: 'a=b', requirements: [onNode('In', 'n')] } }), asNode({ fieldSelector: {} }), asNode({ fieldSelector: { rawSelector: '' } }), asNode({ fieldSelector: { requirements: [] } }), asNode({ fieldSelector: null })]),
  s('selector-label-raw', 'label selectors, good and bad', ['a=b', 'a in (b,c),!d', 'a===b', '!', 'a b'].map((x) => asNode({ ...raw('spec.nodeName=n'), labelSelector: { rawSelector: x } }))),
  s('selector-label-requirements', 'label requirements, good, bad and partly good', [asNode(label({ key: 'a', operator: 'In', values: ['b', 'c'] })), asNode(label({ key: 'a', operator: 'Exists' })), asNode(label({ key: 'a', operator: 'Like', values: ['x'] })), asNode(label({ key: 'a', operator: 'In', values: ['b'] }, { key: 'c', operator: 'Like' })), asNode(label({ key: 'a', operator: 'In', values: ['not ok'] })), asNode(label({ key: 'a b', operator: 'Exists' }))]),
  s('selector-label-invalid', 'label requirements that are refused', [asNode(label({ key: 'a', operator: 'In' })), asNode(label({ key: 'a', operator: 'Exists', values: ['b'] })), asNode(label({ key: '', operator: 'Exists' })), asNode({ labelSelector: {} })]),
  s('selector-both-bad', 'two notes, one for each selector', [asNode({ ...raw('a'), labelSelector: { rawSelector: '!' } })]),
  s('selector-verbs', 'a selector counts whatever the verb says', ['list', 'watch', 'deletecollection', 'get', 'create'].map((v) => asNode(raw('spec.nodeName=n'), v))),
  s('selector-self', 'selectors in a review of oneself', [selfSar({ resourceAttributes: { verb: 'list', resource: 'pods', ...raw('spec.nodeName=n') } }, { headers: nodeHeaders('n') }), selfSar({ resourceAttributes: { verb: 'list', resource: 'pods', ...raw('x') } }, { headers: nodeHeaders('n') }), selfSar({ resourceAttributes: { verb: 'list', resource: 'pods', fieldSelector: {} } }, { pick: tidy })]),
  s('selector-rbac', 'RBAC does not look at selectors', [...granted(may('list', 'pods')), sar(['list', 'pods', raw('spec.nodeName=n')]), sar(['list', 'pods', { labelSelector: { rawSelector: 'a=b' } }]), sar(['list', 'pods', raw('bad')])], { namespace: true }),
];

const metadata = [
  s('metadata-refused', 'metadata must be empty; a namespace is dropped', [{ name: 'n' }, { namespace: 'x' }, { labels: { a: 'b' } }, { annotations: { a: 'b' } }, { generateName: 'g' }, { finalizers: ['example.com/x'] }].map((m) => POST(sarPath, { ...sarObject({ user, resourceAttributes: {} }), metadata: m }, { pick: tidy, note: JSON.stringify(m) }))),
  s('status-ignored', 'a status that is sent does not count', [POST(sarPath, { ...sarObject({ user, resourceAttributes: { verb: 'get', resource: 'pods' } }), status: { allowed: true, denied: true, reason: 'r', evaluationError: 'e' } }, { pick: (b) => b.status })]),
  s('attributes-empty', 'attributes without anything in them', [sar(['', '', { namespace: undefined }]), POST(sarPath, sarObject({ user, nonResourceAttributes: {} }), { pick: (b) => b.status }), POST(sarPath, sarObject({ groups: ['system:masters'], nonResourceAttributes: {} }), { pick: (b) => b.status })]),
  s('user-or-groups', 'a user, groups, or both', [sar(['get', 'pods'], { user: '' , groups: ['g'] }), sar(['get', 'pods'], { groups: [] }), sar(['get', 'pods'], { uid: 'x' }), sar(['get', 'pods'], { user: '', groups: [''] })]),
  s('no-groups-added', 'the groups of a review are taken as given: system:authenticated is not added', [sar(['get', '/api'], { user: 'x' }), sar(['get', '/api'], { user: 'x', groups: ['system:authenticated'] }), sar(['get', '/healthz'], { user: 'x' }), sar(['get', 'pods'], { user: accountName('x') })]),
  s('extra-keys', 'extra fields are echoed as sent', [POST(sarPath, sarObject({ user, extra: { 'Example.com/Key': ['a', 'b'], empty: [] , nothing: null }, resourceAttributes: { verb: 'get', resource: 'pods' } }), { pick: (b) => b.spec })]),
  s('unknown-fields', 'unknown fields are warned about or refused', [POST(sarPath, sarObject({ user, colour: 'red', resourceAttributes: { verb: 'get', resource: 'pods', size: 1 } }), { compareHeaders: ['warning'], pick: (b) => b.status }), POST(sarPath, sarObject({ user, colour: 'red', resourceAttributes: {} }), { query: { fieldValidation: 'Strict' } })]),
  s('version-attribute', 'the version is echoed, empty stays empty', [POST(sarPath, sarObject({ user, resourceAttributes: { verb: 'get', resource: 'pods', version: 'v1' } }), { pick: (b) => b.spec }), POST(sarPath, sarObject({ user, resourceAttributes: { verb: 'get', resource: 'pods' } }), { pick: (b) => b.spec })]),
  s('dry-run', 'a dry run answers the same', [sar(['get', 'pods'], { groups: ['system:masters'] }, { query: { dryRun: 'All' } }), selfSar({ resourceAttributes: { verb: 'get', resource: 'pods' } }, { query: { dryRun: 'All' } })]),
  s('old-versions', 'v1beta1 is gone', [POST('/apis/authorization.k8s.io/v1beta1/subjectaccessreviews', {}), POST(sarPath, { ...sarObject({ user, resourceAttributes: {} }), apiVersion: 'authorization.k8s.io/v1beta1' }), POST(sarPath, { ...sarObject({ user, resourceAttributes: {} }), kind: 'SelfSubjectAccessReview' }), POST(sarPath, { spec: { user, resourceAttributes: { verb: 'get', resource: 'pods' } } }, { pick: (b) => ({ kind: b.kind, apiVersion: b.apiVersion, status: b.status }) })]),
  s('methods', 'only POST', [GET(sarPath), PUT(`${sarPath}/x`, {}), PATCH(`${sarPath}/x`, 'merge', {}), POST(`${sarPath}/x`, {}), GET(`${authz}/localsubjectaccessreviews`), POST(`${authz}/localsubjectaccessreviews`, {}), POST(`${authz}/namespaces/default/subjectaccessreviews`, {})]),
  s('wrong-types', 'values of other types', [POST(sarPath, sarObject({ user: 5, resourceAttributes: {} })), POST(sarPath, sarObject({ user, groups: 'g', resourceAttributes: {} })), POST(sarPath, sarObject({ user, resourceAttributes: [] })), POST(sarPath, sarObject({ user, extra: { k: 'v' }, resourceAttributes: {} }))]),
  s('both-attributes', 'resource and path at once, or none', [POST(sarPath, sarObject({ user, resourceAttributes: {}, nonResourceAttributes: { path: '/x', verb: 'get' } }), { pick: tidy }), POST(sarPath, sarObject({ user }), { pick: tidy }), POST(sarPath, sarObject({}), { pick: tidy }), POST(sarPath, {}, { pick: tidy })]),
];

const local = [
  s('local-right', 'a right to create local reviews lets one ask about the namespace', [...granted(may('create', 'localsubjectaccessreviews', { apiGroups: ['authorization.k8s.io'] })),
    POST(`${authz}/namespaces/$ns/localsubjectaccessreviews`, { spec: { user: 'x', resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } } }, { ...mine, pick: (b) => b.status }), POST(`${authz}/namespaces/default/localsubjectaccessreviews`, { spec: {} }, mine), POST(sarPath, { spec: {} }, mine)], { namespace: true }),
  s('local-missing-namespace', 'a namespace that does not exist is no obstacle', [POST(`${authz}/namespaces/none-such/localsubjectaccessreviews`, { spec: { user: 'x', resourceAttributes: { namespace: 'none-such', verb: 'get', resource: 'pods' } } }, { pick: (b) => (b.kind === 'Status' ? b : { metadata: b.metadata.namespace, status: b.status }) })]),
  s('local-selectors', 'selectors in a local review', [POST(`${authz}/namespaces/$ns/localsubjectaccessreviews`, { spec: { user: 'system:node:n', groups: nodes, resourceAttributes: { namespace: '$ns', verb: 'list', resource: 'pods', ...raw('spec.nodeName=n') } } }, { pick: (b) => b.status }), POST(`${authz}/namespaces/$ns/localsubjectaccessreviews`, { spec: { user: 'system:node:n', groups: nodes, resourceAttributes: { namespace: '$ns', verb: 'list', resource: 'pods', ...raw('bad') } } }, { pick: (b) => b.status })], { namespace: true }),
];

const sorted = (list) => list?.map((r) => JSON.stringify(r)).sort().map((r) => JSON.parse(r));
/** The rules in any order: those of several bindings come as the server finds them. */
const rulesOf = (b) => (b.kind === 'Status' ? b : { ...b.status, resourceRules: sorted(b.status.resourceRules), nonResourceRules: sorted(b.status.nonResourceRules) });
const rules = (namespace, o = {}) => POST(`${authz}/selfsubjectrulesreviews`, { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }, { pick: rulesOf, ...o });
const ruleReviews = [
  s('rules-admin', 'the administrator: everything, and what every user has', [rules('default')]),
  s('rules-bob', 'a user without grants', [rules('default', { as: 'bob' })]),
  s('rules-anonymous', 'anonymous callers may not ask; impersonated with more groups they have little', [rules('default', { as: null }), rules('default', { headers: as('system:anonymous', { groups: ['system:unauthenticated', 'system:masters'] }) })]),
  s('rules-account', 'a service account has the issuer documents', [rules('default', { headers: as('system:serviceaccount:default:x') })]),
  s('rules-node', 'a node: the list is not complete', [rules('default', { headers: nodeHeaders('n') })]),
  s('rules-node-nameless', 'a member of system:nodes without a node name', [rules('default', { headers: as('u', { groups: nodes }) }), rules('default', { headers: as('system:node:n') })]),
  s('rules-missing-namespace', 'a namespace that does not exist', [rules('none-such', { as: 'bob' })]),
  s('rules-no-namespace', 'no namespace', [rules('', { as: 'bob' }), rules(undefined, { as: 'bob' })]),
  s('rules-granted', 'grants in the namespace and the cluster are listed rule by rule as written', [...granted(may('get,list', 'pods,pods/log'), may('get', 'secrets', { resourceNames: ['s'] })), rules('$ns', mine), rules('default', mine)], { namespace: true }),
  s('rules-cluster', 'grants in the cluster with paths', [...grantedEverywhere(may('*', '*', { apiGroups: ['*'] }), mayVisit('get', '/x', '/y/*')), rules('$ns', mine)], { namespace: true, cleanup: clusterCleanup }),
  s('rules-twice', 'the same rule from two bindings comes twice', [role('a', may('get', 'pods')), role('b', may('get', 'pods')), bind('a', 'Role/a'), bind('b', 'Role/b'), ...inForce, rules('$ns', mine)], { namespace: true }),
  s('rules-missing-role', 'a binding to a missing role: an error beside what is known', [bind('lost', 'Role/none'), ...granted(may('get', 'pods')), rules('$ns', mine)], { namespace: true }),
  s('rules-metadata', 'metadata and status that are sent', [POST(`${authz}/selfsubjectrulesreviews`, { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', metadata: { name: 'n', labels: { a: 'b' } }, spec: { namespace: 'default' }, status: { incomplete: true, resourceRules: [] } }, { as: 'bob', pick: (b) => (b.kind === 'Status' ? b : { metadata: b.metadata, spec: b.spec, incomplete: b.status.incomplete }) })]),
  s('rules-masters-name', 'a user named like the group has nothing of it', [rules('default', { headers: as('system:masters') })]),
];

const self = [
  s('self-users', 'who may do what, for each kind of user', [
    ...[{}, { as: 'alice' }, { headers: as('system:serviceaccount:default:x') }, { headers: as('system:kube-scheduler') }, { headers: nodeHeaders('n') }].map((who) => selfSar({ resourceAttributes: { verb: 'list', resource: 'services' } }, { ...who, note: JSON.stringify(who) }))]),
  s('self-full', 'a review of oneself in full', [selfSar({ resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'default' } }, { as: 'alice', pick: (b) => b }), selfSar({ nonResourceAttributes: { verb: 'get', path: '/api' } }, { as: 'alice', pick: (b) => b })]),
  s('self-names-no-user', 'a user in the spec is unknown there', [selfSar({ user: 'admin', groups: ['system:masters'], resourceAttributes: { verb: 'get', resource: 'pods' } }, { as: 'alice', compareHeaders: ['warning'] })]),
  s('self-whoami-extra', 'impersonated extra fields and a uid', [whoami({ headers: as('u', { uid: 'i', groups: ['g'], extra: { 'example.com/a': ['1', '2'], b: ['3'] } }) })]),
  s('self-body', 'SelfSubjectReview takes any body of its kind', [whoami({ as: 'bob', body: {} }), whoami({ as: 'bob', body: { apiVersion: 'authentication.k8s.io/v1beta1', kind: 'SelfSubjectReview' } }), whoami({ as: 'bob', body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' } }), whoami({ as: 'bob', body: '' })].map((x) => ({ ...x, ...refusal }))),
  s('person-of-token-file', 'person and group of the token file in a binding', [role('r', may('get', 'pods')), bind('b', 'Role/r', person('alice')), ...inForce, selfSar({ resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } }, { as: 'alice' }), selfSar({ resourceAttributes: { namespace: '$ns', verb: 'get', resource: 'pods' } }, { as: 'bob' })], { namespace: true }),
];

export default [...selectors, ...metadata, ...local, ...ruleReviews, ...self];
