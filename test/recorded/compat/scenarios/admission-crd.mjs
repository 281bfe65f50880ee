// Webhooks and policies on custom resources: schema, pruning, defaults and versions around them.
import { scenario, POST, PATCH, DELETE, APPLY } from '../steps.ts';
import { webhook, mutating, validating, rule, allow, deny, patch, add, install, installPolicies, policyCleanup, policy, binding, pathOf, brief, reviewed, called, quiet, only } from './kit/admission.mjs';
import { GROUP, CRDS, crd, at, widget, version, object, string, integer, anything, serve } from './kit/crd.mjs';

const spec = only('spec');
const widgets = (o = {}) => rule('widgets', { groups: [GROUP], ...o });
const definition = crd({ spec: object({ size: integer({ minimum: 0 }), host: string({ default: 'h' }) }), status: anything() });
/** A served definition, webhook configurations in force, then the steps. */
const on = (id, about, configurations, hooks, steps, d = definition) => {
  const list = [configurations].flat();
  return scenario(`admission-crd-${id}`, { section: '7', about, hooks, cleanup: [...list.map((c) => `${pathOf(c)}/${c.metadata.name}`), ...[...new Set(list.map(pathOf))].map((p) => `${p}/$ns-ready`), `${CRDS}/${d.metadata.name}`] }, [...serve(d), ...install(...list), ...steps]);
};
const mutate = (id, about, ops, steps, d, settings = {}) => on(id, about, mutating(webhook('h', { rules: [widgets()], ...settings })), { h: patch(ops) }, steps, d);
const post = (body = { spec: { size: 1 } }, o = spec, v = 'v1') => POST(at('', { v }), widget('w', body, { v }), o);

