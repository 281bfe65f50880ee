// Equivalent across three versions of a custom resource: which version a webhook sees, and what becomes of its patch.
import { scenario, POST, PATCH, DELETE, APPLY, GET } from '../steps.ts';
import { webhook, mutating, validating, rule, allow, patch, add, install, pathOf, brief, called, quiet, only } from './kit/admission.mjs';
import { GROUP, CRDS, crd, at, widget, version, anything, serve } from './kit/crd.mjs';

const names = ['v1', 'v2', 'v3'];
const extras = { status: anything(), subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } };
const versions = names.map((name) => version(name, { spec: anything({ description: name }), storage: name === 'v1', ...extras }));
const plain = crd({ versions });
/** The field of the spec is named after the version that it is written in, and each conversion leaves a trace. */
const convert = (review) => {
  const { uid, desiredAPIVersion, objects } = review.request;
  const to = desiredAPIVersion.split('/')[1];
  const converted = objects.map((o) => {
    const from = o.apiVersion.split('/')[1];
    const { [`in-${from}`]: value = null, ...rest } = o.spec;
    return { ...o, apiVersion: desiredAPIVersion, spec: { ...rest, [`in-${to}`]: value } };
  });
  return { apiVersion: review.apiVersion, kind: 'ConversionReview', response: { uid, result: { status: 'Success' }, convertedObjects: converted } };
};
const converting = crd({ versions, conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: '${hook.convert}', caBundle: '${caBundle}' } } } });

const on = (id, about, configurations, hooks, steps, definition = plain) => {
  const list = [configurations].flat();
  const all = definition === converting ? { ...hooks, convert } : hooks;
  const cleanup = [...list.map((c) => `${pathOf(c)}/${c.metadata.name}`), ...[...new Set(list.map(pathOf))].map((p) => `${p}/$ns-ready`), `${CRDS}/${definition.metadata.name}`];
  return scenario(`admission-hooks-equivalent-${id}`, { section: '7', about, hooks: all, cleanup }, [...serve(definition), ...install(...list), ...steps]);
};
const widgets = (asked, o = {}, resource = 'widgets') => rule(resource, { groups: [GROUP], versions: asked, ...o });
const post = (v, spec = { a: 1 }, o = quiet) => POST(at('', { v }), widget('w', { spec }, { v }), o);
const shown = (name, calls = 1) => brief(name, calls, 'kind', 'resource', 'subResource', 'requestKind', 'requestResource', 'object.apiVersion', 'object.spec', 'object.metadata.managedFields.0.apiVersion', 'oldObject.apiVersion', 'oldObject.spec');
const one = (asked, o, resource) => validating(webhook('h', { rules: [widgets(asked, o, resource)] }));

const choice = [['v1', ['v3']], ['v2', ['v1']], ['v3', ['v2']], ['v1', ['v3', 'v2']], ['v2', ['v3', 'v1']], ['v3', ['*']], ['v2', ['v9']]].map(([v, asked]) =>
  on(`${v}-as-${asked.map((x) => x.replace('*', 'any')).join('-or-')}`, `a request in ${v} for a rule of ${asked.join(', ')}`, one(asked), { h: allow }, [post(v), ...(asked[0] === 'v9' ? [called('h')] : [shown('h')])]));
