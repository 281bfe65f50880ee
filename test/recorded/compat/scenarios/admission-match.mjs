// Which requests reach a webhook: rules, scope, selectors, match policy and match conditions.
import { POST, PATCH, DELETE } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, webhook, mutating, validating, rule, allow, deny, hooked, brief, called, quiet, notProbe, REG, policy, binding } from './kit/admission.mjs';

const hooks = { h: allow };
const shown = ['operation', 'resource', 'subResource', 'name'];
/** A validating hook with these settings; `steps` follow, then what it was asked. */
const seen = (id, about, settings, steps, calls = 1, fields = shown, o = {}) =>
  hooked(`match-${id}`, about, validating(webhook('h', { ...notProbe, ...settings })), { hooks, ...o }, [...steps, brief('h', calls, ...fields)]);

// --- rules: the same requests for all ---
const requests = [
  POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { x: 'y' } } }, quiet),
  PATCH(`${DEPLOYMENTS}/d/status`, 'merge', { status: { replicas: 1 } }, quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }, quiet),
  DELETE(`${DEPLOYMENTS}/d`, undefined, quiet), POST(CM, cm(), quiet),
];
/** Rules that would match anything name the scope: a namespaceSelector does not keep cluster-scoped objects of others away. */
const namespaced = { scope: 'Namespaced' };
const any = (o = {}) => rule('*', { groups: ['*'], versions: ['*'], ...namespaced, ...o });
const rules = [
  ['resource', 'a resource without subresource', [rule('deployments', { groups: ['apps'] })], 3],
  ['all-resources', '*: all resources, no subresources', [any()], 4],
  ['all-and-subresources', '*/*: all resources and subresources', [rule('*/*', { groups: ['*'], versions: ['*'], ...namespaced })], 6],
  ['own-subresources', 'deployments/*: the resource and its subresources', [rule('deployments/*', { groups: ['apps'] })], 5],
  ['all-and-own-subresources', 'deployments and deployments/*', [rule('deployments,deployments/*', { groups: ['apps'] })], 5],
  ['a-subresource', 'deployments/scale', [rule('deployments/scale', { groups: ['apps'] })], 1],
  ['status-of-all', '*/status', [rule('*/status', { groups: ['*'], ...namespaced })], 1],
  ['group-all', 'any group', [rule('deployments,configmaps', { groups: ['*'], ...namespaced })], 4],
  ['group-other', 'another group', [rule('deployments', { groups: ['extensions'] })], 0],
  ['group-core', 'the core group is the empty one', [rule('*', { groups: [''], ...namespaced })], 1],
  ['version-all', 'any version', [rule('deployments', { groups: ['apps'], versions: ['*'] })], 3],
  ['version-other', 'a version that is not served', [rule('deployments', { groups: ['apps'], versions: ['v1beta1'] })], 0],
  ['operation-create', 'CREATE', [any({ operations: ['CREATE'] })], 2],
  ['operation-update', 'UPDATE', [rule('*/*', { groups: ['*'], operations: ['UPDATE'], ...namespaced })], 3],
  ['operation-delete', 'DELETE', [any({ operations: ['DELETE'] })], 1],
  ['operation-connect', 'CONNECT', [any({ operations: ['CONNECT'] })], 0],
  ['operations', 'two operations', [any({ operations: ['CREATE', 'DELETE'] })], 3],
  ['scope-namespaced', 'scope Namespaced', [any({ scope: 'Namespaced' })], 4],
  ['two-rules', 'two rules: one suffices', [rule('configmaps'), rule('deployments', { groups: ['apps'], operations: ['CREATE'] })], 2],
  ['overlap', 'two rules that both match: one call', [rule('configmaps'), rule('*', namespaced)], 1],
  ['none', 'no rules', [], 0],
  ['singular', 'names that are no plural', [rule('deployment,Deployments,deploy', { groups: ['apps'] })], 0],
].map(([id, about, list, calls]) => seen(`rule-${id}`, about, { rules: list }, requests, calls));

