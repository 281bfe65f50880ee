/**
 * Test cases for `--encryption-provider-config`. The recording does not contain the warning about
 * the feature gate KMSv1, which is not about the file.
 */
import type { Json } from '../../../src/api/object.ts'
import { casesOf, type ConfigCase, type FileTable, formCases, yamlOf } from './case.ts'
import type { RawFlags } from './judge.ts'

type Fields = { readonly [field: string]: Json }

const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
const file = (...resources: readonly Json[]): string =>
  yamlOf({ ...head, resources: [...resources] })
const identity = { identity: {} }
const rule = (resources: readonly string[], ...providers: readonly Json[]): Fields => ({
  resources: [...resources],
  providers: [...providers],
})
/**
 * Returns an encryption key for tests. It repeats three letters, so it is clearly not a real
 * secret.
 */
const secretOf = (bytes: number): string => Buffer.alloc(bytes, 'kee').toString('base64')
const key = (name: string, bytes = 32): Fields => ({ name, secret: secretOf(bytes) })
const of = (...providers: readonly Json[]): string => file(rule(['secrets'], ...providers))
const named = (...resources: readonly string[]): string => file(rule(resources, identity))
const rules = (...lists: readonly (readonly string[])[]): string =>
  file(...lists.map((list) => rule(list, identity)))
const kms = (fields: Fields = {}): Fields => ({
  kms: { apiVersion: 'v2', name: 'plugin', endpoint: 'unix:///run/keelson-none.sock', ...fields },
})
const v1 = (fields: Fields = {}): Fields => kms({ apiVersion: 'v1', ...fields })
const v1Gate: RawFlags = { 'feature-gates': 'KMSv1=true' }

