// Conversion webhooks: which calls are made, and what their failures look like. v1 has spec.host, v2 has spec.addr; v1 is stored.
import { GET, POST, PUT, PATCH, DELETE, APPLY, WATCH, WATCHED, HOOKED } from '../steps.ts';
import { GROUP, crd, at, widget, version, object, string, anything, withCrd, content } from './kit/crd.mjs';

const section = '9.1';
const v2 = (name) => at(name, { v: 'v2' });
const definition = (webhook = {}, versions = [version('v1', { spec: anything() }), version('v2', { spec: anything({ description: 'second' }), storage: false })]) =>
  crd({ versions, conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: '${hook.convert}', caBundle: '${caBundle}' }, ...webhook } } });

/** An honest converter; `change` may spoil each object, `spoil` the whole answer. */
const converter = ({ change = (o) => o, spoil = (a) => a } = {}) => (review) => {
  const { uid, desiredAPIVersion, objects } = review.request;
  const convertedObjects = objects.map((o) => {
    const { host, addr, ...spec } = o.spec ?? {};
    const key = desiredAPIVersion.endsWith('/v2') ? 'addr' : 'host';
    return change({ ...o, apiVersion: desiredAPIVersion, ...(o.spec ? { spec: { ...spec, ...(host ?? addr ? { [key]: host ?? addr } : {}) } } : {}) }, desiredAPIVersion);
  });
  return spoil({ apiVersion: review.apiVersion, kind: 'ConversionReview', response: { uid, convertedObjects, result: { status: 'Success' } } }, review);
};
const on = (id, about, hook, steps, d = definition()) => withCrd(`crd-conversion-${id}`, { section, about, hooks: { convert: hook } }, d, steps);
const parts = (b) => (b?.kind === 'Status' ? b : { apiVersion: b?.apiVersion, labels: b?.metadata?.labels, annotations: b?.metadata?.annotations, spec: b?.spec });
const made = (name = 'w', metadata = {}) => POST(at(), widget(name, { spec: { host: 'h', x: 1 } }, { metadata }), { id: name, compare: 'status' });
/** The server also converts for its caches, so a call may come more than once: each different call, once. */
const calls = (cs) => [...new Set(cs.map((c) => JSON.stringify({ ...c, body: { ...c.body, request: { ...c.body.request, uid: '<uid>' } } })))].sort().map((c) => JSON.parse(c));
const brief = (cs) => [...new Set(cs.map((c) => JSON.stringify([c.body.request.desiredAPIVersion, c.body.request.objects.map((o) => [o.apiVersion, o.metadata.name])])))].sort().map((c) => JSON.parse(c));

