// Mutating webhooks: what a patch may do, the order of several, reinvocation, and what becomes of the object afterwards.
import { GET, POST, PUT, PATCH, DELETE, APPLY } from '../steps.ts';
import { CM, PODS, DEPLOYMENTS, cm, pod, deployment, webhook, mutating, rule, answer, allow, patch, add, hooked, brief, called, quiet, dry, warned, data, only } from './kit/admission.mjs';

/** One mutating hook that answers with these operations. */
const one = (id, about, ops, steps, { more, settings = {}, ...o } = {}) =>
  hooked(`mutating-${id}`, about, mutating(webhook('h', settings)), { hooks: { h: patch(ops, more) }, ...o }, steps);
const put = (path, value) => [add(path, value)];
const updates = { rules: [rule('configmaps', { operations: ['UPDATE'] })] };

const operations = [
  one('add', 'op add: a new key', put('/data/h', 'x'), [POST(CM, cm()), GET(`${CM}/c`)]),
  one('add-map', 'op add: a new map', put('/metadata/labels', { l: 'x' }), [POST(CM, cm())]),
  one('add-list', 'op add at the end of a list', put('/metadata/finalizers/-', 'example.com/b'), [POST(CM, cm('c', {}, { finalizers: ['example.com/a'] }), only('metadata.finalizers')), PATCH(`${CM}/c`, 'merge', { metadata: { finalizers: null } }, only('metadata.finalizers'))]),
  one('replace', 'op replace', [{ op: 'replace', path: '/data/a', value: '9' }], [POST(CM, cm())]),
  one('remove', 'op remove', [{ op: 'remove', path: '/data/a' }], [POST(CM, cm('c', { a: '1', b: '2' }))]),
  one('move', 'op move', [{ op: 'move', from: '/data/a', path: '/data/b' }], [POST(CM, cm(), data)]),
  one('copy', 'op copy', [{ op: 'copy', from: '/data/a', path: '/data/b' }], [POST(CM, cm(), data)]),
  one('test-passes', 'op test that holds', [{ op: 'test', path: '/data/a', value: '1' }, add('/data/h', 'x')], [POST(CM, cm(), data)]),
  one('test-fails', 'op test that does not hold', [{ op: 'test', path: '/data/a', value: '2' }, add('/data/h', 'x')], [POST(CM, cm())]),
  one('escaped', 'escaped pointers', put('/metadata/annotations/example.com~1a', 'x'), [POST(CM, cm('c', {}, { annotations: { z: 'z' } }), only('metadata.annotations'))]),
  one('empty-patch', 'an empty list of operations', [], [POST(CM, cm(), data)]),
  one('whole-document', 'op replace of the whole document', (r) => [{ op: 'replace', path: '', value: { ...r.object, data: { whole: 'x' } } }], [POST(CM, cm(), data)]),
  one('whole-document-add', 'op add of the whole document', (r) => [add('', { ...r.object, data: { whole: 'x' } })], [POST(CM, cm(), data)]),
  one('null-value', 'null removes a value', put('/data', null), [POST(CM, cm())]),
];