const basics = [
  on('review', 'the review of a custom resource: defaulted and pruned', [mutating(webhook('m', { rules: [widgets()] })), validating(webhook('v', { rules: [widgets()] }))], { m: allow, v: allow }, [post({ spec: { size: 1, extra: true }, other: 1 }), reviewed('m'), reviewed('v')]),
  on('review-update', 'the review of an update', validating(webhook('h', { rules: [widgets({ operations: ['UPDATE'] })] })), { h: allow }, [post(), PATCH(at('w'), 'merge', { spec: { size: 2 } }, spec), reviewed()]),
  on('review-delete', 'the review of a delete', validating(webhook('h', { rules: [widgets({ operations: ['DELETE'] })] })), { h: allow }, [post(), DELETE(at('w'), undefined, quiet), reviewed()]),
  on('denied', 'a refusal', validating(webhook('h', { rules: [widgets()] })), { h: deny({ message: 'no', code: 403, reason: 'Forbidden' }) }, [post()]),
  mutate('patched', 'a patch', [add('/spec/size', 7)], [post()]),
  mutate('pruned', 'unknown fields that the hook adds are pruned', [add('/spec/extra', 1), add('/other', { a: 1 })], [post(undefined, {})]),
  mutate('defaulted', 'defaults come again after the hook', [{ op: 'remove', path: '/spec/host' }], [post()]),
  mutate('defaulted-new', 'what the hook adds is defaulted', [add('/spec', {})], [post({}, only('spec'))]),
  mutate('invalid', 'what the hook makes invalid is refused', [add('/spec/size', -1)], [post()]),
  mutate('invalid-type', 'a value of the wrong type is refused by the schema', [add('/spec/size', 'big')], [post()]),
  mutate('metadata-type-mixed', 'a wrong type among labels and annotations', [add('/metadata/labels', { a: 1, b: 'x' }), add('/metadata/annotations', { a: true, b: 'x' })], [post(undefined, only('metadata.labels', 'metadata.annotations', 'spec'))]),
  mutate('metadata-type', 'a wrong type in metadata', [add('/metadata/labels', { a: 1 })], [post(undefined, only('metadata.labels', 'spec'))]),
  mutate('kind', 'a changed kind', [add('/kind', 'Gadget')], [post()]),
  mutate('version', 'a changed apiVersion', [add('/apiVersion', 'v1')], [post()]),
  mutate('unknown-metadata', 'unknown fields of metadata are dropped', [add('/metadata/odd', 'x')], [post(undefined, {})]),
  mutate('status', 'on the main resource the hook cannot set the status of a kind with status subresource', [add('/status', { phase: 'x' })], [post(undefined, only('spec', 'status'))], crd({ spec: anything(), status: anything(), subresources: { status: {} } })),
  mutate('status-none', 'without the subresource it can', [add('/status', { phase: 'x' })], [post(undefined, only('spec', 'status'))]),
  mutate('generation', 'a change of the spec by the hook raises the generation', [add('/spec/size', 9)], [post(undefined, only('metadata.generation')), PATCH(at('w'), 'merge', { metadata: { labels: { a: 'b' } } }, only('metadata.generation', 'spec.size'))], definition, { rules: [widgets({ operations: ['UPDATE'] })] }),
  mutate('apply', 'an apply: what the hook sets belongs to nobody', [add('/spec/size', 9)], [APPLY(at('w'), 'me', widget('w', { spec: { host: 'x' } })), APPLY(at('w'), 'me', widget('w', { spec: { host: 'y' } }))]),
  on('status-review', 'a status update', validating(webhook('h', { rules: [widgets({ operations: ['UPDATE'] }), rule('widgets/status', { groups: [GROUP] })] })), { h: allow }, [post(undefined, quiet), PATCH(at('w/status'), 'merge', { status: { phase: 'x' } }, quiet), brief('h', 1, 'subResource', 'kind', 'object.status', 'oldObject.status')], crd({ spec: anything(), status: anything(), subresources: { status: {} } })),
  on('scale-review', 'a scale update', validating(webhook('h', { rules: [rule('widgets/scale', { groups: [GROUP] })] })), { h: allow }, [post({ spec: { replicas: 1 } }, quiet), PATCH(at('w/scale'), 'merge', { spec: { replicas: 2 } }, quiet), reviewed()], crd({ spec: anything(), status: anything(), subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } })),
  on('cluster-scoped', 'a cluster-scoped custom resource, by its label', validating(webhook('h', { rules: [widgets()], namespaceSelector: {}, objectSelector: { matchLabels: { owner: '$ns' } } })), { h: allow }, [POST(at('', { cluster: true }), widget('$ns-w', {}, { metadata: { labels: { owner: '$ns' } } }), quiet), reviewed()], crd({ scope: 'Cluster', spec: anything() })),
];