const table: FileTable = {
  'resources/none': file(),
  'resources/absent': yamlOf(head),
  'resources/null': yamlOf({ ...head, resources: null }),
  'resources/text': yamlOf({ ...head, resources: 'secrets' }),
  'resources/item-empty': file({}),
  'resources/item-null': file(null),
  'resources/list-empty': file(rule([], identity)),
  'resources/providers-empty': of(),
  'names/unknown': named('nones.example.org'),
  'names/blank': named(''),
  'names/dots': named('a.b.c.d'),
  'names/capital': named('Secrets'),
  'names/capital-of-group': named('deployments.Apps'),
  'names/star': named('*'),
  'names/star-of-no-group': named('*.'),
  'names/everything': named('*.*'),
  'names/across-groups': named('secrets.*'),
  'names/events-of-their-group': named('events.events.k8s.io'),
  'names/all-of-events-group': named('*.events.k8s.io'),
  'names/extensions': named('ingresses.extensions'),
  'names/records': named('apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'),
  'names/twice': named('pods', 'pods'),
  'names/everything-twice': named('*.*', '*.*'),
  'names/group-twice': named('*.apps', '*.apps'),
  'names/overlap-core': named('pods', '*.'),
  'names/overlap-group': named('*.apps', 'deployments.apps', 'pods'),
  'names/overlap-everything': named('*.*', 'pods'),
  'names/overlap-and-twice': named('*.', 'pods', 'pods'),
  'names/no-overlap': named('*.apps', '*.batch', 'pods'),
  'masked/by-core': rules(['*.'], ['pods']),
  'masked/by-group': rules(['pods', '*.batch'], ['jobs.batch']),
  'masked/by-everything': rules(['pods'], ['*.*'], ['*.apps']),
  'masked/by-itself': rules(['*.*'], ['*.*']),
  'masked/not': rules(['pods'], ['*.'], ['deployments.apps'], ['*.apps'], ['*.*']),
  'masked/pods-twice': rules(['pods'], ['pods']),
  'provider/none': of({}),
  'provider/null': of({ identity: null }),
  'provider/null-item': of(null),
  'provider/two': of({ identity: {}, aescbc: { keys: [key('a')] } }),
  'provider/three': of({ secretbox: { keys: [key('a')] }, aesgcm: { keys: [key('a')] }, ...kms() }),
  'provider/unknown': of({ rot13: {} }),
  'provider/unknown-in-identity': of({ identity: { a: 1 } }),
  'provider/all': of(
    { secretbox: { keys: [key('a'), key('b')] } },
    { aesgcm: { keys: [key('a'), key('b', 16)] } },
    { aescbc: { keys: [key('a', 24)] } },
    kms(),
    identity,
  ),
  ...Object.fromEntries(
    (['aescbc', 'aesgcm', 'secretbox'] as const).flatMap((kind): [string, string][] => [
      ...[0, 1, 15, 16, 17, 24, 31, 32, 33, 64].map((bytes): [string, string] => [
        `${kind}/key-of-${bytes}`,
        of({ [kind]: { keys: [key('a', bytes)] } }),
      ]),
      [`${kind}/keys-none`, of({ [kind]: { keys: [] } })],
      [`${kind}/keys-absent`, of({ [kind]: {} })],
      [`${kind}/name-absent`, of({ [kind]: { keys: [{ secret: secretOf(32) }] } })],
      [`${kind}/secret-absent`, of({ [kind]: { keys: [{ name: 'a' }] } })],
      [`${kind}/both-absent`, of({ [kind]: { keys: [{}, key('b')] } })],
      [`${kind}/name-twice`, of({ [kind]: { keys: [key('a'), key('a')] } })],
    ]),
  ),
  'secret/no-padding': of({
    aesgcm: { keys: [{ name: 'a', secret: secretOf(32).replace('=', '') }] },
  }),
  'secret/too-much-padding': of({ aesgcm: { keys: [{ name: 'a', secret: `${secretOf(16)}==` }] } }),
  'secret/url-alphabet': of({
    aesgcm: { keys: [{ name: 'a', secret: Buffer.alloc(32, 0xfb).toString('base64url') }] },
  }),
  'secret/blank-inside': of({ aesgcm: { keys: [{ name: 'a', secret: ` ${secretOf(32)}` }] } }),
  'secret/broken-lines': of({
    aesgcm: { keys: [{ name: 'a', secret: secretOf(32).replace(/(.{10})/g, '$1\r\n') }] },
  }),
  'secret/number': of({ aesgcm: { keys: [{ name: 'a', secret: 12 }] } }),
  'secret/name-with-colon': of({ aesgcm: { keys: [key('a:b')] } }),
  'kms/running-nowhere': of(kms(), identity),
  'kms/timeout': of(kms({ timeout: '1.5s' })),
  'kms/timeout-zero': of(kms({ timeout: '0s' })),
  'kms/timeout-negative': of(kms({ timeout: '-1ms' })),
  'kms/timeout-blank': of(kms({ timeout: '' })),
  'kms/timeout-no-unit': of(kms({ timeout: '5' })),
  'kms/timeout-number': of(kms({ timeout: 5 })),
  'kms/name-absent': of({ kms: { apiVersion: 'v2', endpoint: 'unix:///a' } }),
  'kms/name-with-colon': of(kms({ name: 'a:b' })),
  'kms/name-twice': of(kms(), kms({ endpoint: 'unix:///b' })),
  'kms/name-twice-in-two-lists': file(rule(['pods'], kms()), rule(['secrets'], kms())),
  'kms/two': of(kms(), kms({ name: 'other' })),
  'kms/endpoint-absent': of({ kms: { apiVersion: 'v2', name: 'a' } }),
  'kms/endpoint-http': of(kms({ endpoint: 'http://localhost:8080' })),
  'kms/endpoint-path': of(kms({ endpoint: '/run/a.sock' })),
  'kms/endpoint-escape': of(kms({ endpoint: 'unix:///%zz' })),
  'kms/endpoint-capital': of(kms({ endpoint: 'UNIX:///run/a.sock' })),
  'kms/endpoint-abstract': of(kms({ endpoint: 'unix:///@a' })),
  'kms/cachesize': of(kms({ cachesize: 5 })),
  'kms/cachesize-zero': of(kms({ cachesize: 0 })),
  'kms/version-unknown': of(kms({ apiVersion: 'v3' })),
  'kms/version-blank': of(kms({ apiVersion: '' })),
  'kms/version-beta': of(kms({ apiVersion: 'v2beta1' })),
  'kms/v1-without-gate': of(v1()),
  'kms/v1-by-default': of({ kms: { name: 'a', endpoint: 'unix:///a' } }),
  'kms/v1-and-masked': file(rule(['*.'], identity), rule(['pods'], v1())),
  'kms/v1': [of(v1(), identity), v1Gate],
  'kms/v1-cachesize': [of(v1({ cachesize: 10 })), v1Gate],
  'kms/v1-cachesize-zero': [of(v1({ cachesize: 0 })), v1Gate],
  'kms/v1-cachesize-negative': [of(v1({ cachesize: -3 })), v1Gate],
  'kms/v1-name-with-colon': [of(v1({ name: 'a:b' })), v1Gate],
  'kms/v1-name-twice': [file(rule(['pods'], v1()), rule(['secrets'], v1())), v1Gate],
  'kms/v1-and-v2-of-one-name': [of(v1(), kms()), v1Gate],
  'kms/v2-and-v1-of-one-name': [of(kms(), v1()), v1Gate],
  'reload/v1-name-twice': [
    file(rule(['pods'], v1()), rule(['secrets'], v1())),
    { ...v1Gate, 'encryption-provider-config-automatic-reload': 'true' },
  ],
  'reload/on': [of(identity), { 'encryption-provider-config-automatic-reload': 'true' }],
  'reload/without-file': [
    null,
    { 'encryption-provider-config': null, 'encryption-provider-config-automatic-reload': 'true' },
  ],
  'several/of-everything': file(
    rule(
      ['*', 'Pods', 'a.*'],
      {},
      { aesgcm: { keys: [{ name: '', secret: '?' }] } },
      kms({ timeout: '-1s', cachesize: 1 }),
    ),
    {},
    rule(['pods', 'pods'], kms({ endpoint: '' })),
  ),
  'kind/old': yamlOf({
    apiVersion: 'v1',
    kind: 'EncryptionConfig',
    resources: [rule(['pods'], identity)],
  }),
  'kind/old-in-group': yamlOf({
    ...head,
    kind: 'EncryptionConfig',
    resources: [rule(['pods'], identity)],
  }),
  'kind/new-without-group': yamlOf({
    ...head,
    apiVersion: 'v1',
    resources: [rule(['pods'], identity)],
  }),
  'kind/beta': yamlOf({
    ...head,
    apiVersion: 'apiserver.config.k8s.io/v1beta1',
    resources: [rule(['pods'], identity)],
  }),
  'kind/admission': yamlOf({ ...head, kind: 'AdmissionConfiguration', plugins: [] }),
  'kind/authorization': yamlOf({ ...head, kind: 'AuthorizationConfiguration' }),
}

export const encryptionCases: readonly ConfigCase[] = casesOf(
  'encryption',
  { 'encryption-provider-config': '$FILE' },
  {
    ...formCases(
      head.apiVersion,
      head.kind,
      'resources: [{"resources":["pods"],"providers":[{"identity":{}}]}]\n',
    ),
    ...table,
  },
)