const bad = [
  ['remove-missing', 'op remove of what is not there', [{ op: 'remove', path: '/data/nope' }]],
  ['replace-missing', 'op replace of what is not there', [{ op: 'replace', path: '/data/nope', value: 'x' }]],
  ['add-below-missing', 'op add below what is not there', put('/metadata/labels/x', 'y')],
  ['move-missing', 'op move from what is not there', [{ op: 'move', from: '/data/nope', path: '/data/b' }]],
  ['copy-missing', 'op copy from what is not there', [{ op: 'copy', from: '/data/nope', path: '/data/b' }]],
  ['unknown-op', 'an unknown operation', [{ op: 'frobnicate', path: '/data/a' }]],
  ['no-op', 'an operation without op', [{ path: '/data/a', value: 'x' }]],
  ['no-path', 'an operation without path', [{ op: 'add', value: 'x' }]],
  ['no-value', 'op add without a value', [{ op: 'add', path: '/data/b' }]],
  ['bad-index', 'an index that is no number', put('/metadata/managedFields/x', {})],
  ['far-index', 'an index beyond the end', put('/metadata/managedFields/9', {})],
  ['no-slash', 'a path without a slash', put('data', {})],
  ['wrong-type', 'a value of the wrong type', put('/data/b', 5)],
  ['wrong-type-object', 'a map where a string belongs', put('/data/b', { x: 1 })],
  ['kind-changed', 'another kind', put('/kind', 'Secret')],
  ['kind-removed', 'kind taken away', [{ op: 'remove', path: '/kind' }]],
  ['api-version-changed', 'another apiVersion', put('/apiVersion', 'v2')],
].map(([id, about, ops]) => one(`bad-${id}`, about, ops, [POST(CM, cm()), GET(`${CM}/c`, quiet)]));