const rulesInTurn = [
  on('exact-rule-later', 'the version of the request is tried with all rules before others are', validating(webhook('h', { rules: [widgets(['v1']), widgets(['v3'])] })), { h: allow }, [post('v3'), shown('h')]),
  on('other-rule-first', 'the first rule that has an equivalent version decides', validating(webhook('h', { rules: [widgets(['v3']), widgets(['v1'])] })), { h: allow }, [post('v2'), shown('h')]),
  on('exact', 'Exact: other versions are not seen', validating(webhook('h', { matchPolicy: 'Exact', rules: [widgets(['v2'])] })), { h: allow }, [post('v3'), called('h')]),
];
const operations = [
  on('update', 'an update: both objects', one(['v2'], { operations: ['UPDATE'] }), { h: allow }, [post('v1'), PATCH(at('w', { v: 'v3' }), 'merge', { spec: { a: 2 } }, quiet), shown('h')]),
  on('delete', 'a delete: the old object', one(['v2'], { operations: ['DELETE'] }), { h: allow }, [post('v1'), DELETE(at('w', { v: 'v3' }), undefined, quiet), shown('h')]),
  on('delete-collection', 'a delete of a collection', one(['v2'], { operations: ['DELETE'] }), { h: allow }, [post('v1'), DELETE(at('', { v: 'v3' }), undefined, quiet), shown('h')]),
  on('status', 'the status', one(['v1'], {}, 'widgets/status'), { h: allow }, [post('v1'), PATCH(at('w/status', { v: 'v3' }), 'merge', { status: { x: 1 } }, quiet), shown('h')]),
  on('scale', 'the scale, which is the same in all versions', one(['v1'], {}, 'widgets/scale'), { h: allow }, [post('v1', { replicas: 1 }), PATCH(at('w/scale', { v: 'v3' }), 'merge', { spec: { replicas: 2 } }, quiet), shown('h')]),
  on('apply', 'an apply in another version', one(['v2']), { h: allow }, [APPLY(at('w', { v: 'v3' }), 'me', widget('w', { spec: { a: 1 } }, { v: 'v3' }), quiet), shown('h')]),
];
const patches = [
  on('two-mutators', 'each of two mutators patches in its own version', mutating([webhook('a', { rules: [widgets(['v2'])] }), webhook('b', { rules: [widgets(['v3'])] })]), { a: patch([add('/spec/a', 'seen')]), b: patch((r) => [add('/spec/b', `${r.object.apiVersion.split('/')[1]} ${r.object.spec.a}`)]) }, [post('v1', {}, only('apiVersion', 'spec')), shown('a'), shown('b')]),
  on('reinvoked', 'a mutator in another version is called again', mutating([webhook('a', { reinvocationPolicy: 'IfNeeded', rules: [widgets(['v2'])] }), webhook('b', { rules: [widgets(['v3'])] })]), { a: patch((r) => [add('/spec/a', (r.object.spec.a ?? 0) + 1)]), b: patch([add('/spec/b', 1)]) }, [post('v1', {}, only('apiVersion', 'spec')), called('a', 2), called('b', 1)]),
];
const conversion = [
  on('converted', 'a webhook converts: the review has the converted object', one(['v2']), { h: allow }, [post('v3', { 'in-v3': 'x' }), shown('h')], converting),
  on('converted-mutating', 'the patch of a converted object is converted back', mutating(webhook('h', { rules: [widgets(['v2'])] })), { h: patch((r) => [add('/spec/in-v2', `${r.object.spec['in-v2']} hooked`)]) }, [post('v3', { 'in-v3': 'x' }, only('apiVersion', 'spec')), GET(at('w', { v: 'v1' }), only('apiVersion', 'spec'))], converting),
  on('converted-chain', 'three mutators, each in a version of its own', mutating(names.map((v, i) => webhook('abc'[i], { rules: [widgets([v])] }))), Object.fromEntries(names.map((v, i) => ['abc'[i], patch((r) => [add(`/spec/in-${v}`, `${r.object.spec[`in-${v}`]}${i}`)])])), [post('v2', { 'in-v2': 'x' }, only('apiVersion', 'spec')), shown('a'), shown('b'), shown('c')], converting),
  on('converted-update', 'an update: both objects are converted', one(['v2'], { operations: ['UPDATE'] }), { h: allow }, [post('v1', { 'in-v1': 'x' }), PATCH(at('w', { v: 'v3' }), 'merge', { spec: { 'in-v3': 'y' } }, quiet), shown('h')], converting),
  on('converted-delete', 'a delete: the old object is converted', one(['v2'], { operations: ['DELETE'] }), { h: allow }, [post('v1', { 'in-v1': 'x' }), DELETE(at('w', { v: 'v3' }), undefined, quiet), shown('h')], converting),
];

export default [...choice, ...rulesInTurn, ...operations, ...patches, ...conversion];
