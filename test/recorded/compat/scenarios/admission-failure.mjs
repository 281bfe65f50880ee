// What becomes of a request when a webhook refuses, fails, is late or answers nonsense; for mutating and validating ones alike.
import { GET, POST, PUT, PATCH, DELETE, SLEEP } from '../steps.ts';
import { CM, PODS, cm, pod, webhook, mutating, validating, rule, answer, allow, deny, patch, add, hooked, brief, called, quiet, dry, warned, data } from './kit/admission.mjs';

const kinds = { mutating, validating };
/** The same for a mutating and a validating hook. */
const each = (id, about, hook, steps = [POST(CM, cm())], { settings = {}, only = ['mutating', 'validating'], ...o } = {}) =>
  only.map((kind) => hooked(`${kind}-${id}`, `${about} (${kind})`, kinds[kind](webhook('h', settings)), { hooks: { h: hook }, ...o }, steps));

// --- refusals ---
const refusals = [
  ['plain', 'no status', undefined],
  ['message', 'a message', { message: 'because' }],
  ['reason', 'a reason without a message', { reason: 'Forbidden' }],
  ['message-and-reason', 'both', { message: 'because', reason: 'Forbidden' }],
  ['code', 'a code', { code: 409, message: 'because' }],
  ['code-and-reason', 'a code and a reason that do not fit', { code: 404, reason: 'Conflict', message: 'because' }],
  ['code-low', 'a code below 400', { code: 200, message: 'because' }],
  ['code-odd', 'a code that HTTP does not know', { code: 499, message: 'because' }],
  ['code-500', 'a code of the server', { code: 503, message: 'because', reason: 'ServiceUnavailable' }],
  ['code-teapot', 'another code', { code: 418, message: 'because' }],
  ['status-success', 'a status that says Success', { status: 'Success', message: 'because' }],
  ['details', 'details and causes', { code: 422, reason: 'Invalid', message: 'because', details: { name: 'n', group: 'g', kind: 'k', uid: 'u', causes: [{ reason: 'FieldValueInvalid', message: 'm', field: 'data.a' }] } }],
  ['retry-after', 'details.retryAfterSeconds', { code: 429, reason: 'TooManyRequests', message: 'because', details: { retryAfterSeconds: 3 } }],
  ['metadata', 'metadata of the status', { metadata: { resourceVersion: '7', remainingItemCount: 3 }, message: 'because' }],
  ['message-lines', 'a message of several lines', { message: ' first\nsecond "quoted"\t' }],
  ['message-unicode', 'a message beyond ASCII', { message: 'nö ✓' }],
].flatMap(([id, about, status]) => each(`denied-${id}`, `a refusal: ${about}`, deny(status), [POST(CM, cm(), { compareHeaders: ['retry-after', 'content-type'] })], { only: id === 'plain' || id === 'details' ? undefined : ['validating'] }));