const raw = (id, about, text) => hooked(`mutating-bad-${id}`, about, mutating(webhook()), { hooks: { h: answer({ patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') }) } }, [POST(CM, cm())]);
const badRaw = [
  raw('not-json', 'a patch that is no JSON', 'nonsense'),
  raw('object', 'a patch that is an object', '{"op":"add"}'),
  raw('null', 'a patch that is null', 'null'),
  raw('strings', 'a patch of strings', '["a"]'),
  raw('truncated', 'a patch that breaks off', '[{"op":"add",'),
  hooked('mutating-bad-not-base64', 'a patch that is not base64', mutating(webhook()), { hooks: { h: answer({ patchType: 'JSONPatch', patch: '[{"op":"add"}]' }) } }, [POST(CM, cm())]),
  hooked('mutating-bad-ignore', 'failurePolicy Ignore does not excuse a patch that fails', mutating(webhook('h', { failurePolicy: 'Ignore' })), { hooks: { h: patch([{ op: 'remove', path: '/data/nope' }]) } }, [POST(CM, cm())]),
];

const unknown = [
  one('unknown-field', 'unknown fields that the hook adds are dropped without a warning', [add('/extra', 1), add('/metadata/other', 'x')], [POST(CM, cm(), { ...warned, query: { fieldValidation: 'Strict' } })]),
  one('case-of-field', 'fields of another case do not count', put('/Data', { b: '2' }), [POST(CM, cm(), data)]),
  one('defaults-after', 'what the hook adds is defaulted', put('/spec/template/spec/containers/-', { name: 'side', image: 'side:latest', ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 80 } } }), [POST(DEPLOYMENTS, deployment(), only('spec.template.spec.containers'))], { settings: { rules: [rule('deployments', { groups: ['apps'], operations: ['CREATE'] })] } }),
  one('normalised', 'quantities that the hook writes are normalised', put('/spec/containers/0/resources', { requests: { cpu: '0.5', memory: '1024Mi' } }), [POST(PODS, pod(), only('spec.containers'))], { settings: { rules: [rule('pods', { operations: ['CREATE'] })] } }),
];

const invalid = [
  one('makes-invalid', 'what the hook made invalid is refused as if the client had sent it', put('/data', { 'bad key': 'x' }), [POST(CM, cm()), GET(`${CM}/c`, quiet)]),
  one('makes-valid', 'what the hook repaired is accepted', put('/metadata/name', 'good'), [POST(CM, cm('Bad_Name'), only('metadata.name'))]),
  one('fills-required', 'a required field may be filled in by the hook', put('/spec/containers/0/image', 'hooked'), [POST(PODS, pod('p', { containers: [{ name: 'c' }] }), only('spec.containers'))], { settings: { rules: [rule('pods', { operations: ['CREATE'] })] } }),
  one('breaks-immutable', 'a hook may not change what is immutable', put('/spec/selector/matchLabels/app', 'b'), [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d`, 'merge', { spec: { replicas: 2 } }, { pick: (b) => ({ ...b, message: b.message?.split('\n')[0] }) })], { settings: { rules: [rule('deployments', { groups: ['apps'], operations: ['UPDATE'] })] } }),
];

const metadata = [
  one('name', 'a hook may change the name of what is created', put('/metadata/name', 'renamed'), [POST(CM, cm()), GET(`${CM}/renamed`, data), GET(`${CM}/c`, quiet)]),
  one('name-given', 'a hook may name what had a generateName', put('/metadata/name', 'named'), [POST(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } })]),
  one('name-removed', 'a name taken away', [{ op: 'remove', path: '/metadata/name' }], [POST(CM, cm())]),
  one('name-apply', 'a changed name on an apply that creates', put('/metadata/name', 'renamed'), [APPLY(`${CM}/c`, 'm', cm())]),
  one('name-update', 'a changed name on an update', put('/metadata/name', 'renamed'), [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } })], { settings: updates }),
  one('namespace', 'a changed namespace on create', put('/metadata/namespace', 'default'), [POST(CM, cm())]),
  one('namespace-removed', 'a namespace taken away', [{ op: 'remove', path: '/metadata/namespace' }], [POST(CM, cm())]),
  one('namespace-update', 'a changed namespace on update', put('/metadata/namespace', 'default'), [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } })], { settings: updates }),
  one('uid', 'a uid set on create is replaced', put('/metadata/uid', 'mine'), [POST(CM, cm(), only('metadata.uid'))]),
  one('uid-update', 'a uid changed on update', put('/metadata/uid', 'mine'), [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } })], { settings: updates }),
  one('resource-version', 'a resourceVersion set on create', put('/metadata/resourceVersion', '5'), [POST(CM, cm())]),
  one('resource-version-update', 'a resourceVersion changed on update', put('/metadata/resourceVersion', '5'), [POST(CM, cm(), quiet), PUT(`${CM}/c`, cm('c', { a: '2' }))], { settings: updates }),
  one('creation-timestamp', 'a creation time set on create is replaced, on update restored', put('/metadata/creationTimestamp', '2001-01-01T00:00:00Z'), [POST(CM, cm(), only('metadata.creationTimestamp')), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, only('metadata.creationTimestamp'))]),
  one('generation', 'a generation set by a hook', put('/metadata/generation', 9), [POST(DEPLOYMENTS, deployment(), only('metadata.generation')), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { a: 'b' } } }, only('metadata.generation'))], { settings: { rules: [rule('deployments', { groups: ['apps'] })] } }),
  one('generation-raised', 'a change of the spec by a hook raises the generation', put('/spec/minReadySeconds', 5), [POST(DEPLOYMENTS, deployment(), only('metadata.generation')), PATCH(`${DEPLOYMENTS}/d`, 'merge', { metadata: { labels: { a: 'b' } } }, only('metadata.generation', 'spec.minReadySeconds'))], { settings: { rules: [rule('deployments', { groups: ['apps'], operations: ['UPDATE'] })] } }),
  one('deletion-timestamp', 'a deletion time set by a hook', put('/metadata/deletionTimestamp', '2001-01-01T00:00:00Z'), [POST(CM, cm(), only('metadata.deletionTimestamp')), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, only('metadata.deletionTimestamp'))]),
  one('owner-references', 'owners set by a hook are validated', put('/metadata/ownerReferences', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '' }]), [POST(CM, cm())]),
  one('labels-and-annotations', 'labels and annotations', [add('/metadata/labels', { l: 'x' }), add('/metadata/annotations', { n: 'y' })], [POST(CM, cm(), { pick: (b) => ({ ...b.metadata, managedFields: b.metadata?.managedFields?.map((m) => m.fieldsV1) }) })]),
];

const flows = [
  one('update', 'the hook changes what a PUT stores', put('/data/h', 'x'), [POST(CM, cm(), quiet), PUT(`${CM}/c`, cm('c', { a: '2' })), GET(`${CM}/c`)], { settings: updates }),
  one('patch', 'the hook changes what a patch stores', put('/data/h', 'x'), [POST(CM, cm(), quiet), PATCH(`${CM}/c`, 'json-patch', [add('/data/b', '2')])], { settings: updates }),
  one('undoes-update', 'a hook that undoes the change: nothing is stored', (r) => [{ op: 'replace', path: '/data', value: r.oldObject.data }], [POST(CM, cm(), { id: 'c' }), PATCH(`${CM}/c`, 'merge', { data: { a: '2' } })], { settings: updates }),
  one('empty-patch-request', 'a patch without effect that the hook gives one', put('/data/h', 'x'), [POST(CM, cm()), PATCH(`${CM}/c`, 'merge', {})], { settings: updates }),
  one('apply', 'an apply with a hook on create and update', (r) => put('/data/h', r.operation), [APPLY(`${CM}/c`, 'm', cm()), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }))]),
  one('dry-run', 'a dry run shows what the hook did', put('/data/h', 'x'), [POST(CM, cm(), dry), GET(`${CM}/c`, quiet)]),
  one('status', 'on a status update the hook cannot change the spec', [add('/spec/replicas', 9), add('/status/observedGeneration', 5)], [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/status`, 'merge', { status: { replicas: 1 } }, only('spec.replicas', 'status'))], { settings: { rules: [rule('deployments/status', { groups: ['apps'] })] } }),
  one('main-not-status', 'on the main resource the hook cannot change the status', [add('/status/observedGeneration', 5)], [POST(DEPLOYMENTS, deployment(), only('status')), PATCH(`${DEPLOYMENTS}/d`, 'merge', { spec: { replicas: 2 } }, only('spec.replicas', 'status'))], { settings: { rules: [rule('deployments', { groups: ['apps'] })] } }),
  one('scale', 'a hook on scale changes the number of replicas', put('/spec/replicas', 7), [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }), GET(`${DEPLOYMENTS}/d`, only('spec.replicas'))], { settings: { rules: [rule('deployments/scale', { groups: ['apps'] })] } }),
  one('scale-not-deployment', 'a hook on deployments does not see a scale update', put('/spec/replicas', 7), [POST(DEPLOYMENTS, deployment(), only('spec.replicas')), PATCH(`${DEPLOYMENTS}/d/scale`, 'merge', { spec: { replicas: 2 } }, only('spec.replicas'))], { settings: { rules: [rule('deployments', { groups: ['apps'], operations: ['UPDATE'] })] } }),
  one('binding', 'a hook on pods/binding changes the node', put('/target/name', 'hooked'), [POST(PODS, pod(), quiet), POST(`${PODS}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'asked' } }), GET(`${PODS}/p`, only('spec.nodeName'))], { settings: { rules: [rule('pods/binding')] } }),
  one('secret', 'data of a Secret is base64 for the hook', [add('/data/b', 'Yg=='), add('/stringData', { s: 'text' })], [POST('/api/v1/namespaces/$ns/secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'a' } }, data)], { settings: { rules: [rule('secrets')] } }),
];

const deletion = [
  one('delete-patch', 'a patch on a delete is refused', put('/data/h', 'x'), [POST(CM, cm(), quiet), DELETE(`${CM}/c`), GET(`${CM}/c`, quiet)], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  one('delete-patch-ignore', 'also with failurePolicy Ignore', put('/data/h', 'x'), [POST(CM, cm(), quiet), DELETE(`${CM}/c`)], { settings: { failurePolicy: 'Ignore', rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  one('delete-empty-patch', 'an empty patch on a delete is fine', [], [POST(CM, cm(), quiet), DELETE(`${CM}/c`)], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  one('connect-patch', 'a patch of the options of a CONNECT', put('/container', 'nope'), [POST(PODS, pod('p', { nodeName: '$ns-n' }), quiet), POST(`${PODS}/p/exec?command=a&container=c&stdout=true`)], { settings: { rules: [rule('pods/exec', { operations: ['CONNECT'] })] } }),
];

/** Hooks that append their own letter to data.trace, so that the order shows. */
const trace = (letter) => patch((r) => put('/data/trace', `${r.object.data.trace ?? ''}${letter}`));
const traced = cm('c', { trace: '' });
const order = [
  hooked('mutating-order-in-configuration', 'hooks of one configuration run in the order of the list; each sees what the one before did', mutating([webhook('b'), webhook('a'), webhook('c')]), { hooks: { a: trace('a'), b: trace('b'), c: trace('c') } }, [POST(CM, traced, data), brief('b', 1, 'object.data.trace'), brief('a', 1, 'object.data.trace'), brief('c', 1, 'object.data.trace')]),
  hooked('mutating-order-of-configurations', 'configurations run in the order of their names, whatever was created first', [mutating(webhook('b'), '$ns-b'), mutating(webhook('a'), '$ns-a'), mutating(webhook('c'), '$ns-c')], { hooks: { a: trace('a'), b: trace('b'), c: trace('c') } }, [POST(CM, traced, data)]),
  hooked('mutating-order-denied', 'the first refusal ends it', mutating([webhook('a'), webhook('b'), webhook('c')]), { hooks: { a: allow, b: answer({ allowed: false, status: { message: 'no' } }), c: allow } }, [POST(CM, cm()), called('a', 1), called('b', 1), called('c')]),
  hooked('mutating-order-selector', 'selectors look at what the hooks before have done', mutating([webhook('a'), webhook('b', { objectSelector: { matchLabels: { l: 'x' } } }), webhook('c', { objectSelector: { matchLabels: { l: 'y' } } })]), { hooks: { a: patch(put('/metadata/labels', { l: 'x' })), b: allow, c: allow } }, [POST(CM, cm('c', {}, { labels: { l: 'y' } }), quiet), called('b', 1), called('c', 0)]),
  hooked('mutating-order-match-condition', 'match conditions look at what the hooks before have done', mutating([webhook('a'), webhook('b', { matchConditions: [{ name: 'x', expression: "object.data.a == '2'" }] })]), { hooks: { a: patch(put('/data/a', '2')), b: allow } }, [POST(CM, cm(), quiet), called('b', 1)]),
  hooked('mutating-allowed-false-patch', 'a patch in a refusal does not count', mutating(webhook()), { hooks: { h: patch(put('/data/h', 'x'), { allowed: false }) } }, [POST(CM, cm())]),
];

const again = { reinvocationPolicy: 'IfNeeded' };
/** Two hooks: `h` before, `n` after it; how often each is called shows. */
const reinvoked = (id, about, settings, hooks, steps = [POST(CM, traced, data)], calls = [2, 1]) =>
  hooked(`mutating-reinvocation-${id}`, about, mutating([webhook('h', settings[0]), webhook('n', settings[1])]), { hooks }, [...steps, called('h', calls[0]), called('n', calls[1])]);
const reinvocation = [
  reinvoked('if-needed', 'IfNeeded: called again once a later hook has changed the object', [again, {}], { h: trace('h'), n: trace('n') }),
  reinvoked('never', 'Never: called once', [{}, {}], { h: trace('h'), n: trace('n') }, undefined, [1, 1]),
  reinvoked('unchanged', 'IfNeeded: called once when the later hook changes nothing', [again, {}], { h: trace('h'), n: allow }, undefined, [1, 1]),
  reinvoked('patch-without-effect', 'IfNeeded: a patch without effect is no change', [again, {}], { h: trace('h'), n: patch([add('/data/trace', 'h')]) }, undefined, [1, 1]),
  reinvoked('own-change', 'IfNeeded on the last one: its own change does not count', [{}, again], { h: trace('h'), n: trace('n') }, undefined, [1, 1]),
  reinvoked('both', 'IfNeeded on both', [again, again], { h: trace('h'), n: trace('n') }, undefined, [2, 2]),
  reinvoked('first-idle', 'IfNeeded on a first one that changes nothing', [again, {}], { h: allow, n: trace('n') }),
  reinvoked('update', 'on an update', [{ ...again, ...updates }, updates], { h: trace('h'), n: trace('n') }, [POST(CM, traced, quiet), PATCH(`${CM}/c`, 'merge', { data: { x: 'y' } }, data)]),
  reinvoked('not-matching-first', 'one that did not match at first is not called in the second round', [{ ...again, objectSelector: { matchLabels: { l: 'x' } } }, {}], { h: trace('h'), n: patch([add('/metadata/labels', { l: 'x' })]) }, [POST(CM, traced, only('data', 'metadata.labels'))], [0, 1]),
  reinvoked('no-longer-matching', 'one that no longer matches is not called again', [{ ...again, objectSelector: { matchLabels: { l: 'x' } } }, {}], { h: trace('h'), n: patch([add('/metadata/labels', {})]) }, [POST(CM, cm('c', { trace: '' }, { labels: { l: 'x' } }), only('data', 'metadata.labels'))], [1, 1]),
  hooked('mutating-reinvocation-review', 'the review of the second round holds what the first one made', mutating([webhook('h', again), webhook('n')]), { hooks: { h: allow, n: patch([add('/data/n', 'x')]) } }, [POST(CM, cm(), quiet), brief('h', 2, 'uid', 'object.data')]),
  hooked('mutating-reinvocation-plugins-refuse', 'a class that a hook gives to a pod whose priority was filled in already is refused in the second run', mutating(webhook('h', { rules: [rule('pods', { operations: ['CREATE'] })] })), { hooks: { h: patch([add('/spec/priorityClassName', 'system-node-critical')]) } }, [POST(PODS, pod())]),
  hooked('mutating-reinvocation-plugins', 'built-in plugins run again after a hook has changed a pod', mutating(webhook('h', { rules: [rule('pods', { operations: ['CREATE'] })] })), { hooks: { h: patch([{ op: 'remove', path: '/spec/tolerations' }, { op: 'remove', path: '/spec/priority' }, { op: 'remove', path: '/spec/preemptionPolicy' }, add('/spec/priorityClassName', 'system-node-critical')]) } }, [POST(PODS, pod(), only('spec.tolerations', 'spec.priority', 'spec.priorityClassName', 'spec.preemptionPolicy'))]),
  hooked('mutating-reinvocation-by-plugin', 'a plugin that changes the object in its second run has the hook called again', mutating(webhook('h', { ...again, rules: [rule('pods', { operations: ['CREATE'] })] })), { hooks: { h: patch((r) => (r.object.spec.tolerations.length ? [add('/spec/tolerations', [])] : undefined)) } }, [POST(PODS, pod(), only('spec.tolerations')), called('h', 2)]),
];

const versions = [
  hooked('mutating-v1beta1-patch', 'a v1beta1 answer may leave patchType out, and name any uid', mutating(webhook('h', { admissionReviewVersions: ['v1beta1'] })), { hooks: { h: (review) => ({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1', response: { uid: 'other', allowed: true, patch: Buffer.from(JSON.stringify([add('/data/h', review.apiVersion)])).toString('base64') } }) } }, [POST(CM, cm(), data)]),
  hooked('mutating-v1beta1-plain', 'a v1beta1 answer with everything', mutating(webhook('h', { admissionReviewVersions: ['v1beta1'] })), { hooks: { h: patch([add('/data/h', 'x')], { warnings: ['careful'] }) } }, [POST(CM, cm(), { ...warned, ...data })]),
];

export default [...operations, ...bad, ...badRaw, ...unknown, ...invalid, ...metadata, ...flows, ...deletion, ...order, ...reinvocation, ...versions];
