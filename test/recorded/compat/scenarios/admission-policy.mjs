// ValidatingAdmissionPolicy: verdicts, messages, actions, failures, and what expressions can look at.
import { scenario, GET, POST, PUT, PATCH, DELETE, APPLY, SLEEP } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, rule, policy, binding, guarded, quiet, dry, warned, data, only, REG } from './kit/admission.mjs';

/** One policy with these settings, one binding that denies. */
const one = (id, about, settings, steps = [POST(CM, cm())], o = {}) => guarded(`policy-${id}`, about, [policy(settings), binding(o.binding)], steps, o);
const failing = (o) => ({ validations: [{ expression: 'false', ...o }] });
/** A policy that always denies, with what the expression makes of the request as its message. */
const tells = (id, about, expression, steps, o = {}) => one(`sees-${id}`, about, { ...failing({ messageExpression: expression }), ...o.settings }, steps, o);
const text = (list) => list.map((e) => `string(${e})`).join(" + ' ' + ");

const verdicts = [
  one('allows', 'an expression that holds', { validations: 'true' }, [POST(CM, cm(), data)]),
  one('denies', 'one that does not: 422 Invalid, though the message says forbidden', { validations: "object.data.a == '2'" }, [POST(CM, cm()), GET(`${CM}/c`, quiet), POST(CM, cm('d', { a: '2' }), data)]),
  one('several', 'several expressions: the first that fails is reported', { validations: ['true', { expression: 'false', message: 'second' }, { expression: 'false', message: 'third' }] }),
  one('several-reasons', 'several that fail with reasons: that of the first counts', { validations: [{ expression: 'false', message: 'first', reason: 'Forbidden' }, { expression: 'false', message: 'second', reason: 'RequestEntityTooLarge' }] }),
  one('update', 'updates and patches', { rules: [rule('configmaps', { operations: ['UPDATE'] })], validations: 'object.data.a == oldObject.data.a' }, [POST(CM, cm(), quiet), PUT(`${CM}/c`, cm('c', { a: '2' })), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } }), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, data)]),
  one('apply', 'applies', failing({ message: 'no' }), [APPLY(`${CM}/c`, 'm', cm())]),
  one('delete', 'deletes', { rules: [rule('configmaps', { operations: ['DELETE'] })], validations: "object == null && oldObject.data.a == '2'" }, [POST(CM, cm(), quiet), POST(CM, cm('d', { a: '2' }), quiet), DELETE(`${CM}/c`), DELETE(`${CM}/d`, undefined, quiet)]),
  one('delete-collection', 'a collection', { rules: [rule('configmaps', { operations: ['DELETE'] })], validations: "oldObject.metadata.name != 'b'" }, [...['a', 'b', 'c'].map((n) => POST(CM, cm(n, {}, { labels: { x: 'y' } }), quiet)), DELETE(CM, undefined, { query: { labelSelector: 'x' } }), GET(CM, { query: { labelSelector: 'x' }, pick: (b) => b.items.map((i) => i.metadata.name) })]),
  one('dry-run', 'a dry run', failing(), [POST(CM, cm(), dry)]),
  one('connect', 'an exec', { rules: [rule('pods/exec', { operations: ['CONNECT'] })], validations: [{ expression: "object.command[0] != 'sh'", message: 'no shell' }] }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=sh`), POST(`${PODS}/p/exec?command=ls`, undefined, quiet)]),
  one('eviction', 'an eviction', { rules: [rule('pods/eviction')], ...failing() }, [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } })]),
  one('scale', 'a scale update', { rules: [rule('deployments/scale', { groups: ['apps'] })], validations: [{ expression: 'object.spec.replicas <= 5', messageExpression: "'at most 5, not ' + string(object.spec.replicas)" }] }, [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 9 } }), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 3 } }, only('spec'))]),
  one('status', 'a status update', { rules: [rule('pods/status')], validations: "object.status.phase != 'Failed'" }, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { phase: 'Failed' } })]),
  one('generate-name', 'the name in the message when it was generated', failing(), [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, { pick: (b) => JSON.parse(JSON.stringify(b).replaceAll(/gen-[a-z0-9]{5}/g, 'gen-<random>')) })]),
  one('group', 'a kind of another group', { rules: [rule('deployments', { groups: ['apps'] })], validations: 'object.spec.replicas > 1' }, [POST(DEPLOYMENTS, deployment())]),
  one('unbound', 'without a binding a policy does nothing', failing(), [POST(CM, cm(), data)], { binding: { policyName: '$ns-other' } }),
  guarded('policy-binding-alone', 'a binding without a policy does nothing', [binding()], [POST(CM, cm(), data)]),
  one('invalid-before', 'an object that validation refuses never reaches the policy', failing(), [POST(CM, cm('Bad_Name'), { pick: (b) => [b.reason, b.message?.slice(0, 60)] })]),
];

const long = (n) => `'${'x'.repeat(n)}'`;
const messages = [
  ['default', 'without a message: the expression', failing()],
  ['default-lines', 'an expression of several lines', { validations: '\n  object.data.a ==\n    "2"  ' }],
  ['given', 'a message', failing({ message: 'because' })],
  ['trimmed', 'blanks around a message', failing({ message: '  because  ' })],
  ['expression', 'a messageExpression', failing({ messageExpression: "'got ' + object.data.a" })],
  ['both', 'a messageExpression goes before the message', failing({ message: 'because', messageExpression: "'got ' + object.data.a" })],
  ['expression-error', 'a messageExpression that fails: the message', failing({ message: 'because', messageExpression: 'string(object.data.nope)' })],
  ['expression-error-alone', 'a messageExpression that fails, and no message', failing({ messageExpression: 'string(object.data.nope)' })],
  ['expression-empty', 'an empty result: the message', failing({ message: 'because', messageExpression: "''" })],
  ['expression-blank', 'a blank result: the message', failing({ message: 'because', messageExpression: "'   '" })],
  ['expression-trimmed', 'blanks around the result', failing({ messageExpression: "'  got  '" })],
  ['expression-lines', 'a result with a line break: the message', failing({ message: 'because', messageExpression: "'a\\nb'" })],
  ['expression-lines-trimmed', 'a line break at the end is trimmed', failing({ message: 'because', messageExpression: "'a\\n'" })],
  ['expression-longest', 'a result of 5120 bytes', failing({ message: 'because', messageExpression: long(5120) })],
  ['expression-too-long', 'a result of 5121 bytes: the message', failing({ message: 'because', messageExpression: long(5121) })],
  ['unicode', 'a message beyond ASCII', failing({ message: 'nö ✓' })],
  ['quotes', 'quotes in expression and message', { validations: 'object.data.a == "it\'s"' }],
].map(([id, about, settings]) => one(`message-${id}`, about, settings));

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'].map((reason) => one(`reason-${reason.toLowerCase()}`, `reason ${reason}`, failing({ message: 'because', reason })));

const actions = [
  ['warn', ['Warn'], failing({ message: 'because' })],
  ['warn-default-message', ['Warn'], { validations: "object.data.a == 'two'" }],
  ['warn-several', ['Warn'], { validations: [{ expression: 'false', message: 'one' }, 'true', { expression: 'false', message: 'two' }] }],
  ['warn-error', ['Warn'], { validations: "object.data.nope == 'x'" }],
  ['warn-quotes', ['Warn'], failing({ message: 'say "hi" \\ there' })],
  ['warn-lines', ['Warn'], { validations: 'object.data.a ==\n  "2"' }],
  ['audit', ['Audit'], failing({ message: 'because' })],
  ['audit-warn', ['Audit', 'Warn'], failing({ message: 'because' })],
  ['deny-audit', ['Deny', 'Audit'], failing({ message: 'because' })],
].map(([id, list, settings]) => one(`action-${id}`, `validationActions ${list.join(', ')}`, settings, [POST(CM, cm(), { ...data, ...warned })], { binding: { actions: list } }));
const bindings = [
  guarded('policy-bindings-deny-and-warn', 'one binding denies, another warns', [policy(failing({ message: 'because' })), binding(), binding({ name: '$ns-binding-2', actions: ['Warn'] })], [POST(CM, cm(), warned)]),
  guarded('policy-bindings-two-deny', 'two bindings that deny: one of them is reported', [policy(failing({ message: 'because' })), binding(), binding({ name: '$ns-binding-2' })], [POST(CM, cm(), { pick: (b) => JSON.parse(JSON.stringify(b).replaceAll('-binding-2', '-binding')) })]),
  guarded('policy-two-policies', 'two policies, one of which denies', [policy({ validations: 'true' }), binding(), policy({ name: '$ns-policy-2', ...failing() }), binding({ name: '$ns-binding-2', policyName: '$ns-policy-2' })], [POST(CM, cm())]),
  guarded('policy-two-warn', 'two policies that warn', [policy(failing()), binding({ actions: ['Warn'] }), policy({ name: '$ns-policy-2', ...failing({ message: 'because' }) }), binding({ name: '$ns-binding-2', policyName: '$ns-policy-2', actions: ['Warn'] })], [POST(CM, cm(), { ...quiet, pickHeaders: (h) => ({ warnings: h.warning.split(/, (?=299)/).map((w) => w.replaceAll(/oracle-[0-9a-f]{10}/g, '$ns')).sort() }) })]),
];

const errors = [
  ['missing-key', 'a key that is not there', "object.data.nope == 'x'"],
  ['missing-field', 'a field that is not there', "object.nope.deeper == 'x'"],
  ['overload', 'types that do not fit', 'object.data.a > 5'],
  ['index', 'an index out of bounds', "object.metadata.managedFields[9].manager == 'x'"],
  ['division', 'a division by zero', "1 / int(object.data.zero) == 1"],
  ['overflow', 'an overflow', '9223372036854775807 + int(object.data.a) > 0'],
  ['conversion', 'a conversion that fails', "int(object.data.word) == 1"],
  ['null', 'a field of null', "oldObject.data.a == '1'"],
  ['regex', 'a regular expression that is none', "'x'.matches(object.data.bad)"],
  ['or', 'an error beside true in an or', "object.data.nope == 'x' || true"],
  ['and', 'an error beside false in an and', "object.data.nope == 'x' && false"],
  ['has', 'has() of a missing parent', 'has(object.nope.deeper)'],
];
const values = { a: '1', zero: '0', word: 'x', bad: '(' };
const failures = errors.map(([id, about, expression]) => one(`error-${id}`, `failurePolicy Fail: ${about}`, { validations: expression }, [POST(CM, cm('c', values))]));
const ignored = [
  one('error-ignored', 'failurePolicy Ignore: an error is no denial', { failurePolicy: 'Ignore', validations: "object.data.nope == 'x'" }, [POST(CM, cm(), { ...data, ...warned })]),
  one('error-ignored-warn', 'failurePolicy Ignore: nor a warning', { failurePolicy: 'Ignore', validations: "object.data.nope == 'x'" }, [POST(CM, cm(), { ...data, ...warned })], { binding: { actions: ['Warn'] } }),
  one('error-ignored-and-false', 'failurePolicy Ignore: an error beside one that does not hold', { failurePolicy: 'Ignore', validations: ["object.data.nope == 'x'", 'false'] }),
  one('ignore-denies', 'failurePolicy Ignore: one that does not hold denies all the same', { failurePolicy: 'Ignore', validations: 'false' }),
  one('error-and-false', 'failurePolicy Fail: an error after one that does not hold', { validations: ['false', "object.data.nope == 'x'"] }),
  one('error-reason', 'the reason of a validation does not count for an error', { validations: [{ expression: "object.data.nope == 'x'", reason: 'Forbidden', message: 'because' }] }),
];

const nested = (n) => `${Array.from({ length: n }, (_, i) => `object.data.all(k${i}, `).join('')}object.data.a != 'y'${')'.repeat(n)}`;
const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i === 0 ? 'a' : `k${i}`, 'x'.repeat(100)]));
// A regular expression over a long text: 450000 units of the 1000000 for one expression, 10000000 for all.
const dear = `object.data.a.matches('${'y'.repeat(60)}') || true`;
const longText = { a: 'x'.repeat(300000) };
const costs = [
  one('cost-expression', 'one expression that costs too much', { validations: nested(3) }, [POST(CM, cm('c', many))]),
  one('cost-expression-ignore', 'the same with failurePolicy Ignore', { failurePolicy: 'Ignore', validations: nested(3) }, [POST(CM, cm('c', many), quiet)]),
  one('cost-regex', 'a regular expression over a long text: twice is too much', { validations: [dear, `(${dear}) && (${dear.replaceAll('y', 'z')}) && (${dear.replaceAll('y', 'w')})`] }, [POST(CM, cm('c', longText), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
  one('cost-total', 'expressions that together cost too much', { validations: Array.from({ length: 25 }, () => dear) }, [POST(CM, cm('c', longText), { pick: (b) => (b.kind === 'Status' ? b : 'accepted') })]),
  one('cost-total-within', 'expressions that together cost just enough', { validations: Array.from({ length: 20 }, () => dear) }, [POST(CM, cm('c', longText), quiet)]),
  one('cost-total-first-denies', 'a budget that runs out hides one that does not hold', { validations: [{ expression: 'false', message: 'first' }, ...Array.from({ length: 25 }, () => dear)] }, [POST(CM, cm('c', longText))]),
  one('cost-total-ignore', 'failurePolicy Ignore: a budget that runs out admits', { failurePolicy: 'Ignore', validations: [{ expression: 'false', message: 'first' }, ...Array.from({ length: 25 }, () => dear)] }, [POST(CM, cm('c', longText), quiet)]),
  one('cost-message', 'a messageExpression that costs too much: the message', failing({ message: 'because', messageExpression: `${nested(3)} ? 'a' : 'b'` }), [POST(CM, cm('c', many))]),
];

const variables = [
  one('variables', 'variables build on each other', { variables: [{ name: 'a', expression: 'object.data.a' }, { name: 'b', expression: "variables.a + 'b'" }], validations: [{ expression: "variables.b == 'x'", messageExpression: "'b is ' + variables.b" }] }),
  one('variables-unused', 'a variable that fails matters only where it is used', { variables: [{ name: 'bad', expression: 'object.data.nope' }], validations: 'true' }, [POST(CM, cm(), data)]),
  one('variables-error', 'a variable that fails', { variables: [{ name: 'bad', expression: 'object.data.nope' }], validations: "variables.bad == 'x'" }),
  one('variables-error-chain', 'a variable that uses one that fails', { variables: [{ name: 'bad', expression: 'object.data.nope' }, { name: 'worse', expression: "variables.bad + 'x'" }], validations: "variables.worse == 'x'" }),
  one('variables-short-circuit', 'a variable on the side of an or that is not needed', { variables: [{ name: 'bad', expression: 'object.data.nope' }], validations: "true || variables.bad == 'x'" }, [POST(CM, cm(), data)]),
  one('variables-types', 'variables of every type', { variables: [{ name: 'i', expression: '1' }, { name: 'l', expression: '[1, 2]' }, { name: 'm', expression: "{'k': 'v'}" }, { name: 'o', expression: 'object.metadata' }, { name: 'n', expression: 'oldObject' }, { name: 'd', expression: '1.5' }, { name: 'b', expression: 'true' }], ...failing({ messageExpression: text(['variables.i + 1', 'variables.l.size()', 'variables.m.k', 'variables.o.name', 'variables.n == null', 'variables.d', 'variables.b']) }) }),
  one('variables-in-conditions', 'variables may not be used in match conditions: without them they work', { variables: [{ name: 'a', expression: 'object.data.a' }], matchConditions: [{ name: 'm', expression: "object.data.a == '1'" }], validations: [{ expression: "variables.a == '2'" }] }),
  one('variables-message', 'in messageExpression and auditAnnotations', { variables: [{ name: 'a', expression: 'object.data.a' }], ...failing({ messageExpression: "'a is ' + variables.a" }), auditAnnotations: [{ key: 'k', valueExpression: 'string(variables.a)' }] }),
];

const annotations = [
  one('audit-annotation', 'an audit annotation does not show', { auditAnnotations: [{ key: 'k', valueExpression: "'v'" }] }, [POST(CM, cm(), { ...data, ...warned })]),
  one('audit-annotation-null', 'a null value', { auditAnnotations: [{ key: 'k', valueExpression: 'null' }] }, [POST(CM, cm(), data)]),
  one('audit-annotation-error', 'failurePolicy Fail: a value that fails denies', { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.nope)' }] }),
  one('audit-annotation-error-warn', 'even where the binding only warns', { auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.nope)' }] }, [POST(CM, cm(), warned)], { binding: { actions: ['Warn'] } }),
  one('audit-annotation-error-ignore', 'failurePolicy Ignore: not', { failurePolicy: 'Ignore', auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.nope)' }] }, [POST(CM, cm(), data)]),
];

const updates = { settings: { rules: [rule('configmaps', { operations: ['UPDATE'] })] } };
const deletes = { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } };
const optional = (e) => `(has(${e}) ? string(${e}) : '-')`;
const requestFields = "'op=' + request.operation + ' kind=' + request.kind.group + '/' + request.kind.version + '/' + request.kind.kind + ' resource=' + request.resource.group + '/' + request.resource.version + '/' + request.resource.resource"
  + " + ' requestKind=' + request.requestKind.kind + ' requestResource=' + request.requestResource.resource + ' dryRun=' + string(request.dryRun)"
  + ` + ' name=' + ${optional('request.name')} + ' namespace=' + ${optional('request.namespace')} + ' sub=' + ${optional('request.subResource')} + ' requestSub=' + ${optional('request.requestSubResource')}`;
const sees = [
  tells('request', 'the request of a create', requestFields, [POST(CM, cm())]),
  tells('request-dry-run', 'the request of a dry run', requestFields, [POST(CM, cm(), dry)]),
  tells('request-update', 'the request of a patch', requestFields, [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } })], updates),
  tells('request-delete', 'the request of a delete', requestFields, [POST(CM, cm(), quiet), DELETE(`${CM}/c`)], deletes),
  tells('request-collection', 'the request of a delete of a collection', requestFields, [POST(CM, cm('c', {}, { labels: { x: 'y' } }), quiet), DELETE(CM, undefined, { query: { labelSelector: 'x' } })], deletes),
  tells('request-status', 'the request of a status update', requestFields, [POST(PODS, pod(), quiet), PATCH(`${PODS}/p/status`, 'merge', { status: { phase: 'Running' } })], { settings: { rules: [rule('pods/status')] } }),
  tells('request-scale', 'the request of a scale update', requestFields, [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } })], { settings: { rules: [rule('deployments/scale', { groups: ['apps'] })] } }),
  tells('user', 'the user', "request.userInfo.username + ' ' + request.userInfo.uid + ' ' + request.userInfo.groups.join(',') + ' ' + request.userInfo.extra.scopes.join(',')", [POST(CM, cm(), { headers: { 'impersonate-user': 'jane', 'impersonate-group': ['system:masters', 'devs'], 'impersonate-uid': '42', 'impersonate-extra-scopes': ['view', 'edit'] } })]),
  tells('user-empty', 'a user without uid and extra', "request.userInfo.username + ' ' + string(has(request.userInfo.uid)) + ' ' + string(has(request.userInfo.extra)) + ' ' + request.userInfo.groups.join(',')", [POST(CM, cm(), { headers: { 'impersonate-user': 'jane', 'impersonate-group': ['system:masters'] } })]),
  tells('options', 'the options of a create', "request.options.kind + ' ' + request.options.apiVersion + ' ' + request.options.fieldManager", [POST(CM, cm(), { query: { fieldManager: 'me' } })]),
  tells('options-delete', 'the options of a delete', "request.options.kind + ' ' + string(request.options.gracePeriodSeconds) + ' ' + request.options.propagationPolicy", [POST(CM, cm(), quiet), DELETE(`${CM}/c`, { gracePeriodSeconds: 3, propagationPolicy: 'Background' })], deletes),
  tells('nulls-create', 'oldObject is null on create', "string(oldObject == null) + ' ' + string(object == null)", [POST(CM, cm())]),
  tells('nulls-update', 'neither is null on update', "string(oldObject == null) + ' ' + string(object == null)", [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', {})], updates),
  tells('nulls-delete', 'object is null on delete', "string(oldObject == null) + ' ' + string(object == null)", [POST(CM, cm(), quiet), DELETE(`${CM}/c`)], deletes),
  tells('params-null', 'without a paramKind there is no params', "string(request.name) + ' ok'", [POST(CM, cm())]),
  tells('type-meta', 'kind and apiVersion of the object', "object.apiVersion + ' ' + object.kind", [POST(CM, cm())]),
  tells('metadata', 'the metadata of a create', "object.metadata.name + ' ' + object.metadata.namespace + ' ' + string(has(object.metadata.uid)) + ' ' + string(has(object.metadata.resourceVersion)) + ' ' + string(type(object.metadata.creationTimestamp) == string) + ' ' + object.metadata.managedFields[0].manager", [POST(CM, cm())]),
  tells('labels', 'labels with odd keys', "object.metadata.labels['example.com/a-b'] + ' ' + object.metadata.labels.plain + ' ' + object.metadata.?labels['nope'].orValue('none')", [POST(CM, cm('c', {}, { labels: { 'example.com/a-b': 'x', plain: 'y' } }))]),
  tells('defaults', 'defaults are in the object', "string(object.spec.replicas) + ' ' + string(object.spec.strategy.type)", [POST(DEPLOYMENTS, deployment())], { settings: { rules: [rule('deployments', { groups: ['apps'] })] } }),
  tells('optional-lists', 'empty lists and maps are absent', "string(has(object.metadata.labels)) + ' ' + string(has(object.metadata.finalizers)) + ' ' + string(has(object.data)) + ' ' + string(has(object.binaryData))", [POST(CM, { ...cm(), metadata: { name: 'c', labels: {}, finalizers: [] } })]),
  tells('int-or-string', 'values that are int or string', "string(type(object.spec.ports[0].targetPort) == int) + ' ' + string(type(object.spec.ports[1].targetPort) == string)", [POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { clusterIP: 'None', ports: [{ name: 'a', port: 1, targetPort: 80 }, { name: 'b', port: 2, targetPort: 'http' }] } })], { settings: { rules: [rule('services')] } }),
  tells('quantities', 'quantities are strings in their normal form', "object.spec.containers[0].resources.requests.cpu + ' ' + string(type(object.spec.containers[0].resources.requests.cpu) == string) + ' ' + string(quantity(object.spec.containers[0].resources.requests.memory).isGreaterThan(quantity('1Gi')))", [POST(PODS, pod('p', { containers: [{ name: 'c', image: 'img', resources: { requests: { cpu: '0.5', memory: '2048Mi' } } }] }))], { settings: { rules: [rule('pods')] } }),
  tells('secret', 'data of a Secret is a base64 string', "object.data.k + ' ' + string(type(object.data.k) == string) + ' ' + string(has(object.stringData))", [POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { k: 'v' } })], { settings: { rules: [rule('secrets')] } }),
  tells('namespace', 'namespaceObject', "namespaceObject.metadata.name + ' ' + namespaceObject.metadata.labels['kubernetes.io/metadata.name'] + ' ' + namespaceObject.spec.finalizers[0] + ' ' + namespaceObject.status.phase", [POST(CM, cm())]),
  tells('namespace-absent', 'what is not set in namespaceObject', "string(has(namespaceObject.metadata.annotations)) + ' ' + string(has(namespaceObject.metadata.finalizers)) + ' ' + string(has(namespaceObject.metadata.generateName)) + ' ' + string(has(namespaceObject.metadata.deletionTimestamp))", [POST(CM, cm())]),
  tells('namespace-labels', 'labels and annotations of the namespace', "namespaceObject.metadata.labels['team'] + ' ' + namespaceObject.metadata.annotations['note']", [POST(CM, cm())], { before: [PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } }, quiet)] }),
];

const owner = { labels: { owner: '$ns' } };
const clusterWide = { constraints: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } } };
const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';
const clusterScoped = [
  guarded('policy-cluster-scoped', 'a cluster-scoped object: namespaceObject is null, request.namespace is not there', [policy({ rules: [rule('priorityclasses', { groups: ['scheduling.k8s.io'] })], ...clusterWide, ...failing({ messageExpression: "string(namespaceObject == null) + ' ' + string(has(request.namespace))" }) }), binding({ resources: { objectSelector: { matchLabels: { owner: '$ns' } } } })], [POST(PRIORITY, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: '$ns-p', ...owner }, value: 1 })], { cleanup: [`${PRIORITY}/$ns-p`] }),
  guarded('policy-namespace-object', 'a Namespace itself: namespaceObject is null', [policy({ rules: [rule('namespaces')], ...clusterWide, ...failing({ messageExpression: "string(namespaceObject == null) + ' ' + string(has(request.namespace)) + ' ' + request.name" }) }), binding({ resources: { namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } } })], [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-other', ...owner } })], { cleanup: ['/api/v1/namespaces/$ns-other'] }),
];

const asUser = { headers: { 'impersonate-user': '$ns-jane', 'impersonate-group': ['$ns-devs'] } };
const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/$ns';
const grant = [
  POST(`${rbac}/roles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] }, { apiGroups: [''], resources: ['configmaps'], verbs: ['special'], resourceNames: ['c'] }, { apiGroups: ['example.com'], resources: ['things/part'], verbs: ['use'] }] }, quiet),
  POST(`${rbac}/rolebindings`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: { name: 'r' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: '$ns-jane' }] }, quiet),
];
// The authorizer may be asked by `expression` only, so each question is a validation, and the numbers of those that hold show as warnings.
const asks = (id, about, questions, o = {}) => guarded(`policy-authorizer-${id}`, about, [policy({ validations: questions.map((q, i) => ({ expression: `!(${q})`, message: `holds ${i}` })) }), binding({ actions: ['Warn'] })], [POST(CM, cm(), { ...quiet, pickHeaders: (h) => ({ warnings: (h.warning ?? '').match(/holds \d+/g) ?? [] }), ...(o.step ?? asUser) })], { before: grant, section: '5' });
const cmCheck = "authorizer.group('').resource('configmaps').namespace('$ns')";
const authorizer = [
  asks('resource', 'rights on a resource', [`${cmCheck}.check('create').allowed()`, `${cmCheck}.check('delete').allowed()`, `authorizer.group('').resource('configmaps').check('create').allowed()`, "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()"]),
  asks('name', 'rights on a named object', [`${cmCheck}.name('c').check('special').allowed()`, `${cmCheck}.name('d').check('special').allowed()`, `${cmCheck}.check('special').allowed()`]),
  asks('subresource', 'rights on a subresource', ["authorizer.group('example.com').resource('things').subresource('part').namespace('$ns').check('use').allowed()", "authorizer.group('example.com').resource('things').namespace('$ns').check('use').allowed()"]),
  asks('request-resource', 'authorizer.requestResource', ["authorizer.requestResource.check('create').allowed()", "authorizer.requestResource.check('special').allowed()", "authorizer.requestResource.check('delete').allowed()"]),
  asks('path', 'rights on a path', ["authorizer.path('/healthz').check('get').allowed()", "authorizer.path('/metrics').check('get').allowed()"]),
  asks('service-account', 'the rights of a service account', [`authorizer.serviceAccount('$ns', 'default').group('').resource('configmaps').namespace('$ns').check('create').allowed()`, "authorizer.serviceAccount('$ns', 'default').path('/healthz').check('get').allowed()"]),
  asks('decision', 'reason and error of a decision', [`${cmCheck}.check('create').reason() == ''`, `${cmCheck}.check('delete').reason() == ''`, `${cmCheck}.check('delete').errored()`, `${cmCheck}.check('delete').error() == ''`, `${cmCheck}.check('create').reason().contains('RoleBinding')`]),
  asks('admin', 'the administrator may do anything', [`${cmCheck}.check('anything').allowed()`], { step: {} }),
];