// --- scope ---
const owner = { labels: { owner: '$ns' } };
const mine = { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } };
const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';
const priority = POST(PRIORITY, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-p', ...owner }, value: 1 }, quiet);
const cleanup = [`${PRIORITY}/$ns-p`];
const NS = '/api/v1/namespaces';
const other = (labels = {}) => POST(NS, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', labels: { owner: '$ns', ...labels } } }, quiet);
const nsCleanup = ['/api/v1/namespaces/$ns-other'];
const scoped = ['Cluster', 'Namespaced', '*'].flatMap((scope) => [
  seen(`scope-${scope === '*' ? 'any' : scope.toLowerCase()}`, `scope ${scope}: a cluster-scoped and a namespaced object`, { ...mine, rules: [any({ scope })] }, [priority, POST(CM, cm('c', {}, owner), quiet)], scope === '*' ? 2 : 1, shown, { cleanup }),
  seen(`scope-${scope === '*' ? 'any' : scope.toLowerCase()}-namespace`, `scope ${scope}: a Namespace is cluster-scoped`, { ...mine, rules: [rule('namespaces', { scope })] }, [other()], scope === 'Namespaced' ? 0 : 1, shown, { cleanup: nsCleanup }),
]);

// --- namespace selectors ---
const labelNs = (labels) => PATCH(`${NS}/$ns`, 'merge', { metadata: { labels } }, quiet);
const byName = { 'kubernetes.io/metadata.name': '$ns' };
const selector = (matchExpressions, matchLabels = byName) => ({ namespaceSelector: { matchLabels, matchExpressions } });
const namespaces = [
  seen('namespace-label', 'a label of the namespace', selector([{ key: 'team', operator: 'In', values: ['a', 'b'] }]), [POST(CM, cm(), quiet)], 1, shown),
  seen('namespace-label-missing', 'a label that the namespace lacks', selector([{ key: 'nope', operator: 'Exists' }]), [POST(CM, cm(), quiet)], 0),
  seen('namespace-not-in', 'NotIn holds for a label that is missing', selector([{ key: 'nope', operator: 'NotIn', values: ['a'] }]), [POST(CM, cm(), quiet)], 1),
  seen('namespace-does-not-exist', 'DoesNotExist', selector([{ key: 'nope', operator: 'DoesNotExist' }]), [POST(CM, cm(), quiet)], 1),
  seen('namespace-cluster-scoped', 'a cluster-scoped object passes any namespaceSelector', { ...mine, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'no-such' } }, rules: [rule('priorityclasses', { groups: ['scheduling.k8s.io'] })] }, [priority], 1, [...shown, 'namespace'], { cleanup }),
  seen('namespace-itself', 'a Namespace is matched by its own labels, and not by those of another', { ...mine, namespaceSelector: { matchLabels: { team: 'a' } }, rules: [rule('namespaces')] }, [other({ team: 'a' }), PATCH(`${NS}/$ns-other`, 'merge', { metadata: { annotations: { a: 'b' } } }, quiet)], 2, [...shown, 'namespace'], { cleanup: nsCleanup }),
  seen('namespace-itself-other', 'a Namespace without the label', { ...mine, namespaceSelector: { matchLabels: { team: 'b' } }, rules: [rule('namespaces')] }, [other({ team: 'a' })], 0, shown, { cleanup: nsCleanup }),
  seen('namespace-itself-name', 'the name label of a Namespace is there when it is created', { ...mine, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns-other' } }, rules: [rule('namespaces')] }, [other()], 1, [...shown, 'namespace'], { cleanup: nsCleanup }),
  seen('namespace-itself-relabelled', 'an update of a Namespace is matched by its new labels', { ...mine, namespaceSelector: { matchLabels: { team: 'a' } }, rules: [rule('namespaces', { operations: ['UPDATE'] })] }, [other(), PATCH(`${NS}/$ns-other`, 'merge', { metadata: { labels: { team: 'a' } } }, quiet), PATCH(`${NS}/$ns-other`, 'merge', { metadata: { labels: { team: 'b' } } }, quiet)], 1, shown, { cleanup: nsCleanup }),
  seen('namespace-itself-delete', 'a delete of a Namespace', { ...mine, rules: [rule('namespaces', { operations: ['DELETE'] })] }, [other(), DELETE(`${NS}/$ns-other`, undefined, quiet)], 1, [...shown, 'namespace'], { cleanup: nsCleanup }),
];
namespaces[0].steps.unshift(labelNs({ team: 'b' })); // before the hook, so that the wait covers it

// --- object selectors ---
const labelled = (l) => ({ objectSelector: { matchLabels: { l } } });
const objects = [
  seen('object-label', 'a label of the object', labelled('x'), [POST(CM, cm('a', {}, { labels: { l: 'x' } }), quiet), POST(CM, cm('b', {}, { labels: { l: 'y' } }), quiet), POST(CM, cm('c'), quiet)], 1),
  seen('object-update-old', 'an update that takes the label away still matches', { ...labelled('x'), rules: [rule('configmaps', { operations: ['UPDATE'] })] }, [POST(CM, cm('c', {}, { labels: { l: 'x' } }), quiet), PATCH(`${CM}/c`, 'merge', { metadata: { labels: { l: null } } }, quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, quiet)], 1),
  seen('object-update-new', 'an update that sets the label matches', { ...labelled('x'), rules: [rule('configmaps', { operations: ['UPDATE'] })] }, [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { metadata: { labels: { l: 'x' } } }, quiet)], 1),
  seen('object-delete', 'a delete is matched by the old object', { ...labelled('x'), rules: [rule('configmaps', { operations: ['DELETE'] })] }, [POST(CM, cm('a', {}, { labels: { l: 'x' } }), quiet), POST(CM, cm('b'), quiet), DELETE(`${CM}/a`, undefined, quiet), DELETE(`${CM}/b`, undefined, quiet)], 1),
  seen('object-delete-collection', 'a delete of a collection, object by object', { ...labelled('x'), rules: [rule('configmaps', { operations: ['DELETE'] })] }, [POST(CM, cm('a', {}, { labels: { l: 'x' } }), quiet), POST(CM, cm('b'), quiet), DELETE(CM, undefined, quiet)], 1, ['operation', 'oldObject.metadata.name']),
  seen('object-no-labels', 'DoesNotExist matches an object without labels', { objectSelector: { matchExpressions: [{ key: 'l', operator: 'DoesNotExist' }] } }, [POST(CM, cm(), quiet)], 1),
  seen('object-scale', 'a Scale has no labels', { ...labelled('x'), rules: [rule('deployments/scale', { groups: ['apps'] })] }, [POST(DEPLOYMENTS, deployment('d', {}, { labels: { l: 'x' } }), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }, quiet)], 0),
  seen('object-status', 'a status update is matched by the labels of the object', { ...labelled('x'), rules: [rule('pods/status')] }, [POST(PODS, pod('p', {}, { labels: { l: 'x' } }), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { phase: 'Running' } }, quiet)], 1),
  seen('object-binding', 'a Binding is matched by its own labels', { ...labelled('x'), rules: [rule('pods/binding')] }, [POST(PODS, pod('p', {}, { labels: { l: 'x' } }), quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, quiet)], 0),
  seen('object-exec', 'options of a CONNECT have no labels: not even DoesNotExist matches', { objectSelector: { matchExpressions: [{ key: 'l', operator: 'DoesNotExist' }] }, rules: [rule('pods/exec', { operations: ['CONNECT'] })] }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=a`, undefined, quiet)], 0),
  seen('object-exec-empty', 'an empty selector matches them', { objectSelector: {}, rules: [rule('pods/exec', { operations: ['CONNECT'] })] }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=a`, undefined, quiet)], 1),
];

