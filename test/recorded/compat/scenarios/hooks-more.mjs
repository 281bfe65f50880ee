// Webhooks: selectors on old and new objects, v1beta1, status and scale, collections, dry run, failing conditions, audit annotations.
import { scenario, POST, PUT, PATCH, DELETE, GET, AUDITED, SLEEP } from '../steps.ts';
import { CM, DEPLOYMENTS, cm, deployment, data, only, dry, webhook, mutating, validating, rule, allow, answer, deny, patch, add, hooked, brief, called, pathOf, quiet, warned } from './kit/admission.mjs';
import { grantAll } from './kit/audit.mjs';

const on = (id, about, configurations, hooks, steps, o = {}) => hooked(`hooks-${id}`, about, configurations, { hooks, ...o }, steps);
const selecting = (operations = ['*']) => ({ objectSelector: { matchLabels: { l: 'x' } }, rules: [rule('configmaps', { operations })] });
const labels = (l) => ({ labels: { l } });
const selected = (id, about, before, after, calls) => on(`selector-${id}`, about, [mutating(webhook('m', selecting(['UPDATE']))), validating(webhook('v', selecting(['UPDATE'])))], { m: allow, v: allow }, [POST(CM, cm('c', {}, before), quiet), PUT(`${CM}/c`, cm('c', {}, after), quiet), called('m', calls), called('v', calls)]);
const NOT = { objectSelector: { matchExpressions: [{ key: 'l', operator: 'NotIn', values: ['x'] }] } };

const selectors = [
  selected('old', 'the old object alone has the label', labels('x'), {}, 1),
  selected('new', 'the new object alone has it', {}, labels('x'), 1),
  selected('both', 'both have it', labels('x'), labels('x'), 1),
  selected('neither', 'neither has it', labels('y'), labels('z'), 0),
  on('selector-not-old', 'NotIn: the old object has the label, the new one does not', validating(webhook('h', { ...NOT, rules: [rule('configmaps', { operations: ['UPDATE', 'DELETE'] })] })), { h: allow }, [POST(CM, cm('c', {}, labels('x')), quiet), PATCH(`${CM}/c`, 'merge', { metadata: { labels: { l: 'x', o: 'p' } } }, quiet), called('h'), PATCH(`${CM}/c`, 'merge', { metadata: { labels: { l: null } } }, quiet), called('h', 1), DELETE(`${CM}/c`, undefined, quiet), called('h', 1)]),
  on('selector-delete', 'a delete is matched by the old object', validating(webhook('h', selecting(['DELETE']))), { h: deny({ message: 'no' }) }, [POST(CM, cm('a', {}, labels('x')), quiet), POST(CM, cm('b'), quiet), DELETE(`${CM}/a`), DELETE(`${CM}/b`, undefined, quiet), called('h', 1)]),
  on('selector-collection', 'a delete of a collection asks about those that match, and the first refusal ends it', validating(webhook('h', selecting(['DELETE']))), { h: deny({ message: 'no' }) }, [POST(CM, cm('a', {}, labels('x')), quiet), DELETE(CM, undefined, { query: { labelSelector: 'l=x' } }), GET(`${CM}/a`, quiet), called('h', 1)]),
  on('selector-namespace', 'the labels of the namespace are those that it has now', validating(webhook('h', { namespaceSelector: { matchLabels: { team: '$ns' } } })), { h: deny({ message: 'no' }) }, [POST(CM, cm('a'), quiet), PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { team: '$ns' } } }, quiet), SLEEP(500), POST(CM, cm('b')), PATCH('/api/v1/namespaces/$ns', 'merge', { metadata: { labels: { team: null } } }, quiet), SLEEP(500), POST(CM, cm('d'), quiet)]),
];

const beta = { admissionReviewVersions: ['v1beta1'] };
const versions = [
  on('v1beta1-patch', 'v1beta1: a patch without patchType', mutating(webhook('h', beta)), { h: answer({ patch: Buffer.from(JSON.stringify([add('/data/x', 'y')])).toString('base64') }) }, [POST(CM, cm(), data)]),
  on('v1beta1-no-uid', 'v1beta1: the uid of the response is not looked at', [mutating(webhook('m', beta)), validating(webhook('v', beta))], { m: answer({ uid: '' }), v: answer({ uid: 'other', allowed: false, status: { message: 'no', code: 409, reason: 'Conflict' } }) }, [POST(CM, cm())]),
  on('v1beta1-denied-patch', 'v1beta1: a validating hook that answers with a patch', validating(webhook('h', beta)), { h: patch([add('/data/x', 'y')]) }, [POST(CM, cm(), data)]),
  on('v1beta1-answers-v1', 'v1beta1: an answer in v1', validating(webhook('h', beta)), { h: (r) => ({ ...allow(r), apiVersion: 'admission.k8s.io/v1' }) }, [POST(CM, cm())]),
];