const refusedOperations = [
  ...each('denied-not-stored', 'what was refused is not stored', deny({ message: 'no' }), [POST(CM, cm(), quiet), GET(`${CM}/c`, quiet)]),
  ...each('denied-update', 'a refused update', deny({ message: 'no', code: 403, reason: 'Forbidden' }), [POST(CM, cm(), quiet), PUT(`${CM}/c`, cm('c', { a: '2' })), PATCH(`${CM}/c`, 'merge', { data: { a: '3' } }), GET(`${CM}/c`, data)], { settings: { rules: [rule('configmaps', { operations: ['UPDATE'] })] } }),
  ...each('denied-delete', 'a refused delete', deny({ message: 'no', code: 403, reason: 'Forbidden' }), [POST(CM, cm(), quiet), DELETE(`${CM}/c`), GET(`${CM}/c`, quiet)], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  ...each('denied-collection', 'one object that may not be deleted ends the delete of the collection', answer((r) => (r.oldObject.metadata.name === 'b' ? { allowed: false, status: { message: 'no', code: 403 } } : {})), [...['a', 'b', 'c'].map((n) => POST(CM, cm(n, {}, { labels: { x: 'y' } }), quiet)), DELETE(CM, undefined, { query: { labelSelector: 'x' } }), GET(CM, { query: { labelSelector: 'x' }, pick: (b) => b.items.map((i) => i.metadata.name) })], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  ...each('denied-dry-run', 'a refused dry run', deny({ message: 'no' }), [POST(CM, cm(), dry)]),
  ...each('denied-connect', 'a refused exec', deny({ message: 'no', code: 403 }), [POST(PODS, pod(), quiet), POST(`${PODS}/p/exec?command=a`)], { settings: { rules: [rule('pods/exec', { operations: ['CONNECT'] })] } }),
  ...each('denied-eviction', 'a refused eviction', deny({ message: 'no', code: 403 }), [POST(PODS, pod(), quiet), POST(`${PODS}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }), GET(`${PODS}/p`, quiet)], { settings: { rules: [rule('pods/eviction')] } }),
];

// --- warnings and audit annotations ---
const warnings = [
  ['one', ['careful']],
  ['several', ['one', 'two', 'two']],
  ['quotes', ['say "hi" \\ there', 'comma, semicolon; end']],
  ['lines', ['first\nsecond', 'tab\there', 'bell\u0007']],
  ['unicode', ['grün ✓']],
  ['empty', ['', ' ', 'x']],
  ['blanks', ['  padded  ']],
  ['long', ['x'.repeat(300)]],
  ['very-long', ['x'.repeat(5000), 'after']],
  ['many', Array.from({ length: 60 }, (_, i) => `${i} ${'y'.repeat(200)}`)],
].flatMap(([id, list]) => each(`warnings-${id}`, `warnings: ${id}`, answer({ warnings: list }), [POST(CM, cm(), { ...quiet, ...warned })], { only: id === 'one' ? undefined : ['validating'] }));
const moreWarnings = [
  ...each('warnings-denied', 'warnings of a refusal', answer({ allowed: false, warnings: ['careful'], status: { message: 'no' } }), [POST(CM, cm(), warned)]),
  ...each('warnings-delete', 'warnings of a delete', answer({ warnings: ['careful'] }), [POST(CM, cm(), quiet), DELETE(`${CM}/c`, undefined, { ...quiet, ...warned })], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  ...each('warnings-collection', 'the same warning of several objects comes once', answer((r) => ({ warnings: ['careful', r.oldObject.metadata.name] })), [POST(CM, cm('a', {}, { labels: { x: 'y' } }), quiet), POST(CM, cm('b', {}, { labels: { x: 'y' } }), quiet), DELETE(CM, undefined, { query: { labelSelector: 'x' }, ...quiet, ...warned })], { settings: { rules: [rule('configmaps', { operations: ['DELETE'] })] } }),
  hooked('validating-warnings-of-both', 'a warning of two hooks comes once', [mutating(webhook('m')), validating(webhook('v'))], { hooks: { m: answer({ warnings: ['same', 'm'] }), v: answer({ warnings: ['same', 'v'] }) } }, [POST(CM, cm(), { ...quiet, ...warned })]),
  hooked('mutating-warnings-with-unknown-field', 'warnings of hooks come after those of the server', mutating(webhook()), { hooks: { h: answer({ warnings: ['hook'] }) } }, [POST(CM, { ...cm(), extra: 1 }, { ...quiet, ...warned })]),
  ...each('allowed-with-status', 'a status beside allowed: true does not matter', answer({ status: { code: 403, message: 'no', reason: 'Forbidden' } }), [POST(CM, cm(), { ...data, ...warned })]),
  ...each('audit-annotations', 'audit annotations do not show in the answer', answer({ auditAnnotations: { key: 'value' } }), [POST(CM, cm(), warned)]),
];

// --- answers that make no sense ---
const shape = (o) => (review) => ({ apiVersion: review.apiVersion, kind: 'AdmissionReview', ...o(review) });
const nonsense = [
  ['no-response', 'an answer without response', shape(() => ({}))],
  ['null-response', 'response: null', shape(() => ({ response: null }))],
  ['no-uid', 'a response without uid', shape(() => ({ response: { allowed: true } }))],
  ['wrong-uid', 'a response with another uid', shape(() => ({ response: { uid: 'other', allowed: true } }))],
  ['wrong-uid-denied', 'a refusal with another uid', shape(() => ({ response: { uid: 'other', allowed: false } }))],
  ['no-allowed', 'a response without allowed is a refusal', shape((r) => ({ response: { uid: r.request.uid } }))],
  ['no-kind', 'no kind and apiVersion', (r) => ({ response: { uid: r.request.uid, allowed: true } })],
  ['no-api-version', 'no apiVersion', (r) => ({ kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } })],
  ['wrong-kind', 'another kind', (r) => ({ apiVersion: 'admission.k8s.io/v1', kind: 'Pod', response: { uid: r.request.uid, allowed: true } })],
  ['wrong-version', 'another version than that of the review', (r) => ({ apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } })],
  ['unknown-version', 'an unknown version', (r) => ({ apiVersion: 'admission.k8s.io/v9', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } })],
  ['wrong-group', 'another group', (r) => ({ apiVersion: 'v1', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } })],
  ['not-json', 'no JSON', () => ({ raw: 'nonsense' })],
  ['empty-body', 'an empty body', () => ({ raw: '' })],
  ['empty-object', '{}', () => ({ raw: '{}' })],
  ['null-body', 'null', () => ({ raw: 'null' })],
  ['array-body', 'a list', () => ({ raw: '[]' })],
  ['truncated', 'a body that breaks off', () => ({ raw: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","resp' })],
  ['allowed-string', 'allowed as a string', shape((r) => ({ response: { uid: r.request.uid, allowed: 'true' } }))],
  ['warnings-string', 'warnings as a string', shape((r) => ({ response: { uid: r.request.uid, allowed: true, warnings: 'x' } }))],
  ['extra-fields', 'unknown fields do not matter', shape((r) => ({ extra: 1, response: { uid: r.request.uid, allowed: true, more: 2 } }))],
  ['content-type', 'a content type that is no JSON', (r) => ({ headers: { 'content-type': 'text/plain' }, body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } } })],
  ['yaml', 'YAML', (r) => ({ headers: { 'content-type': 'application/yaml' }, raw: `apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: ${r.request.uid}\n  allowed: true\n` })],
  ['status-204', 'status 204', () => ({ status: 204, raw: '' })],
  ['status-201', 'status 201 with a good answer', (r) => ({ status: 201, body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } } })],
  ['status-400', 'status 400', () => ({ status: 400, raw: 'bad review' })],
  ['status-401', 'status 401', () => ({ status: 401, raw: 'who?' })],
  ['status-403', 'status 403', () => ({ status: 403, raw: 'no' })],
  ['status-404', 'status 404', () => ({ status: 404, raw: '' })],
  ['status-405', 'status 405', () => ({ status: 405, raw: '' })],
  ['status-409', 'status 409', () => ({ status: 409, raw: 'conflict' })],
  ['status-415', 'status 415', () => ({ status: 415, raw: '' })],
  ['status-418', 'status 418', () => ({ status: 418, raw: 'tea' })],
  ['status-500', 'status 500', () => ({ status: 500, raw: 'broken' })],
  ['status-500-text', 'status 500 in plain text', () => ({ status: 500, raw: 'broken\nbadly', headers: { 'content-type': 'text/plain' } })],
  ['status-502', 'status 502', () => ({ status: 502, raw: '' })],
  ['status-503', 'status 503', () => ({ status: 503, raw: 'later' })],
  ['status-503-good', 'status 503 with a good answer', (r) => ({ status: 503, body: { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: r.request.uid, allowed: true } } })],
  ['status-object', 'status 403 with a Status object', () => ({ status: 403, body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'from the hook', reason: 'Forbidden', code: 403 } })],
  ['redirect', 'a redirect is followed', () => ({ status: 302, headers: { location: 'https://127.0.0.1:1/' }, raw: '' })],
  ['closed', 'a connection that is closed without an answer', () => ({ close: true })],
];
const failClosed = nonsense.flatMap(([id, about, hook]) => each(`fails-${id}`, `failurePolicy Fail: ${about}`, hook, [POST(CM, cm())], { only: /^(wrong-uid|no-response|status-500|closed)$/.test(id) ? undefined : ['validating'] }));
const failOpen = nonsense.filter(([id]) => /^(no-response|wrong-uid|no-allowed|wrong-kind|not-json|empty-body|status-(400|403|404|500|503|object)|closed|redirect)$/.test(id)).map(([id, about, hook]) => each(`ignores-${id}`, `failurePolicy Ignore: ${about}`, hook, [POST(CM, cm(), { ...data, ...warned })], { settings: { failurePolicy: 'Ignore' }, only: ['validating'] })[0]);
const failOpenMutating = nonsense.filter(([id]) => /^(no-response|wrong-uid|status-500|closed)$/.test(id)).map(([id, about, hook]) => each(`ignores-${id}`, `failurePolicy Ignore: ${about}`, hook, [POST(CM, cm(), { ...data, ...warned })], { settings: { failurePolicy: 'Ignore' }, only: ['mutating'] })[0]);

// --- patches in the response ---
const code = (ops) => Buffer.from(JSON.stringify(ops)).toString('base64');
const ops = code([add('/data/h', 'x')]);
const patches = [
  ...each('fails-patch-without-type', 'a patch without patchType', answer({ patch: ops }), undefined, {}),
  ...each('fails-type-without-patch', 'a patchType without patch', answer({ patchType: 'JSONPatch' })),
  ...each('fails-patch', 'a patch', answer({ patchType: 'JSONPatch', patch: ops }), [POST(CM, cm())], { only: ['validating'] }),
  ...each('fails-type-unknown', 'another patchType', answer({ patchType: 'MergePatch', patch: ops })),
  ...each('fails-type-empty', 'an empty patchType', answer({ patchType: '', patch: ops })),
  ...each('fails-type-null', 'patchType and patch null', answer({ patchType: null, patch: null }), [POST(CM, cm(), data)]),
  ...each('ignores-type-unknown', 'failurePolicy Ignore: another patchType', answer({ patchType: 'MergePatch', patch: ops }), [POST(CM, cm(), data)], { settings: { failurePolicy: 'Ignore' } }),
  ...each('ignores-patch-without-type', 'failurePolicy Ignore: a patch without patchType', answer({ patch: ops }), [POST(CM, cm(), data)], { settings: { failurePolicy: 'Ignore' } }),
];

// --- calls that fail ---
const target = (url, more = {}) => ({ clientConfig: { url, ...more } });
const unreached = (id, about, settings, step = POST(CM, cm())) => Object.keys(kinds).map((kind) => hooked(`${kind}-${id}`, `${about} (${kind})`, kinds[kind](webhook('h', settings)), { hooks: { h: allow } }, [step]));
const connections = [
  ...unreached('fails-refused', 'a connection that is refused', target('https://127.0.0.1:1/x')),
  ...unreached('ignores-refused', 'failurePolicy Ignore: a connection that is refused', { failurePolicy: 'Ignore', ...target('https://127.0.0.1:1/x') }, POST(CM, cm(), { ...data, ...warned })),
  ...unreached('fails-no-ca', 'a certificate that nobody vouches for', { clientConfig: { url: '${hook.h}' } }),
  ...unreached('fails-path-missing', 'a path that the hook server does not know', { clientConfig: { url: '${hook.h}x', caBundle: '${caBundle}' } }),
  ...unreached('fails-service-missing', 'a service that does not exist', { clientConfig: { service: { name: 'nope', namespace: '$ns', path: '/p' }, caBundle: '${caBundle}' } }),
  ...unreached('ignores-service-missing', 'failurePolicy Ignore: a service that does not exist', { failurePolicy: 'Ignore', clientConfig: { service: { name: 'nope', namespace: '$ns' } } }, POST(CM, cm(), data)),
];
const services = [
  ['external-name', 'a service of type ExternalName', { type: 'ExternalName', externalName: 'nowhere.invalid' }, 443],
  ['port-missing', 'a service without that port', { ports: [{ port: 80 }] }, 444],
].map(([id, about, spec, port]) => hooked(`validating-fails-service-${id}`, about, validating(webhook('h', { timeoutSeconds: 2, clientConfig: { service: { name: 's', namespace: '$ns', port, path: '/p' }, caBundle: '${caBundle}' } })), { hooks: { h: allow } }, [
  POST('/api/v1/namespaces/$ns/services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec }, quiet), SLEEP(1000), POST(CM, cm(), { pick: (b) => JSON.parse(JSON.stringify(b).replaceAll(/lookup [^"\\]*/g, 'lookup …')) }),
]));

const late = (review) => ({ delayMs: 2500, ...allow(review), body: allow(review) });
const times = [
  ...each('fails-timeout', 'an answer that takes longer than timeoutSeconds', late, [POST(CM, cm())], { settings: { timeoutSeconds: 1 } }),
  ...each('ignores-timeout', 'failurePolicy Ignore: an answer that takes longer than timeoutSeconds', late, [POST(CM, cm(), data)], { settings: { timeoutSeconds: 1, failurePolicy: 'Ignore' } }),
  ...each('slow', 'an answer within timeoutSeconds', late, [POST(CM, cm(), data)], { settings: { timeoutSeconds: 5 } }),
];

// --- several validating hooks ---
const several = [
  hooked('validating-all-called', 'all are called, though one refuses', validating([webhook('a'), webhook('b'), webhook('c')]), { hooks: { a: deny({ message: 'no' }), b: allow, c: allow } }, [POST(CM, cm()), called('a', 1), called('b', 1), called('c', 1)]),
  hooked('validating-one-of-two', 'one refusal suffices', validating([webhook('a'), webhook('b')]), { hooks: { a: allow, b: deny({ message: 'no' }) } }, [POST(CM, cm())]),
  hooked('validating-first-in-time', 'of two refusals the one that came first counts', validating([webhook('a'), webhook('b')]), { hooks: { a: (r) => ({ delayMs: 700, body: deny({ message: 'late' })(r) }), b: deny({ message: 'early' }) } }, [POST(CM, cm())]),
  hooked('validating-failure-and-refusal', 'a failure that is ignored beside a refusal', validating([webhook('a', { failurePolicy: 'Ignore', ...target('https://127.0.0.1:1/') }), webhook('b')]), { hooks: { b: deny({ message: 'no' }) } }, [POST(CM, cm())]),
  hooked('validating-after-mutating', 'validating hooks see what the mutating ones made', [mutating(webhook('m')), validating(webhook('v'))], { hooks: { m: patch([add('/data/m', 'x')]), v: answer((r) => ({ allowed: false, status: { message: JSON.stringify(r.object.data) } })) } }, [POST(CM, cm())]),
  hooked('validating-not-after-denied', 'a refusal by a mutating hook: the validating ones are not called', [mutating(webhook('m')), validating(webhook('v'))], { hooks: { m: deny({ message: 'no' }), v: allow } }, [POST(CM, cm(), quiet), called('m', 1), called('v')]),
  hooked('validating-same-hook-twice', 'the same address in two configurations is called twice', [validating(webhook(), '$ns-a'), validating(webhook(), '$ns-b')], { hooks: { h: allow } }, [POST(CM, cm(), quiet), called('h', 2)]),
];

// --- side effects ---
const sideEffects = [
  ...each('side-effects-none-on-dry-run', 'sideEffects NoneOnDryRun: called on a dry run', allow, [POST(CM, cm(), { ...dry, ...data }), brief('h', 1, 'dryRun')], { settings: { sideEffects: 'NoneOnDryRun' } }),
];

// --- changes of configurations ---
const changes = [
  hooked('webhook-updated', 'a changed configuration counts', validating(webhook()), { hooks: { h: deny({ message: 'no' }) } }, [
    POST(CM, cm(), quiet), PATCH('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/$ns-x', 'json-patch', [add('/webhooks/0/rules/0/resources', ['secrets'])], quiet),
    { ...POST(CM, cm(), { ...dry, ...quiet }), kind: 'poll', ms: 5000, until: (_, s) => s === 201 }, POST(CM, cm(), data),
  ]),
  hooked('webhook-deleted', 'a deleted configuration no longer counts', validating(webhook()), { hooks: { h: deny({ message: 'no' }) } }, [
    POST(CM, cm(), quiet), DELETE('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/$ns-x', undefined, quiet),
    { ...POST(CM, cm(), { ...dry, ...quiet }), kind: 'poll', ms: 5000, until: (_, s) => s === 201 }, POST(CM, cm(), data),
  ]),
];

export default [...refusals, ...refusedOperations, ...warnings, ...moreWarnings, ...failClosed, ...failOpen, ...failOpenMutating, ...patches, ...connections, ...services, ...times, ...several, ...sideEffects, ...changes];
