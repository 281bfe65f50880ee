// Server-side apply and a mutating webhook: what the webhook changes belongs to nobody; what it does to managedFields.
import { scenario, GET, POST, PATCH, APPLY, SLEEP } from '../steps.ts';
import { CM, cm } from './kit/apply.mjs';

const HOOKS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const by = (fieldManager, o) => ({ query: { fieldManager }, ...o });
/** Answers every review with that JSON patch. */
const answer = (ops) => (review) => ({
  apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview',
  response: { uid: review.request.uid, allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(typeof ops === 'function' ? ops(review.request) : ops)).toString('base64') },
});
const install = [
  POST(HOOKS, {
    apiVersion: 'admissionregistration.k8s.io/v1', kind: 'MutatingWebhookConfiguration', metadata: { name: '$ns-hook' },
    webhooks: [{
      name: 'apply.example.com', clientConfig: { url: '${hook.change}', caBundle: '${caBundle}' }, sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 5,
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '$ns' } },
    }],
  }, { compare: 'status' }),
  SLEEP(1500),
];
const one = (id, about, ops, steps) => scenario(`apply-admission-${id}`, { section: '3.2', about, hooks: { change: answer(ops) }, cleanup: [`${HOOKS}/$ns-hook`] }, [...install, ...steps]);
const warned = { compareHeaders: ['warning'] };

export default [
  one('adds-key', 'a key that the webhook adds belongs to nobody; the same apply again changes nothing', [{ op: 'add', path: '/data/hook', value: 'x' }], [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), APPLY(`${CM}/c`, 'm2', cm('c', { hook: 'y' }), warned),
  ]),
  one('changes-value', 'a value that the webhook changes stays with the applier; the same apply again changes nothing', [{ op: 'replace', path: '/data/a', value: 'hooked' }], [
    APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned),
  ]),
  one('removes-key', 'a key that the webhook removes stays in the entry of the applier', [{ op: 'remove', path: '/data/a' }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1', b: '2' }), warned), GET(`${CM}/c`)]),
  one('on-post', 'a key that the webhook adds to a POST belongs to nobody', [{ op: 'add', path: '/data/hook', value: 'x' }], [POST(CM, cm('c', { a: '1' }), by('u', warned)), PATCH(`${CM}/c`, 'merge', { data: { b: '2' } }, by('v', warned))]),
  one('empties-managed-fields', 'a webhook that empties managedFields: they are gone', [{ op: 'replace', path: '/metadata/managedFields', value: [] }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), GET(`${CM}/c`)]),
  one('resets-managed-fields', 'a webhook that sets managedFields to [{}]: they are restored with a warning', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), GET(`${CM}/c`)]),
  one('breaks-managed-fields', 'a webhook that makes managedFields invalid: they are restored with a warning', [{ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Bogus' }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), GET(`${CM}/c`)]),
  one('breaks-fields', 'a webhook that breaks fieldsV1: managedFields are restored with a warning', [{ op: 'add', path: '/metadata/managedFields/0/fieldsV1', value: { broken: {} } }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), GET(`${CM}/c`)]),
  one('renames-manager', 'a webhook that renames the manager: the new name counts', [{ op: 'replace', path: '/metadata/managedFields/0/manager', value: 'renamed' }], [APPLY(`${CM}/c`, 'm', cm('c', { a: '1' }), warned), APPLY(`${CM}/c`, 'm', cm('c', { a: '2' }), warned)]),
];