const scaled = PUT(`${DEPLOYMENTS}/d/scale`, { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', namespace: '$ns' }, spec: { replicas: 3 } }, only('spec'));
const scales = { rules: [rule('deployments/scale', { groups: ['apps'] })] };
const statuses = { rules: [rule('deployments/status', { groups: ['apps'] })] };
const subresources = [
  on('scale-patched', 'a mutating hook changes the replicas of a Scale', [mutating(webhook('m', scales)), validating(webhook('v', scales))], { m: patch([add('/spec/replicas', 7)]), v: allow }, [POST(DEPLOYMENTS, deployment(), quiet), scaled, GET(`${DEPLOYMENTS}/d`, only('spec.replicas')), brief('v', 1, 'object.spec', 'oldObject.spec', 'object.metadata.managedFields')]),
  on('scale-patched-metadata', 'metadata that it sets on a Scale goes nowhere', mutating(webhook('h', scales)), { h: patch([add('/metadata/labels', { l: 'x' }), add('/status/replicas', 9)]) }, [POST(DEPLOYMENTS, deployment(), quiet), scaled, GET(`${DEPLOYMENTS}/d`, only('metadata.labels', 'status'))]),
  on('scale-patched-invalid', 'replicas below zero are refused', mutating(webhook('h', scales)), { h: patch([add('/spec/replicas', -1)]) }, [POST(DEPLOYMENTS, deployment(), quiet), scaled]),
  on('status-patched', 'of what a mutating hook does to a status update the status alone stays', mutating(webhook('h', statuses)), { h: patch([add('/spec/replicas', 7), add('/status/replicas', 5), add('/metadata/labels', { l: 'x' })]) }, [POST(DEPLOYMENTS, deployment(), quiet), PATCH(`${DEPLOYMENTS}/d/status`, 'merge', { status: { observedGeneration: 1 } }, only('spec.replicas', 'status', 'metadata.labels'))]),
  on('collection-warnings', 'the warnings of a deleted collection come once', validating(webhook('h', { rules: [rule('configmaps', { operations: ['DELETE'] })] })), { h: answer({ warnings: ['going'] }) }, [POST(CM, cm('a', {}, labels('x')), quiet), POST(CM, cm('b', {}, labels('x')), quiet), DELETE(CM, undefined, { query: { labelSelector: 'l=x' }, ...warned, compare: 'status' }), called('h', 2)]),
];

const condition = (expression, name = 'c') => ({ name, expression });
const conditions = (id, about, list, policy, calls, type = validating) => on(`condition-${id}`, about, type(webhook('h', { failurePolicy: policy, matchConditions: list })), { h: allow }, [POST(CM, cm()), called('h', calls)]);
const failing = condition("object.data.nope == 'x'");
const failingToo = condition('oldObject.data.a == 1', 'd');
const conditional = [
  conditions('fails', 'a condition that fails, with Fail', [failing], 'Fail', 0),
  conditions('fails-ignored', 'a condition that fails, with Ignore: the hook is not asked', [failing], 'Ignore', 0),
  conditions('fails-twice', 'two that fail', [failing, failingToo], 'Fail', 0),
  conditions('fails-and-false', 'one that fails, then one that is false', [failing, condition('false', 'f')], 'Fail', 0),
  conditions('fails-mutating', 'of a mutating hook', [failing, condition('true', 't')], 'Fail', 0, mutating),
  conditions('fails-mutating-ignored', 'of a mutating hook that is ignored', [failing], 'Ignore', 0, mutating),
  conditions('costly', 'one that costs too much', [condition("[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a + b + c + d + e + f > 0))))))", 'y')], 'Fail', 0),
];

const effects = ['None', 'NoneOnDryRun'].map((sideEffects) => on(`dry-run-${sideEffects === 'None' ? 'none' : 'none-on-dry-run'}`, `a dry run with sideEffects ${sideEffects}: mutating and validating hooks are asked`, [mutating(webhook('m', { sideEffects })), validating(webhook('v', { sideEffects }))], { m: patch([add('/data/m', 'x')]), v: allow }, [POST(CM, cm(), { ...dry, ...data }), brief('m', 1, 'dryRun', 'options'), brief('v', 1, 'dryRun', 'options', 'object.data'), GET(`${CM}/c`, quiet)]));

// --- audit annotations ---

/** Hooks are numbered among all mutating, or all validating ones of the server: the numbers of other scenarios are left out. */
const renumbered = (events) => {
  const numbered = /((?:validating\.)?webhook\.admission\.k8s\.io\/round_\d+_index_)(\d+)/g;
  const isValidating = (start) => start.startsWith('validating');
  const text = JSON.stringify(events);
  const found = [...text.matchAll(numbered)].map(([, start, n]) => [isValidating(start), Number(n)]);
  const used = (type) => [...new Set(found.flatMap(([own, n]) => (own === type ? n : [])))].sort((a, b) => a - b);
  return JSON.parse(text.replaceAll(numbered, (_, start, n) => `${start}${used(isValidating(start)).indexOf(Number(n))}`));
};
const sender = (level) => ({ as: { cert: { cn: '$ns-u', o: [level, '$ns-all'] } } });
const audited = (id, about, configurations, hooks, level = 'audit-request', [path, object] = [CM, cm()]) => {
  const list = [configurations].flat();
  const steps = [...grantAll, ...list.map((c) => POST(pathOf(c), c, quiet)), SLEEP(3000), AUDITED(2 * (2 + list.length), quiet), POST(path, object, { ...quiet, ...sender(level) }), AUDITED(2, { pick: renumbered })];
  return scenario(`admission-hooks-audit-${id}`, { section: '12', about, needs: 'audit', hooks, cleanup: list.map((c) => `${pathOf(c)}/${c.metadata.name}`) }, steps);
};
const dead = (key, o = {}) => webhook(key, { clientConfig: { url: 'https://127.0.0.1:1/' }, failurePolicy: 'Ignore', ...o });
const raw = (text) => answer({ patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') });
const onDeployments = { rules: [rule('deployments', { groups: ['apps'] })] };
const annotations = [
  audited('patches-spaced', 'a patch with whitespace, members in another order, twice and unknown, and characters that are escaped', mutating([webhook('a'), webhook('b')]), { a: raw('[ { "value": { "z": "1",  "a": "<&>" }, "path": "/metadata/annotations", "op": "add" } ]'), b: raw('[{"path":"/data/b","note" : [1.50, 1e3],"op":"add","value":"1","value": "2"}]') }),
  audited('patches-default', 'a patch that removes what is defaulted again: the object is the same, and the annotation says mutated', mutating(webhook('a', onDeployments)), { a: raw('[{"op":"remove","path":"/spec/replicas"}]') }, 'audit-request', [DEPLOYMENTS, deployment()]),
  audited('patches-default-reinvoked', 'it makes a second round', mutating([webhook('a', { ...onDeployments, reinvocationPolicy: 'IfNeeded' }), webhook('b', onDeployments)]), { a: allow, b: raw('[{"op":"remove","path":"/spec/replicas"}]') }, 'audit-request', [DEPLOYMENTS, deployment()]),
  audited('patches', 'mutating hooks and their patches', mutating([webhook('a'), webhook('b'), webhook('c', { reinvocationPolicy: 'IfNeeded' })]), { a: patch([add('/data/a', '2')]), b: allow, c: patch((r) => [add('/data/c', `${r.object.data.a}c`)]) }),
  audited('patches-metadata', 'at level Metadata the patches are not recorded', mutating([webhook('a'), webhook('b')]), { a: patch([add('/data/a', '2')]), b: patch([add('/data/a', '2')]) }, 'audit-metadata'),
  audited('given', 'what hooks say themselves', [mutating(webhook('m')), validating(webhook('v'))], { m: answer({ auditAnnotations: { k: 'v', 'with/slash': 'x' } }), v: answer({ auditAnnotations: { k: '', other: 'y' } }) }, 'audit-metadata'),
  audited('failed-open', 'hooks that could not be asked', [mutating([webhook('a'), dead('m')]), validating([webhook('b'), dead('v')])], { a: allow, b: allow }, 'audit-metadata'),
  audited('denied', 'a refusal with annotations', validating(webhook('v')), { v: answer({ allowed: false, auditAnnotations: { why: 'because' }, status: { message: 'no', code: 403 } }) }, 'audit-metadata'),
  audited('reinvoked', 'both rounds', mutating([webhook('a', { reinvocationPolicy: 'IfNeeded' }), webhook('b')]), { a: patch((r) => [add('/data/a', `${r.object.data.a}a`)]), b: patch([add('/data/b', 'x')]) }),
];

export default [...selectors, ...versions, ...subresources, ...conditional, ...effects, ...annotations];