// --- match policy ---
const HPA = (v) => `/apis/autoscaling/${v}/namespaces/$ns/horizontalpodautoscalers`;
const hpa = (v) => ({ apiVersion: `autoscaling/${v}`, kind: 'HorizontalPodAutoscaler', metadata: { name: `h-${v}` }, spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...(v === 'v1' ? { targetCPUUtilizationPercentage: 50 } : { metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } }] }) } });
const converted = ['kind', 'resource', 'requestKind', 'requestResource', 'object.apiVersion', 'object.spec'];
const hpas = (versions) => rule('horizontalpodautoscalers', { groups: ['autoscaling'], versions });
const EVENTS = { core: '/api/v1/namespaces/$ns/events', group: '/apis/events.k8s.io/v1/namespaces/$ns/events' };
const event = { apiVersion: 'v1', kind: 'Event', metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace: '$ns', name: 'p' }, reason: 'R', message: 'text', type: 'Normal', source: { component: 'c' } };
const newEvent = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'n' }, regarding: { kind: 'Pod', namespace: '$ns', name: 'p' }, reason: 'R', note: 'text', type: 'Normal', action: 'A', eventTime: '2020-01-01T00:00:00.000000Z', reportingController: 'example.com/c', reportingInstance: 'i' };
const policies = [
  seen('equivalent-hpa-v1', 'Equivalent: a rule for v1 sees v2 requests as v1', { matchPolicy: 'Equivalent', rules: [hpas(['v1'])] }, [POST(HPA('v2'), hpa('v2'), quiet)], 1, converted),
  seen('equivalent-hpa-v2', 'Equivalent: a rule for v2 sees v1 requests as v2', { matchPolicy: 'Equivalent', rules: [hpas(['v2'])] }, [POST(HPA('v1'), hpa('v1'), quiet)], 1, converted),
  seen('equivalent-hpa-exact-first', 'Equivalent: a rule for the version of the request is taken first', { matchPolicy: 'Equivalent', rules: [hpas(['v2']), hpas(['v1'])] }, [POST(HPA('v1'), hpa('v1'), quiet)], 1, converted),
  seen('equivalent-hpa-unknown', 'Equivalent: a version that is not served has no equivalent', { matchPolicy: 'Equivalent', rules: [hpas(['v2beta2'])] }, [POST(HPA('v1'), hpa('v1'), quiet)], 0, converted),
  seen('exact-hpa-v1', 'Exact: a rule for v1 does not see v2 requests', { matchPolicy: 'Exact', rules: [hpas(['v1'])] }, [POST(HPA('v2'), hpa('v2'), quiet), POST(HPA('v1'), hpa('v1'), quiet)], 1, converted),
  seen('equivalent-event-core', 'Equivalent: Events of events.k8s.io reach a rule for the core group', { matchPolicy: 'Equivalent', rules: [rule('events')] }, [POST(EVENTS.group, newEvent, quiet)], 1, ['kind', 'resource', 'requestKind', 'requestResource', 'object']),
  seen('equivalent-event-group', 'Equivalent: core Events reach a rule for events.k8s.io', { matchPolicy: 'Equivalent', rules: [rule('events', { groups: ['events.k8s.io'] })] }, [POST(EVENTS.core, event, quiet)], 1, ['kind', 'resource', 'requestKind', 'requestResource', 'object']),
  seen('exact-event', 'Exact: Events of events.k8s.io do not reach a rule for the core group', { matchPolicy: 'Exact', rules: [rule('events')] }, [POST(EVENTS.group, newEvent, quiet)], 0),
  seen('equivalent-status', 'Equivalent: subresources too', { matchPolicy: 'Equivalent', rules: [rule('horizontalpodautoscalers/status', { groups: ['autoscaling'], versions: ['v1'] })] }, [POST(HPA('v2'), hpa('v2'), quiet), PATCH(`${HPA('v2')}/h-v2/status`, 'merge', { status: { currentReplicas: 1, desiredReplicas: 1 } }, quiet)], 1, ['kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'requestSubResource']),
  seen('equivalent-delete', 'Equivalent: the old object of a delete is converted', { matchPolicy: 'Equivalent', rules: [rule('horizontalpodautoscalers', { groups: ['autoscaling'], versions: ['v1'], operations: ['DELETE'] })] }, [POST(HPA('v2'), hpa('v2'), quiet), DELETE(`${HPA('v2')}/h-v2`, undefined, quiet)], 1, ['kind', 'requestKind', 'oldObject.apiVersion', 'oldObject.spec']),
  hooked('match-equivalent-mutating', 'Equivalent: a patch of the converted object is converted back', mutating(webhook('h', { rules: [hpas(['v1'])] })), { hooks: { h: (review) => ({ ...allow(review), response: { ...allow(review).response, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify([{ op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 70 }, { op: 'replace', path: '/spec/maxReplicas', value: 5 }])).toString('base64') } }) } }, [POST(HPA('v2'), hpa('v2'), { pick: (b) => b.spec ?? b })]),
  hooked('match-equivalent-twice', 'two mutating hooks in two versions', mutating([webhook('h', { rules: [hpas(['v1'])] }), webhook('n', { rules: [hpas(['v2'])] })]), { hooks: { h: allow, n: allow } }, [POST(HPA('v2'), hpa('v2'), quiet), brief('h', 1, 'kind', 'object.apiVersion'), brief('n', 1, 'kind', 'object.apiVersion')]),
];

// --- match conditions ---
const when = (...expressions) => ({ matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })) });
const conditions = [
  ['true', 'true', when('true'), 1], ['false', 'false', when('false'), 0], ['all', 'all must hold', when('true', 'false', 'true'), 0],
  ['object', 'the object', when("object.data.a == '1'"), 1],
  ['metadata', 'its metadata', when("object.metadata.name == 'c' && object.metadata.namespace == '$ns'"), 1],
  ['has', 'has()', when('!has(object.metadata.labels)'), 1],
  ['old-object', 'oldObject is null on create', when('oldObject == null'), 1],
  ['request', 'the request', when("request.operation == 'CREATE' && request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap' && request.name == 'c' && request.namespace == '$ns' && request.dryRun == false"), 1],
  ['user', 'the user', when("request.userInfo.username == 'admin' && 'system:masters' in request.userInfo.groups"), 1],
  ['options', 'the options', when("request.options.kind == 'CreateOptions'"), 1],
  ['authorizer', 'the authorizer', when("authorizer.group('').resource('configmaps').namespace('$ns').check('create').allowed()"), 1],
  ['authorizer-request', 'authorizer.requestResource', when("authorizer.requestResource.check('create').allowed()"), 1],
].map(([id, about, settings, calls]) => seen(`condition-${id}`, `matchConditions: ${about}`, settings, [POST(CM, cm(), quiet)], calls));
const failing = (id, about, settings, step = POST(CM, cm())) => hooked(`match-condition-${id}`, `matchConditions: ${about}`, validating(webhook('h', settings)), { hooks }, [step, called('h', 0)]);
const conditionErrors = [
  failing('error', 'an error: the request is refused', when("object.data.nope == 'x'")),
  failing('error-ignore', 'an error with failurePolicy Ignore: the hook is left out', { failurePolicy: 'Ignore', ...when("object.data.nope == 'x'") }, POST(CM, cm(), quiet)),
  failing('error-and-false', 'an error and a false one: the hook is left out', when("object.data.nope == 'x'", 'false'), POST(CM, cm(), quiet)),
  failing('error-and-true', 'an error and a true one', when('true', "object.data.nope == 'x'")),
  failing('two-errors', 'two errors', when("object.data.nope == 'x'", "object.nope == 'y'")),
  failing('type-error', 'no such overload', when('object.data.a > 5')),
  failing('index-error', 'an index out of bounds', when("object.metadata.managedFields[9].manager == 'x'")),
  failing('old-object-error', 'a field of an oldObject that is null', when("oldObject.data.a == '1'")),
  hooked('match-condition-error-mutating', 'matchConditions: an error of a mutating hook', mutating(webhook('h', when("object.data.nope == 'x'"))), { hooks }, [POST(CM, cm()), called('h', 0)]),
  hooked('match-condition-cost', 'matchConditions: too costly an expression', validating(webhook('h', when('object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != object.data.a)))'))), { hooks }, [POST(CM, cm('c', Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i === 0 ? 'a' : `k${i}`, 'x'.repeat(50)])))), called('h', 0)]),
  seen('condition-update', 'matchConditions: object and oldObject of an update', { rules: [rule('configmaps', { operations: ['UPDATE'] })], ...when('object.data != oldObject.data') }, [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { metadata: { labels: { a: 'b' } } }, quiet), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }, quiet)], 1, ['object.data']),
  seen('condition-delete', 'matchConditions: object is null on delete', { rules: [rule('configmaps', { operations: ['DELETE'] })], ...when("object == null && oldObject.data.a == '1'") }, [POST(CM, cm(), quiet), DELETE(`${CM}/c`, undefined, quiet)], 1),
  seen('condition-some-users', 'matchConditions: the hook leaves some users out', when("!request.userInfo.groups.exists(g, g == 'nodes')"), [POST(CM, cm('a'), { ...quiet, headers: { 'impersonate-user': 'x', 'impersonate-group': ['system:masters', 'nodes'] } }), POST(CM, cm('b'), quiet)], 1),
  seen('condition-equivalent', 'matchConditions look at the converted object', { rules: [hpas(['v1'])], ...when('object.spec.targetCPUUtilizationPercentage == 50', "request.kind.version == 'v1'", "request.requestKind.version == 'v2'") }, [POST(HPA('v2'), hpa('v2'), quiet)], 1, ['kind']),
];