const good = [
  on('call', 'the review that a conversion sends, and its result', converter(), [made(), GET(v2('w')), HOOKED('convert', { calls: 1, pick: calls })]),
  on('no-call', 'the stored version is not converted', converter(), [made(), GET(at('w'), { pick: parts }), GET(at(), { pick: (b) => b.items.map(parts) })]),
  on('write', 'an object written in the other version is converted to be stored, and back for the answer', converter(), [POST(v2(), widget('w', { spec: { addr: 'a', y: 2 } }, { v: 'v2' }), { pick: parts }), GET(at('w'), { pick: parts }), GET(v2('w'), { pick: parts })]),
  on('update', 'an update in the other version', converter(), [made(), PATCH(v2('w'), 'merge', { spec: { addr: 'new' } }, { pick: parts }), GET(at('w'), { pick: parts }), PUT(v2('w'), widget('w', { spec: { addr: 'put' } }, { v: 'v2', metadata: { resourceVersion: '1' } }))]),
  on('list', 'a list in the other version', converter(), [made('a'), made('b'), GET(v2(), { query: { limit: '5' }, pick: (b) => b.items?.map(parts) ?? b })]),
  on('watch', 'a watch in the other version', converter(), [WATCH('ws', v2(), { query: { watch: 'true' } }), made('a'), PATCH(at('a'), 'merge', { spec: { host: 'g' } }, { compare: 'status' }), DELETE(at('a'), undefined, { compare: 'status' }), WATCHED('ws', { events: 3, pick: (es) => es.map((e) => [e.type, parts(e.object)]) })]),
  on('delete', 'deletion through the other version', converter(), [made(), DELETE(v2('w')), GET(at('w'), { compare: 'status' })]),
  on('apply', 'apply through the other version converts the managed fields', converter(), [made(), APPLY(v2('w'), 'me', widget('w', { spec: { addr: 'h' } }, { v: 'v2' }), { pick: (b) => [parts(b), b.metadata?.managedFields?.map((m) => [m.manager, m.apiVersion, m.fieldsV1]).sort()] })]),
  on('labels-annotations', 'a converter may change labels and annotations', converter({ change: (o, to) => ({ ...o, metadata: { ...o.metadata, labels: { to: to.split('/')[1] }, annotations: { was: 'converted' } } }) }), [made('w', { labels: { mine: 'x' } }), GET(v2('w'), { pick: parts }), GET(at('w'), { pick: parts })]),
  on('labels-removed', 'a converter may remove labels', converter({ change: (o) => { const { labels, ...metadata } = o.metadata; return { ...o, metadata }; } }), [made('w', { labels: { mine: 'x' } }), GET(v2('w'), { pick: parts })]),
  on('metadata-restored', 'other changes of metadata are undone', converter({ change: (o) => ({ ...o, metadata: { ...o.metadata, finalizers: ['a.b/c'], generation: 99, resourceVersion: '1', creationTimestamp: null, ownerReferences: [], odd: 1 } }) }), [made(), GET(v2('w'), { pick: (b) => b.metadata ?? b })]),
  on('pruned', 'what the converter adds is pruned by the schema of the version, and defaulted not', converter({ change: (o) => ({ ...o, spec: { ...o.spec, extra: 1 } }) }), [made(), GET(v2('w'), { pick: parts })], definition({}, [version('v1', { spec: anything() }), version('v2', { spec: object({ addr: string(), d: string({ default: 'dd' }) }), storage: false })])),
  on('not-validated', 'what the converter makes is not validated when read', converter({ change: (o) => ({ ...o, spec: { addr: 5 } }) }), [made(), GET(v2('w'), { pick: parts })], definition({}, [version('v1', { spec: anything() }), version('v2', { spec: object({ addr: string({ minLength: 3 }) }), storage: false })])),
  on('v1beta1', 'a converter that wants v1beta1 reviews', converter(), [made(), GET(v2('w'), { pick: parts }), HOOKED('convert', { calls: 1, pick: (cs) => [...new Set(cs.map((c) => c.body.apiVersion))] })], definition({ conversionReviewVersions: ['v1beta1', 'v1'] })),
  on('unknown-review-first', 'unknown review versions are skipped', converter(), [made(), GET(v2('w'), { pick: parts }), HOOKED('convert', { calls: 1, pick: (cs) => [...new Set(cs.map((c) => c.body.apiVersion))] })], definition({ conversionReviewVersions: ['v9', 'v1'] })),
  on('empty-spec', 'an object without spec is converted too', converter(), [POST(at(), widget('w'), { compare: 'status' }), GET(v2('w'), { pick: parts })]),
];

