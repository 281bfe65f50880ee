// ConfigMaps, Secrets and ServiceAccounts.
import { scenario, GET, POST, PUT, PATCH } from '../steps.ts';
import { inNs, root, refused, accepted, patched, repeat } from './kit/kinds-core.mjs';

const maps = inNs('configmaps');
const secrets = inNs('secrets');
const accounts = inNs('serviceaccounts');
const map = (o = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, ...o });
const secret = (o = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', ...metadata }, ...o });
const account = (o = {}, metadata = {}) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a', ...metadata }, ...o });
const b64 = (t) => Buffer.from(t).toString('base64');
const bare = (b) => { if (b.kind === 'Status') return b; const { metadata, ...rest } = b; return { ...rest, annotations: metadata.annotations ?? null }; };
const type = (t, data) => ({ type: t, data });
const million = repeat('x', 1048576);

export default [
  scenario('core-configmap-minimal', { section: '2', about: 'a ConfigMap without data' }, [POST(maps, map()), GET(`${maps}/m`)]),
  scenario('core-configmap-maximal', { section: '2', about: 'data, binaryData and immutable' }, [POST(maps, map({ data: { a: '1', 'b.c_d-e': '', f: 'ü' }, binaryData: { bin: b64('\u0000\u0001') }, immutable: true })), GET(`${maps}/m`)]),
  ...refused('core-configmap-invalid', { about: 'keys and names of a ConfigMap', at: maps, base: map(), part: root }, [
    ['key with slash', { data: { 'a/b': '1' } }], ['key with blank', { data: { 'a b': '1' } }], ['key empty', { data: { '': '1' } }], ['key is .', { data: { '.': '1' } }], ['key is ..', { data: { '..': '1' } }], ['key starts with ..', { data: { '..a': '1' } }], ['key too long', { data: { [repeat('k', 254)]: '1' } }], ['binaryData key', { binaryData: { 'a/b': 'AA==' } }], ['key in both', { data: { a: '1' }, binaryData: { a: 'AA==' } }], ['name', (o) => { o.metadata.name = 'A'; }],
  ]),
  scenario('core-configmap-size', { section: '8', about: 'the values together may have 1 MiB' }, [POST(maps, map({ data: { a: `${million}x` } })), POST(maps, map({ data: { a: million }, binaryData: { b: 'AA==' } })), POST(maps, map({ data: { a: million } }), { compare: 'status' })]),
  scenario('core-configmap-decode', { section: '7', about: 'data of the wrong type' }, [POST(maps, map({ data: { a: 1 } })), POST(maps, map({ data: ['a'] })), POST(maps, map({ binaryData: { a: 'not base64!' } })), POST(maps, map({ data: { a: null } }), { pick: bare }), POST(maps, map({ data: 'text' }))]),
  ...patched('core-configmap-immutable', { about: 'an immutable ConfigMap cannot change but for its metadata', at: maps, base: map({ data: { a: '1' }, binaryData: { b: 'AA==' }, immutable: true }), shown: bare }, [['data', { data: { a: '2' } }], ['data added', { data: { c: '2' } }], ['binaryData', { binaryData: { b: 'AAA=' } }], ['immutable false', { immutable: false }], ['immutable removed', { immutable: null }], ['all at once', { data: { a: '2' }, binaryData: { b: null }, immutable: null }], ['labels', { metadata: { labels: { a: 'b' } } }]]),
  ...patched('core-configmap-mutable', { about: 'a ConfigMap becomes immutable by an update', at: maps, base: map({ data: { a: '1' } }), shown: bare }, [['data', { data: { a: '2' } }], ['data removed', { data: null }], ['immutable', { immutable: true }], ['afterwards', { data: { a: '3' } }]]),

  scenario('core-secret-minimal', { section: '2', about: 'a Secret without data is Opaque' }, [POST(secrets, secret()), GET(`${secrets}/s`)]),
  scenario('core-secret-string-data', { section: '2', about: 'stringData is written into data, wins over it, and is never shown' }, [POST(secrets, secret({ data: { a: b64('old'), b: b64('kept') }, stringData: { a: 'new', c: 'ü' } }), {}), PATCH(`${secrets}/s`, 'merge', { stringData: { d: 'patched' } }, { pick: bare }), PUT(`${secrets}/s`, secret({ stringData: { e: 'put' } }), { pick: bare })]),
  ...accepted('core-secret-types', { about: 'each well-known type with the keys it wants', at: secrets, base: secret(), shown: bare, compareHeaders: ['warning'] }, [
    ['any type', type('example.com/own', { a: 'AA==' })], ['service account token', (o) => { o.type = 'kubernetes.io/service-account-token'; o.metadata.annotations = { 'kubernetes.io/service-account.name': 'x' }; }], ['dockercfg', type('kubernetes.io/dockercfg', { '.dockercfg': b64('{}') })], ['dockerconfigjson', type('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': b64('{"auths":{}}') })], ['basic-auth with username', type('kubernetes.io/basic-auth', { username: '' })], ['basic-auth with password', type('kubernetes.io/basic-auth', { password: b64('p') })], ['ssh-auth', type('kubernetes.io/ssh-auth', { 'ssh-privatekey': b64('k') })], ['tls with nonsense warns', type('kubernetes.io/tls', { 'tls.crt': b64('c'), 'tls.key': b64('k') })], ['tls empty', type('kubernetes.io/tls', { 'tls.crt': '', 'tls.key': '' })], ['bootstrap token', type('bootstrap.kubernetes.io/token', {})], ['null value', type('Opaque', { a: null })],
  ]),
  ...refused('core-secret-invalid', { about: 'what makes a Secret invalid', at: secrets, base: secret(), part: root }, [
    ['token without annotation', type('kubernetes.io/service-account-token', {})], ['dockercfg missing', type('kubernetes.io/dockercfg', {})], ['dockercfg not JSON', type('kubernetes.io/dockercfg', { '.dockercfg': b64('x') })], ['dockerconfigjson missing', type('kubernetes.io/dockerconfigjson', {})], ['dockerconfigjson not JSON', type('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': b64('{"a":') })], ['dockerconfigjson not an object', type('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': b64('[]') })], ['basic-auth without both', type('kubernetes.io/basic-auth', {})], ['ssh-auth missing', type('kubernetes.io/ssh-auth', {})], ['ssh-auth empty', type('kubernetes.io/ssh-auth', { 'ssh-privatekey': '' })], ['tls missing both', type('kubernetes.io/tls', {})], ['tls missing key', type('kubernetes.io/tls', { 'tls.crt': 'AA==' })],
    ['key', type('Opaque', { 'a/b': 'AA==' })], ['stringData key', { stringData: { 'a b': 'x' } }], ['name', (o) => { o.metadata.name = 'A_b'; }], ['too large', { data: { a: b64(`${million}x`) } }], ['too large by stringData', { data: { a: b64(million) }, stringData: { b: 'x' } }],
  ]),
  scenario('core-secret-decode', { section: '7', about: 'data that is not base64' }, [POST(secrets, secret({ data: { a: '!' } })), POST(secrets, secret({ data: { a: 1 } })), POST(secrets, secret({ stringData: { a: 1 } }))]),
  ...patched('core-secret-update', { about: 'the type of a Secret is fixed', at: secrets, base: secret({ data: { a: 'AA==' } }), shown: bare }, [['type', { type: 'example.com/x' }], ['type removed', { type: null }], ['data', { data: { a: 'AAA=' } }], ['immutable', { immutable: true }], ['data afterwards', { data: { a: 'AAAA' } }], ['stringData afterwards', { stringData: { a: 'x' } }], ['stringData with the same value', { stringData: { a: '\u0000\u0000' } }], ['immutable false', { immutable: false }], ['labels', { metadata: { labels: { a: 'b' } } }]]),
  scenario('core-secret-put-without-type', { section: '4.7', about: 'PUT without a type means Opaque, which another type refuses' }, [POST(secrets, secret({ type: 'example.com/x' }), { compare: 'status' }), PUT(`${secrets}/s`, secret({ data: { a: 'AA==' } }), { pick: bare })]),

  scenario('core-serviceaccount-minimal', { section: '2', about: 'a ServiceAccount' }, [POST(accounts, account()), GET(`${accounts}/a`)]),
  scenario('core-serviceaccount-maximal', { section: '2', about: 'only the names of secrets are kept' }, [POST(accounts, account({ secrets: [{ name: 's', namespace: 'other', kind: 'Secret', apiVersion: 'v1', uid: 'u', resourceVersion: '1', fieldPath: 'f' }], imagePullSecrets: [{ name: 'p' }, {}], automountServiceAccountToken: false }, { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } }), { compareHeaders: ['warning'] })]),
  ...refused('core-serviceaccount-invalid', { about: 'names of ServiceAccounts', at: accounts, base: account(), part: root }, [['capitals', (o) => { o.metadata.name = 'A'; }], ['too long', (o) => { o.metadata.name = repeat('a', 254); }], ['missing', (o) => { delete o.metadata.name; }]]),
  ...patched('core-serviceaccount-update', { about: 'everything of a ServiceAccount may change', at: accounts, base: account(), shown: bare }, [['secrets', { secrets: [{ name: 'x', kind: 'Secret' }] }], ['automount', { automountServiceAccountToken: true }], ['imagePullSecrets', { imagePullSecrets: [{ name: 'p' }] }], ['removed', { secrets: null, automountServiceAccountToken: null }]]),
];