// --- exempt kinds ---
const exemptRule = [rule('*', { groups: ['admissionregistration.k8s.io'] })];
const exempt = [
  ['mutating', mutating([], '$ns-e')], ['validating', validating([], '$ns-e')], ['policy', policy({ name: '$ns-e', validations: 'true' })], ['binding', binding({ name: '$ns-e' })],
].map(([id, o]) => {
  const path = `${REG}/${{ mutating: 'mutatingwebhookconfigurations', validating: 'validatingwebhookconfigurations', policy: 'validatingadmissionpolicies', binding: 'validatingadmissionpolicybindings' }[id]}`;
  return hooked(`match-exempt-${id}`, `${o.kind} objects reach no webhook`, validating(webhook('h', { ...mine, rules: exemptRule })), { hooks: { h: deny({ message: 'no' }) }, cleanup: [`${path}/$ns-e`] }, [
    POST(path, { ...o, metadata: { ...o.metadata, ...owner } }, quiet), PATCH(`${path}/$ns-e`, 'merge', { metadata: { annotations: { a: 'b' } } }, quiet), DELETE(`${path}/$ns-e`, undefined, quiet), called('h'),
  ]);
});

export default [...rules, ...scoped, ...namespaces, ...objects, ...policies, ...conditions, ...conditionErrors, ...exempt];
