// The ServiceAccount plugin: which secrets pods may name, and mirrors of static pods; and refusals without a name.
import { scenario, POST, PATCH, DELETE, PUT } from '../steps.ts';
import { PODS, pod, quiet, only, cm } from './kit/admission.mjs';

const within = (id, about, steps, o = {}) => scenario(`plugins-${id}`, { section: '7', about, needs: 'plugins-accounts', ...o }, steps);
const ACCOUNTS = '/api/v1/namespaces/$ns/serviceaccounts';
const account = (name, more = {}, metadata = {}) => POST(ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, ...metadata }, automountServiceAccountToken: false, ...more }, quiet);
const limited = (value, more = {}) => account('a', more, { annotations: { 'kubernetes.io/enforce-mountable-secrets': value } });
const as = { serviceAccountName: 'a' };
const shown = only('spec.serviceAccountName', 'spec.imagePullSecrets', 'spec.volumes');
const secret = { volumes: [{ name: 'v', secret: { secretName: 's' } }] };
const mirror = (spec) => POST(PODS, pod('p', { nodeName: 'n', ...spec }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }), shown);
const one = (more) => ({ containers: [{ name: 'c', image: 'i', ...more }] });

const accounts = [
  within('account-missing', 'ServiceAccount: one that is not there', [POST(PODS, pod('p', { serviceAccountName: 'nope' })), POST(PODS, { ...pod('p', { serviceAccountName: 'nope' }), metadata: { generateName: 'p-' } })]),
  within('account-default-missing', 'ServiceAccount: without a default one', [POST(PODS, pod())]),
  ...['true', 'True', 'TRUE', 't', 'T', '1', 'false', 'yes', 'tRUE', ' true', ''].map((value, at) => within(`account-limited-${at}`, `ServiceAccount: mountable secrets enforced by ${JSON.stringify(value)}`, [limited(value), POST(PODS, pod('p', { ...as, ...secret }), shown)])),
  within('account-limited-more', 'ServiceAccount: secrets of the account, of variables and of pulling', [limited('true', { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'q' }] }), POST(PODS, pod('p', { ...as, ...secret }), shown), POST(PODS, pod('q', { ...as, ...one({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 't', key: 'k' } } }] }) })), POST(PODS, pod('q', { ...as, ...one({ envFrom: [{ secretRef: { name: 't' } }] }) })), POST(PODS, pod('q', { ...as, imagePullSecrets: [{ name: 'other' }] })), POST(PODS, pod('q', { ...as, imagePullSecrets: [{ name: 'q' }] }), shown)]),
  within('account-limited-ephemeral', 'ServiceAccount: secrets of ephemeral containers', [limited('1'), POST(PODS, pod('p', as), quiet), PATCH(`${PODS}/p/ephemeralcontainers`, 'strategic', { spec: { ephemeralContainers: [{ name: 'e', image: 'i', envFrom: [{ secretRef: { name: 't' } }] }] } })]),
];
const mirrors = [
  within('mirror-plain', 'ServiceAccount: a mirror of a static pod stays as it is', [mirror({})]),
  within('mirror-account', 'ServiceAccount: a mirror that names an account', [mirror({ serviceAccountName: 'default' })]),
  within('mirror-words', 'ServiceAccount: keys that only sound like secrets', [mirror({ nodeSelector: { secret: 'x', secretName: 'y' }, ...one({ env: [{ name: 'secretRef', value: 'x' }] }), volumes: [{ name: 'v', csi: { driver: 'd', volumeAttributes: { secretName: 'x' } } }] })]),
  within('mirror-empty', 'ServiceAccount: an empty list of secrets', [mirror({ imagePullSecrets: [] })]),
  ...Object.entries({
    volume: secret, pull: { imagePullSecrets: [{ name: 's' }] }, env: one({ env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 't', key: 'k' } } }] }), 'env-from': one({ envFrom: [{ secretRef: { name: 't' } }] }),
    projected: { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] }, csi: { volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }] }, token: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    'azure-file': { volumes: [{ name: 'v', azureFile: { secretName: 's', shareName: 'h' } }] }, flex: { volumes: [{ name: 'v', flexVolume: { driver: 'd/e', secretRef: { name: 's' } } }] },
  }).map(([id, spec]) => within(`mirror-${id}`, `ServiceAccount: a mirror with a secret (${id})`, [mirror(spec)])),
];
const NS = '/api/v1/namespaces/$ns-gone';
const nameless = [
  within('terminating-nameless', 'NamespaceLifecycle: an object without a name in a namespace that is being deleted', [POST('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-gone' } }, quiet), DELETE(NS, undefined, quiet), POST(`${NS}/configmaps`, { ...cm(), metadata: {} }), POST(`${NS}/configmaps`, { ...cm(), metadata: { generateName: 'c-' } }), PUT(`${NS}/finalize`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '$ns-gone' }, spec: { finalizers: [] } }, quiet)], { namespace: false }),
];

export default [...accounts, ...mirrors, ...nameless];