const spoiled = (id, about, hook) => on(`bad-${id}`, about, hook, [made(), GET(v2('w'))]);
const byChange = (id, about, change) => spoiled(id, about, converter({ change }));
const byAnswer = (id, about, spoil) => spoiled(id, about, converter({ spoil }));
const bad = [
  byChange('name', 'a changed name', (o) => ({ ...o, metadata: { ...o.metadata, name: 'other' } })),
  byChange('namespace', 'a changed namespace', (o) => ({ ...o, metadata: { ...o.metadata, namespace: 'other' } })),
  byChange('uid', 'a changed uid', (o) => ({ ...o, metadata: { ...o.metadata, uid: 'other' } })),
  byChange('kind', 'a changed kind', (o) => ({ ...o, kind: 'Gadget' })),
  byChange('group-version', 'another apiVersion than desired', (o) => ({ ...o, apiVersion: `${o.apiVersion}beta7` })),
  byChange('no-metadata', 'an object without metadata', ({ metadata, ...o }) => o),
  byChange('metadata-text', 'metadata that is no object', (o) => ({ ...o, metadata: 'x' })),
  byChange('labels-list', 'labels that are no map', (o) => ({ ...o, metadata: { ...o.metadata, labels: ['x'] } })),
  byChange('label-number', 'a label that is no string', (o) => ({ ...o, metadata: { ...o.metadata, labels: { x: 5 } } })),
  byChange('label-invalid', 'an invalid label', (o) => ({ ...o, metadata: { ...o.metadata, labels: { 'bad key!': 'x' } } })),
  byChange('annotation-invalid', 'an invalid annotation', (o) => ({ ...o, metadata: { ...o.metadata, annotations: { 'bad key!': 'x' } } })),
  byChange('not-an-object', 'an object that is text', () => 'text'),
  byChange('null-object', 'an object that is null', () => null),
  byChange('no-kind', 'an object without kind', ({ kind, ...o }) => o),
  byAnswer('too-few', 'too few objects', (a) => ({ ...a, response: { ...a.response, convertedObjects: [] } })),
  byAnswer('too-many', 'too many objects', (a) => ({ ...a, response: { ...a.response, convertedObjects: [...a.response.convertedObjects, ...a.response.convertedObjects] } })),
  byAnswer('failure', 'a failure with a message', (a) => ({ ...a, response: { uid: a.response.uid, result: { status: 'Failure', message: 'cannot do that' } } })),
  byAnswer('failure-silent', 'a failure without a message', (a) => ({ ...a, response: { uid: a.response.uid, result: { status: 'Failure' } } })),
  byAnswer('no-status', 'a result without status', (a) => ({ ...a, response: { ...a.response, result: {} } })),
  byAnswer('wrong-uid', 'the uid of another review', (a) => ({ ...a, response: { ...a.response, uid: 'other' } })),
  byAnswer('no-response', 'a review without response', ({ response, ...a }) => a),
  byAnswer('wrong-kind', 'an answer of another kind', (a) => ({ ...a, kind: 'Review' })),
  byAnswer('wrong-version', 'an answer in another version', (a) => ({ ...a, apiVersion: 'apiextensions.k8s.io/v1beta1' })),
  byAnswer('no-type', 'an answer without kind and apiVersion', ({ apiVersion, kind, ...a }) => a),
  spoiled('status-500', 'status 500 from the converter', () => ({ status: 500, raw: 'out of order' })),
  spoiled('status-404', 'status 404 from the converter', () => ({ status: 404, raw: 'nothing here' })),
  spoiled('not-json', 'an answer that is no JSON', () => ({ raw: '<html>' })),
  spoiled('empty', 'an empty answer', () => ({ raw: '' })),
  spoiled('text-plain', 'an answer that is plain text', () => ({ raw: 'hello', headers: { 'content-type': 'text/plain' } })),
  on('bad-write', 'a failing converter when writing', converter({ spoil: (a) => ({ ...a, response: { uid: a.response.uid, result: { status: 'Failure', message: 'cannot do that' } } }) }), [POST(v2(), widget('w', { spec: { addr: 'a' } }, { v: 'v2' })), GET(at('w'), { compare: 'status' })]),
  on('bad-untrusted', 'a converter with a certificate of an unknown authority', converter(), [made(), GET(v2('w'), { pick: (b) => ({ ...b, message: b.message?.replace(/Post "[^"]*"/, 'Post <url>') }) })], definition({ clientConfig: { url: '${hook.convert}' } })),
];

/** Who owns what, when some know the object in one version and some in the other. */
const owners = (b) => (b?.kind === 'Status' ? b : [parts(b), b.metadata?.managedFields?.map((m) => [m.manager, m.operation, m.apiVersion, m.fieldsV1]).sort()]);
const applied = (spec, v = 'v1') => widget('w', { spec }, { v });
const owned = [
  on('owners-conflict', 'an apply in one version conflicts with an owner in the other', converter(), [made(), APPLY(v2('w'), 'me', applied({ addr: 'h' }, 'v2'), { compare: 'status' }), APPLY(at('w'), 'you', applied({ host: 'g' }), { pick: (b) => [b.message, b.details?.causes?.map((c) => c.field).sort()] }), APPLY(at('w'), 'you', applied({ host: 'g' }), { force: true, pick: owners })]),
  on('owners-update', 'an update in one version takes fields from an owner in the other', converter(), [APPLY(v2('w'), 'me', applied({ addr: 'h', y: 1 }, 'v2'), { compare: 'status' }), PATCH(at('w'), 'merge', { spec: { x: 2 } }, { query: { fieldManager: 'u' }, pick: owners }), PATCH(at('w'), 'merge', { spec: { host: 'g' } }, { query: { fieldManager: 'u' }, pick: owners })]),
  on('owners-failing', 'owners in a version that an object cannot be converted to', converter({ spoil: (a) => (a.response.convertedObjects.some((o) => o.spec?.addr === 'bad') ? { ...a, response: { uid: a.response.uid, result: { status: 'Failure', message: 'cannot do that' } } } : a) }), [APPLY(v2('w'), 'me', applied({ addr: 'h' }, 'v2'), { compare: 'status' }), APPLY(at('w'), 'you', applied({ host: 'bad' }), { force: true }), PATCH(at('w'), 'merge', { spec: { host: 'bad' } }, { query: { fieldManager: 'u' }, pick: owners })]),
];

/** Statuses other than 200: what the object's reader is told, by what came with them. */
const text = { 'content-type': 'text/plain; charset=utf-8' };
const status = (code, more = {}) => ({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'own words', reason: 'Invalid', code, ...more });
const refused = [400, 401, 403, 405, 406, 409, 415, 418, 422, 429, 500, 502, 503, 504].flatMap((code) => [
  spoiled(`status-${code}-text`, `status ${code} with a text`, () => ({ status: code, raw: '  out of order\n', headers: text })),
  spoiled(`status-${code}-empty`, `status ${code} with nothing`, () => ({ status: code, raw: '', headers: text })),
]);
const refusedOtherwise = [
  spoiled('status-403-json', 'status 403 with JSON that is no Status', () => ({ status: 403, body: { any: 'thing' } })),
  spoiled('status-415-json', 'status 415 with JSON that is no Status', () => ({ status: 415, body: { any: 'thing' } })),
  spoiled('status-503-json', 'status 503 with JSON that is no Status', () => ({ status: 503, body: { any: 'thing' } })),
  spoiled('status-422-status', 'status 422 with a Status', () => ({ status: 422, body: status(422) })),
  spoiled('status-500-status', 'status 500 with a Status', () => ({ status: 500, body: status(500, { reason: 'InternalError' }) })),
  spoiled('status-500-status-silent', 'status 500 with a Status without a message', () => ({ status: 500, body: status(500, { message: undefined, reason: 'InternalError' }) })),
  spoiled('status-422-status-text', 'status 422 with a Status that says it is text', () => ({ status: 422, raw: JSON.stringify(status(422)), headers: text })),
  spoiled('status-422-success', 'status 422 with a Status of success', () => ({ status: 422, body: status(422, { status: 'Success' }) })),
  spoiled('status-422-review', 'status 422 with a review', (review) => ({ status: 422, body: converter()(review) })),
  spoiled('status-200-status', 'status 200 with a Status of failure', () => ({ status: 200, body: status(422) })),
  spoiled('status-201-review', 'status 201 with a review', (review) => ({ status: 201, body: converter()(review) })),
  on('bad-status-500-long', 'a long text with status 500 is cut', () => ({ status: 500, raw: 'x'.repeat(3000), headers: text }), [made(), GET(v2('w'), { pick: (b) => b.message?.length })]),
];

/** The answer to a write is what was stored, read again: in the other version it has been converted there and back. */
const marking = converter({ change: (o, to) => ({ ...o, metadata: { ...o.metadata, labels: { ...o.metadata.labels, from: o.metadata.labels?.to ?? 'client', to: to.split('/')[1] } } }) });
const asked = { pick: parts };
const dry = { query: { dryRun: 'All' }, pick: parts };
const defaulting = [
  version('v1', { spec: object({ host: string(), x: string(), d: string({ default: 'one' }) }), status: anything(), subresources: { status: {} } }),
  version('v2', { spec: object({ addr: string(), x: string(), d: string(), e: string({ default: 'two' }) }), status: anything(), storage: false, subresources: { status: {} } }),
];
const scaled = ['v1', 'v2'].map((v) => version(v, { spec: anything({ description: v }), status: anything(), storage: v === 'v1', subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } } }));
const failing = (to) => converter({ spoil: (a, review) => (review.request.desiredAPIVersion.endsWith(`/${to}`) ? { ...a, response: { uid: a.response.uid, result: { status: 'Failure', message: 'cannot do that' } } } : a) });
const other = (spec, metadata) => widget('w', { spec }, { v: 'v2', metadata });
const answered = [
  on('answer-create', 'the answer to a create has been converted both ways', marking, [POST(v2(), other({ addr: 'a' }), asked), GET(v2('w'), asked), GET(at('w'), asked)]),
  on('answer-create-dry', 'the answer to a dry run of a create has been converted both ways', marking, [POST(v2(), other({ addr: 'a' }), dry), GET(at('w'), { compare: 'status' })]),
  on('answer-update', 'the answer to an update has been converted both ways', marking, [made(), PUT(v2('w'), other({ addr: 'a' }, { resourceVersion: '${w.metadata.resourceVersion}' }), asked), PATCH(v2('w'), 'merge', { spec: { y: 1 } }, asked), PATCH(v2('w'), 'json-patch', [{ op: 'add', path: '/spec/z', value: 1 }], asked), GET(at('w'), asked)]),
  on('answer-update-dry', 'the answer to a dry run of an update has been converted both ways', marking, [made(), PATCH(v2('w'), 'merge', { spec: { y: 1 } }, dry), GET(at('w'), asked)]),
  on('answer-apply', 'the answer to an apply has been converted both ways', marking, [APPLY(v2('w'), 'me', other({ addr: 'a' }), asked), APPLY(v2('w'), 'me', other({ addr: 'b' }), asked), APPLY(v2('w'), 'me', other({ addr: 'c' }), dry), GET(at('w'), asked)]),
  on('answer-same-version', 'the stored version is answered as it was written', marking, [POST(at(), widget('w', { spec: { host: 'h' } }), asked), PATCH(at('w'), 'merge', { spec: { x: 1 } }, asked)]),
  on('answer-defaults', 'the answer has the defaults of the version asked for and of the stored one', converter(), [POST(v2(), other({ addr: 'a' }), asked), GET(v2('w'), asked), GET(at('w'), asked), PATCH(v2('w'), 'merge', { spec: { d: null, e: null } }, asked), PATCH(v2('w'), 'merge', { spec: { x: 'x' } }, dry), POST(v2(), { ...other({ addr: 'a' }), metadata: { name: 'v' } }, dry)], definition({}, defaulting)),
  on('answer-status', 'the answer to a write of the status has been converted both ways', marking, [made(), PATCH(v2('w/status'), 'merge', { status: { s: 1 } }, { pick: (b) => [parts(b), b.status] }), GET(v2('w/status'), { pick: (b) => [parts(b), b.status] })], definition({}, scaled)),
  on('answer-scale', 'scale through the other version', marking, [made(), PATCH(v2('w/scale'), 'merge', { spec: { replicas: 3 } }, { pick: (b) => [b.apiVersion, b.spec, b.status, b.metadata?.labels] }), GET(v2('w/scale'), { pick: (b) => [b.apiVersion, b.spec, b.status] }), GET(at('w'), asked)], definition({}, scaled)),
  on('answer-finalizer', 'deletion of an object with a finalizer, and the last finalizer removed, in the other version', marking, [made('w', { finalizers: ['a.b/c'] }), DELETE(v2('w'), undefined, asked), PATCH(v2('w'), 'merge', { metadata: { finalizers: null } }, asked), GET(at('w'), { compare: 'status' })]),
  on('answer-unchanged', 'an update that changes nothing in the other version', marking, [made('w', { labels: { to: 'v1', from: 'v2' } }), GET(v2('w'), { id: 'read', ...asked }), PATCH(v2('w'), 'merge', {}, asked), GET(at('w'), asked)]),
  on('answer-failing-back', 'an object that was stored and cannot be converted back for the answer', failing('v2'), [POST(v2(), other({ addr: 'a' })), GET(at('w'), asked), PATCH(at('w'), 'merge', { spec: { x: 1 } }, asked)]),
  on('answer-failing-there', 'an object that cannot be converted to be stored', failing('v1'), [POST(v2(), other({ addr: 'a' })), POST(v2(), other({ addr: 'a' }), { query: { dryRun: 'All' } }), GET(at('w'), { compare: 'status' }), made(), GET(v2('w'), asked), PATCH(v2('w'), 'merge', { spec: { y: 1 } })]),
];

export default [...good, ...bad, ...refused, ...refusedOtherwise, ...answered, ...owned];