// Expressions about one object: the numbers of those that hold.
const rich = cm('c', { a: '1', list: 'x,y,z', url: 'https://example.com:8080/p?q=1', ip: '10.1.2.3', cidr: '10.0.0.0/8', mem: '1.5Gi', when: '2020-01-02T03:04:05Z', span: '90m', word: 'Hello' }, { labels: { app: 'web', tier: 'front' }, annotations: { 'example.com/n': '5' } });
const holds = (id, about, expressions) => guarded(`policy-cel-${id}`, about, [policy({ validations: expressions.map((e, i) => ({ expression: `!(${e})`, message: `holds ${i}` })) }), binding({ actions: ['Warn'] })], [POST(CM, rich, { ...quiet, pickHeaders: (h) => ({ holds: (h.warning ?? '').match(/holds \d+/g) ?? [], errors: (h.warning ?? '').match(/resulted in error: [^"]*/g) ?? [] }) })], { section: '2.11' });
const cel = [
  holds('strings', 'strings', ["object.data.list.split(',').size() == 3", "object.data.word.lowerAscii() == 'hello'", "object.data.word.startsWith('He')", "object.data.word.matches('^H[a-z]+$')", "object.data.word.replace('l', 'L') == 'HeLLo'", "object.data.word.substring(1, 3) == 'el'", "object.data.word.find('l+') == 'll'", "'%s-%d'.format([object.data.a, 5]) == '1-5'", "object.data.word.indexOf('l') == 2", "' x '.trim() == 'x'"]),
  holds('maps', 'maps and lists', ["object.metadata.labels.all(k, k.size() > 2)", "object.metadata.labels.exists(k, object.metadata.labels[k] == 'web')", "object.metadata.labels.exists_one(k, k == 'app')", "'app' in object.metadata.labels", "object.metadata.labels.map(k, object.metadata.labels[k]).size() == 2", "object.metadata.labels.filter(k, k == 'tier') == ['tier']", "object.data.list.split(',').isSorted()", "[3, 1, 2].max() == 3 && [1, 2].sum() == 3", "['a', 'b'].indexOf('b') == 1", "size(object.data) == 9"]),
  holds('optionals', 'optional values', ["object.?data.?nope.orValue('none') == 'none'", "object.?metadata.?labels['app'].hasValue()", "object.metadata.?finalizers.optMap(f, f.size()).orValue(0) == 0", "optional.of(1).value() == 1", "object.?nope.?deeper.?still.hasValue()"]),
  holds('libraries', 'libraries of Kubernetes', ["url(object.data.url).getPort() == '8080'", "isIP(object.data.ip) && ip(object.data.ip).family() == 4", "cidr(object.data.cidr).containsIP(object.data.ip)", "quantity(object.data.mem).isGreaterThan(quantity('1Gi'))", "timestamp(object.data.when).getFullYear() == 2020", "duration(object.data.span) == duration('1h30m')", "isQuantity('1Gi') && !isQuantity('x')", "isURL(object.data.url)", "sets.contains(['a', 'b'], ['a'])", "format.dns1123Label().validate('Bad_Name').hasValue()"]),
  holds('types', 'types and conversions', ["int(object.data.a) == 1", "double(object.data.a) == 1.0", "string(5) == '5'", "bool('true')", "type(object.data) == map", "type(object.metadata.managedFields) == list", "type(oldObject) == null_type", "dyn(1) == 1.0", "bytes('a') == b'a'", "object.data.a < '2'"]),
  holds('numbers', 'numbers of built-in kinds', ["type(1) == int", "1.5 > 1", "dyn(1) == dyn(1.0)", "7 % 4 == 3", "-7 / 2 == -3", "uint(3) == 3u", "1 <= 1.5"]),
  scenario('admission-policy-cel-absent', { section: '2.11', about: 'libraries that a policy cannot use', namespace: false }, ["semver('1.2.3').major() == 1", 'math.greatest(1, 2) == 2', "base64.encode(b'a') == 'YQ=='", '[1, 2].first().hasValue()', "cel.bind(x, 1, x == 1)"].map((e) => POST(`${REG}/validatingadmissionpolicies`, policy({ name: '$ns-none', validations: e }), { ...dry, note: e, pick: (b) => (b.kind === 'Status' ? b : 'accepted') }))),
  holds('two-variables', 'macros with two variables', ["object.data.all(k, v, k != v)", "object.metadata.labels.exists(k, v, v == 'web')"]),
];

const changes = [
  one('changed', 'a changed policy counts within a second or two', { validations: 'false' }, [POST(CM, cm(), quiet), PATCH(`${REG}/validatingadmissionpolicies/$ns-policy`, 'merge', { spec: { validations: [{ expression: 'true' }] } }, quiet), { ...POST(CM, cm(), { ...dry, ...quiet }), kind: 'poll', ms: 10000, until: (_, s) => s === 201 }]),
  one('unbound-later', 'a deleted binding no longer counts', { validations: 'false' }, [POST(CM, cm(), quiet), DELETE(`${REG}/validatingadmissionpolicybindings/$ns-binding`, undefined, quiet), { ...POST(CM, cm(), { ...dry, ...quiet }), kind: 'poll', ms: 10000, until: (_, s) => s === 201 }]),
  one('rebound', 'a binding may turn to another action', { validations: 'false' }, [POST(CM, cm(), quiet), PATCH(`${REG}/validatingadmissionpolicybindings/$ns-binding`, 'merge', { spec: { validationActions: ['Warn'] } }, quiet), { ...POST(CM, cm(), { ...dry, ...quiet, ...warned }), kind: 'poll', ms: 10000, until: (_, s) => s === 201 }]),
  one('status-untouched', 'the server itself writes no status', { validations: 'true' }, [SLEEP(1500), GET(`${REG}/validatingadmissionpolicies/$ns-policy`, { pick: (b) => ({ status: b.status ?? null, generation: b.metadata?.generation }) })]),
];

export default [...verdicts, ...messages, ...reasons, ...actions, ...bindings, ...failures, ...ignored, ...costs, ...variables, ...annotations, ...sees, ...clusterScoped, ...authorizer, ...cel, ...changes];