const twoVersions = crd({ versions: [version('v1', { spec: anything() }), version('v2', { spec: anything({ description: 'second' }), storage: false })] });
const equivalent = [
  on('equivalent', 'a rule for v1 sees v2 requests as v1', validating(webhook('h', { rules: [widgets()] })), { h: allow }, [post({ spec: { a: 1 } }, quiet, 'v2'), brief('h', 1, 'kind', 'resource', 'requestKind', 'requestResource', 'object.apiVersion', 'object.spec')], twoVersions),
  on('exact', 'Exact: it does not', validating(webhook('h', { matchPolicy: 'Exact', rules: [widgets()] })), { h: allow }, [post({ spec: { a: 1 } }, quiet, 'v2'), called('h')], twoVersions),
  on('equivalent-mutating', 'a patch in the other version', mutating(webhook('h', { rules: [widgets()] })), { h: patch([add('/spec/b', 2)]) }, [post({ spec: { a: 1 } }, only('apiVersion', 'spec'), 'v2')], twoVersions),
  on('equivalent-update', 'both objects of an update are converted', validating(webhook('h', { rules: [widgets({ operations: ['UPDATE'] })] })), { h: allow }, [post({ spec: { a: 1 } }, quiet, 'v2'), PATCH(at('w', { v: 'v2' }), 'merge', { spec: { a: 2 } }, quiet), brief('h', 1, 'kind', 'requestKind', 'object.apiVersion', 'oldObject.apiVersion')], twoVersions),
];
const convert = (review) => {
  const { uid, desiredAPIVersion, objects } = review.request;
  const key = desiredAPIVersion.endsWith('/v2') ? 'addr' : 'host';
  return { apiVersion: review.apiVersion, kind: 'ConversionReview', response: { uid, result: { status: 'Success' }, convertedObjects: objects.map((o) => ({ ...o, apiVersion: desiredAPIVersion, spec: { [key]: o.spec.host ?? o.spec.addr } })) } };
};
const unable = (r) => (r.request.desiredAPIVersion.endsWith('/v2') ? { apiVersion: r.apiVersion, kind: 'ConversionReview', response: { uid: r.request.uid, result: { status: 'Failed', message: 'cannot' } } } : convert(r));
const converting = crd({ versions: [version('v1', { spec: anything() }), version('v2', { spec: anything({ description: 'second' }), storage: false })], conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: '${hook.convert}', caBundle: '${caBundle}' } } } });
const conversion = [
  on('conversion', 'with a conversion webhook the review holds the converted object', validating(webhook('h', { rules: [widgets()] })), { h: allow, convert }, [post({ spec: { addr: 'x' } }, quiet, 'v2'), brief('h', 1, 'kind', 'requestKind', 'object.apiVersion', 'object.spec')], converting),
  on('conversion-mutating', 'a patch of the converted object is converted back', mutating(webhook('h', { rules: [widgets()] })), { h: patch([add('/spec/host', 'hooked')]), convert }, [post({ spec: { addr: 'x' } }, only('apiVersion', 'spec'), 'v2')], converting),
  on('conversion-fails', 'a conversion that fails', validating(webhook('h', { rules: [widgets({ versions: ['v2'] })] })), { h: allow, convert: unable }, [post({ spec: { host: 'x' } }), called('h')], converting),
];

const guard = (id, about, objects, steps, d = definition, hooks = {}) => scenario(`admission-crd-policy-${id}`, { section: '7', about, hooks, cleanup: [...policyCleanup([objects].flat()), `${CRDS}/${d.metadata.name}`] }, [...serve(d), ...installPolicies(...[objects].flat()), ...steps]);
const onWidgets = (o) => [policy({ rules: [widgets()], ...o }), binding()];
const policies = [
  guard('denied', 'a policy on custom resources', onWidgets({ validations: 'object.spec.size < 5' }), [post({ spec: { size: 4 } }), POST(at(), widget('v', { spec: { size: 6 } }))]),
  guard('message', 'what an expression sees of a custom resource', onWidgets({ validations: [{ expression: 'false', messageExpression: "object.apiVersion + ' ' + object.kind + ' ' + string(object.spec.size) + ' ' + object.spec.host + ' ' + string(has(object.spec.extra))" }] }), [post({ spec: { size: 4, extra: 1 } })]),
  guard('missing-field', 'a field that is not there', onWidgets({ validations: "object.spec.nope == 'x'" }), [post()]),
  guard('equivalent', 'the object comes in the version of the rule', [policy({ rules: [widgets()], validations: [{ expression: 'false', messageExpression: "object.apiVersion + ' ' + request.kind.version + ' ' + request.requestKind.version" }] }), binding()], [post({ spec: { a: 1 } }, spec, 'v2')], twoVersions),
  guard('conversion-fails', 'a conversion that fails is a fault of the configuration', [policy({ rules: [widgets({ versions: ['v2'] })], validations: 'true' }), binding()], [post({ spec: { host: 'x' } })], converting, { convert: unable }),
  guard('conversion-fails-ignored', 'which the failurePolicy may ignore', [policy({ rules: [widgets({ versions: ['v2'] })], validations: 'false', failurePolicy: 'Ignore' }), binding()], [post({ spec: { host: 'x' } })], converting, { convert: unable }),
  guard('float', 'numbers of custom resources', onWidgets({ validations: [{ expression: 'false', messageExpression: "string(type(object.spec.i) == int) + ' ' + string(type(object.spec.f) == double) + ' ' + string(object.spec.i + 1)" }] }), [post({ spec: { i: 1, f: 1.5 } })], crd({ spec: anything() })),
];

export default [...basics, ...equivalent, ...conversion, ...policies];
