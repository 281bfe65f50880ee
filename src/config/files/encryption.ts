/**
 * Reads the file of `--encryption-provider-config`, which defines the resources to encrypt at rest,
 * and the providers and keys to use. Its kind is EncryptionConfiguration
 * (apiserver.config.k8s.io/v1), or EncryptionConfig (v1) in old files.
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { describeFaults } from '../../api/aggregate.ts'
import { type FieldFault, invalidShown, invalidValue, required } from '../../api/field-fault.ts'
import type { Gates } from '../../api/gates.ts'
import { goPointer, goStrings, goStruct } from '../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  numberOf,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { parseGoUrl } from '../../api/url.ts'
import { parseDuration } from '../../lib/time/duration.ts'
import {
  type ConfigFileType,
  type FileRead,
  readConfigFile,
  rereadConfigFile,
} from './config-file.ts'
import { encryptionScheme } from './schemes.ts'

/** The default timeout and the default number of cached keys, as in kube-apiserver. */
const KMS_TIMEOUT_MS_DEFAULT = 3_000
const KMS_KEYS_MAX_DEFAULT = 1_000

const AES_KEY_BYTES = [16, 24, 32]
const SECRETBOX_KEY_BYTES = [32]

/**
 * A rule of the file. If several rules name a resource, their providers are combined in the order
 * of the rules.
 */
export type EncryptionRule = {
  readonly resources: readonly string[]
  readonly providers: readonly EncryptionProvider[]
}

export type EncryptionProvider =
  | { readonly kind: 'identity' }
  | { readonly kind: KeyedKind; readonly keys: readonly EncryptionKey[] }
  | KmsProvider

type KeyedKind = 'aescbc' | 'aesgcm' | 'secretbox'

/**
 * A key. Its secret is a KeyObject instead of a string, so that it does not appear in logs or heap
 * snapshots.
 */
export type EncryptionKey = { readonly name: string; readonly secret: KeyObject }

export type KmsProvider = {
  readonly kind: 'kms'
  readonly version: 'v1' | 'v2'
  readonly name: string
  /** Path of the Unix socket. `@name` is an abstract socket. */
  readonly path: string
  readonly timeoutMs: number
  /**
   * Number of keys to cache. Only KMS v1 supports this setting. If the number is negative, no keys
   * are cached.
   */
  readonly keysMax: number
}

export type EncryptionOptions = {
  readonly path: string
  readonly gates: Gates
  /**
   * Whether the file is reloaded when it changes. If it is, the names of KMS providers must be
   * unique.
   */
  readonly isReloaded: boolean
}

/** Reads the file at startup. As in kube-apiserver, an error message names the step that failed. */
export const readEncryptionConfiguration = (
  bytes: Buffer,
  options: EncryptionOptions,
): FileRead<readonly EncryptionRule[]> =>
  built(readConfigFile(bytes, fileType(options)), bytes, options)

/** Reads the file again while the server runs, without blocking the event loop. */
export const rereadEncryptionConfiguration = async (
  bytes: Buffer,
  options: EncryptionOptions,
): Promise<FileRead<readonly EncryptionRule[]>> =>
  built(await rereadConfigFile(bytes, fileType(options)), bytes, options)

function built(
  read: FileRead<readonly EncryptionRule[]>,
  bytes: Buffer,
  { path, gates }: EncryptionOptions,
): FileRead<readonly EncryptionRule[]> {
  if ('fault' in read)
    return { ...read, fault: `error while parsing file: ${readFault(read, bytes, path)}` }
  const fault = ruleFault(read.value, gates)
  return fault === undefined ? read : { fault: `error while building transformers: ${fault}` }
}

function readFault(
  { fault, stage }: { readonly fault: string; readonly stage?: 'decoding' },
  bytes: Buffer,
  path: string,
): string {
  const file = `encryption provider configuration file ${JSON.stringify(path)}`
  if (bytes.length === 0) return `error while loading file: ${file} is empty`
  if (stage !== 'decoding' || fault.startsWith(unexpectedType)) return fault
  return `error decoding ${file}: ${withoutSecrets(fault, bytes)}`
}

const unexpectedType = 'got unexpected config type'

/**
 * Removes the contents of the file from an error message. kube-apiserver's message for a file
 * without a kind includes the contents of the file, with any encryption keys.
 */
const withoutSecrets = (fault: string, bytes: Buffer): string =>
  /secret["']?[ \t]*:/i.test(bytes.toString('utf8'))
    ? fault.replace(/^(Object '\w+' is missing) in '[\s\S]*$/, '$1')
    : fault

const fileType = ({
  isReloaded,
}: EncryptionOptions): ConfigFileType<readonly EncryptionRule[]> => ({
  scheme: encryptionScheme,
  kind: 'EncryptionConfiguration',
  unexpected: (hubName) =>
    `${unexpectedType}: apiserver.config.k8s.io/v1, Kind=${hubName.slice(hubName.indexOf('.') + 1)}`,
  read: ({ resources }) => checkRules(itemsOf(resources), isReloaded),
})

function checkRules(
  items: readonly Fields[],
  isReloaded: boolean,
): FileRead<readonly EncryptionRule[]> {
  if (items.length === 0)
    return { fault: describeFaults([required('resources', 'at least one resources is required')]) }
  const invalidTimeout = items.flatMap(({ providers }) => itemsOf(providers)).map(timeoutFault)
  const decoding = invalidTimeout.find((fault) => fault !== undefined)
  if (decoding !== undefined) return { fault: decoding, stage: 'decoding' }
  const names = new Set<string>()
  const faults: FieldFault[] = []
  const rules = items.map((item, at): EncryptionRule => {
    const path = `resources[${at}]`
    const resources = textsOf(item['resources'])
    if (resources.length === 0) faults.push(noneOf(`${path}.resources`))
    faults.push(
      ...overlapFaults(resources, `${path}.resources`),
      ...nameFaults(resources, `${path}.resources`),
    )
    const given = itemsOf(item['providers'])
    if (given.length === 0) faults.push(noneOf(`${path}.providers`))
    const providers = given.flatMap((provider, place) => {
      const checked = checkProvider(provider, `${path}.providers[${place}]`, { names, isReloaded })
      faults.push(...checked.faults)
      return checked.provider === undefined ? [] : [checked.provider]
    })
    return { resources: resources.map(canonical), providers }
  })
  return faults.length > 0 ? { fault: describeFaults(faults) } : { value: rules }
}

const noneOf = (path: string): FieldFault => required(path, `at least one ${path} is required`)

function timeoutFault({ kms }: Fields): string | undefined {
  const timeout = fieldsOf(kms)['timeout']
  const parsed = timeout === undefined ? undefined : parseDuration(textOf(timeout))
  return parsed !== undefined && 'fault' in parsed ? parsed.fault : undefined
}

type GroupResource = { readonly group: string; readonly resource: string }

/** Splits a name such as `deployments.apps` or `*.`. The part after the first dot is the group. */
function parseName(name: string): GroupResource {
  const dot = name.indexOf('.')
  return dot === -1
    ? { group: '', resource: name }
    : { group: name.slice(dot + 1), resource: name.slice(0, dot) }
}

/** Normalizes a name, such as `secrets.` to `secrets`. Rules are looked up by normalized names. */
function canonical(name: string): string {
  const { group, resource } = parseName(name)
  if (group !== '') return `${resource}.${group}`
  return resource === '*' ? '*.' : resource
}

const isEverything = ({ group, resource }: GroupResource): boolean =>
  group === '*' && resource === '*'

/**
 * Returns the errors about names in a list that occur twice, or that apply to the same resource.
 */
function overlapFaults(names: readonly string[], path: string): FieldFault[] {
  const parsed = names.map(parseName)
  const counts = new Map<string, number>()
  const resourcesOf = new Map<string, number>()
  for (const { group, resource } of parsed) {
    const whole = `${resource}.${group}`
    counts.set(whole, (counts.get(whole) ?? 0) + 1)
    resourcesOf.set(group, (resourcesOf.get(group) ?? 0) + 1)
  }
  const faults: FieldFault[] = []
  if ([...counts.values()].some((count) => count > 1)) {
    faults.push(
      invalidShown(path, goStrings(names), 'the same resource cannot be specified multiple times'),
    )
  }
  const overlaps = parsed.some((one) =>
    isEverything(one)
      ? parsed.length > 1
      : one.resource === '*' && (resourcesOf.get(one.group) ?? 0) > 1,
  )
  if (overlaps) {
    const why =
      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
    faults.push(invalidShown(path, goStrings(names), why))
  }
  return faults
}

/** Internal records of the server. They are never encrypted, because they have no REST API. */
const serverRecords: readonly string[] = [
  'apiserveripinfo',
  'serviceipallocations',
  'servicenodeportallocations',
]

function nameFaults(names: readonly string[], path: string): FieldFault[] {
  return names.flatMap((name, at) => {
    const why = nameFault(name)
    return why === undefined ? [] : [invalidValue(`${path}[${at}]`, name, why)]
  })
}

function nameFault(name: string): string | undefined {
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters'
  if (name === '*') {
    return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  }
  if (serverRecords.includes(name))
    return 'resources which do not have REST API/s cannot be encrypted'
  const { group, resource } = parseName(name)
  if (group === 'events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
  }
  if (group === 'extensions')
    return "'extensions' group has been removed and cannot be used for encryption"
  if (group === '*' && resource !== '*')
    return 'encrypting the same resource across groups is not supported'
  return undefined
}

type ProviderContext = { readonly names: Set<string>; readonly isReloaded: boolean }

type CheckedProvider = {
  readonly provider: EncryptionProvider | undefined
  readonly faults: readonly FieldFault[]
}

function checkProvider(fields: Fields, path: string, context: ProviderContext): CheckedProvider {
  const faults = [...countFaults(fields, path)]
  const { kms, aesgcm, aescbc, secretbox } = fields
  const keyed = (kind: KeyedKind, given: Fields, sizes: readonly number[]): CheckedProvider => {
    const { keys, faults: more } = checkKeys(itemsOf(given['keys']), `${path}.${kind}.keys`, sizes)
    return { provider: { kind, keys }, faults: [...faults, ...more] }
  }
  if (isFields(kms)) {
    const checked = checkKms(kms, `${path}.kms`, context)
    return { provider: checked.provider, faults: [...faults, ...checked.faults] }
  }
  if (isFields(aesgcm)) return keyed('aesgcm', aesgcm, AES_KEY_BYTES)
  if (isFields(aescbc)) return keyed('aescbc', aescbc, AES_KEY_BYTES)
  if (isFields(secretbox)) return keyed('secretbox', secretbox, SECRETBOX_KEY_BYTES)
  return { provider: { kind: 'identity' }, faults }
}

/** Validates that a provider in the list configures exactly one provider type. */
function countFaults(fields: Fields, path: string): FieldFault[] {
  const names = ['aesgcm', 'aescbc', 'secretbox', 'identity', 'kms']
  const count = names.filter((name) => isFields(fields[name])).length
  if (count === 1) return []
  const shown = goStruct('apiserver.ProviderConfiguration', {
    AESGCM: goPointer('apiserver.AESConfiguration', isFields(fields['aesgcm'])),
    AESCBC: goPointer('apiserver.AESConfiguration', isFields(fields['aescbc'])),
    Secretbox: goPointer('apiserver.SecretboxConfiguration', isFields(fields['secretbox'])),
    Identity: goPointer('apiserver.IdentityConfiguration', isFields(fields['identity'])),
    KMS: goPointer('apiserver.KMSConfiguration', isFields(fields['kms'])),
  })
  const why =
    count === 0
      ? 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'
      : 'more than one provider specified in a single element, should split into different list elements'
  return [invalidShown(path, shown, why)]
}

type CheckedKeys = {
  readonly keys: readonly EncryptionKey[]
  readonly faults: readonly FieldFault[]
}

function checkKeys(items: readonly Fields[], path: string, sizes: readonly number[]): CheckedKeys {
  if (items.length === 0)
    return { keys: [], faults: [required(path, 'at least one keys is required')] }
  const faults: FieldFault[] = []
  const keys = items.flatMap((item, at): EncryptionKey[] => {
    const name = textOf(item['name'])
    if (name === '')
      faults.push(required(`${path}[${at}].name`, 'name is a mandatory field for a key'))
    const secret = readSecret(textOf(item['secret']), sizes)
    if (!('fault' in secret)) return [{ name, secret: secret.key }]
    const where = `${path}[${at}].secret`
    faults.push(
      secret.isMissing
        ? required(where, secret.fault)
        : invalidValue(where, 'REDACTED', secret.fault),
    )
    return []
  })
  return { keys, faults }
}

type ReadSecret =
  | { readonly key: KeyObject }
  | { readonly fault: string; readonly isMissing: boolean }

function readSecret(text: string, sizes: readonly number[]): ReadSecret {
  if (text === '') return { fault: 'secret is a mandatory field for a key', isMissing: true }
  // As in Go, base64 text can contain line breaks anywhere and must be padded.
  const digits = text.replace(/[\r\n]/g, '')
  if (digits.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(digits)) {
    return { fault: 'secrets must be base64 encoded', isMissing: false }
  }
  const bytes = Buffer.from(digits, 'base64')
  if (sizes.includes(bytes.length)) return { key: createSecretKey(bytes) }
  const expected = `expected one of [${sizes.join(' ')}]`
  return {
    fault: `secret is not of the expected length, got ${bytes.length}, ${expected}`,
    isMissing: false,
  }
}

function checkKms(
  kms: Fields,
  path: string,
  { names, isReloaded }: ProviderContext,
): CheckedProvider {
  const version = kms['apiVersion'] === undefined ? 'v1' : textOf(kms['apiVersion']) || 'v1'
  const name = textOf(kms['name'])
  const faults = [
    ...kmsNameFaults(name, `${path}.name`, {
      isUnique: isReloaded || version !== 'v1',
      version,
      names,
    }),
  ]
  names.add(name)
  const parsed = kms['timeout'] === undefined ? undefined : parseDuration(textOf(kms['timeout']))
  const timeoutMs = parsed === undefined || 'fault' in parsed ? KMS_TIMEOUT_MS_DEFAULT : parsed.ms
  if (timeoutMs <= 0) {
    const shown = `v1.Duration{Duration:${Math.round(timeoutMs * 1e6)}}`
    faults.push(invalidShown(`${path}.timeout`, shown, 'timeout should be a positive value'))
  }
  const endpoint = textOf(kms['endpoint'])
  faults.push(...endpointFaults(endpoint, `${path}.endpoint`))
  const given = kms['cachesize']
  const keysMax = given === undefined ? KMS_KEYS_MAX_DEFAULT : numberOf(given)
  if (version !== 'v1' && given !== undefined) {
    faults.push(invalidValue(`${path}.cachesize`, keysMax, 'cachesize is not supported in v2'))
  }
  if (version === 'v1' && keysMax === 0) {
    const why = 'cachesize should be a positive value, or negative to disable'
    faults.push(invalidValue(`${path}.cachesize`, keysMax, why))
  }
  if (version !== 'v1' && version !== 'v2') {
    const why = 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported'
    return {
      provider: undefined,
      faults: [...faults, invalidValue(`${path}.apiVersion`, version, why)],
    }
  }
  return {
    provider: { kind: 'kms', version, name, path: socketOf(endpoint), timeoutMs, keysMax },
    faults,
  }
}

type NameContext = {
  readonly isUnique: boolean
  readonly version: string
  readonly names: ReadonlySet<string>
}

function kmsNameFaults(
  name: string,
  path: string,
  { isUnique, version, names }: NameContext,
): FieldFault[] {
  const faults: FieldFault[] = []
  if (name === '') faults.push(required(path, 'name is a mandatory field for a provider'))
  if (version !== 'v1' && name.includes(':')) {
    faults.push(invalidValue(path, name, `invalid KMS provider name ${name}, must not contain ':'`))
  }
  if (isUnique && names.has(name)) {
    faults.push(
      invalidValue(path, name, `duplicate KMS provider name ${name}, names must be unique`),
    )
  }
  return faults
}

function endpointFaults(endpoint: string, path: string): FieldFault[] {
  if (endpoint === '') return [invalidValue(path, '', 'endpoint is a mandatory field for a kms')]
  const parsed = parseGoUrl(endpoint)
  if ('fault' in parsed) {
    return [
      invalidValue(path, endpoint, `invalid endpoint for kms provider, error: ${parsed.fault}`),
    ]
  }
  if (parsed.scheme === 'unix') return []
  const why = `unsupported scheme ${JSON.stringify(parsed.scheme)} for KMS provider, only unix is supported`
  return [invalidValue(path, endpoint, why)]
}

/** Returns the path `/run/kms.sock` of `unix:///run/kms.sock`, or `@name` of `unix:///@name`. */
function socketOf(endpoint: string): string {
  const path = decodePath(endpoint.replace(/^unix:(\/\/[^/]*)?/, ''))
  return path.startsWith('/@') ? path.slice(1) : path
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // The endpoint is not a valid URL, which `endpointFaults` has already reported.
    return path
  }
}

/**
 * Returns the error that kube-apiserver finds only when it creates the encryption providers, or
 * undefined if there is none.
 */
function ruleFault(rules: readonly EncryptionRule[], gates: Gates): string | undefined {
  const earlier = new Set<string>()
  for (const { resources, providers } of rules) {
    if (
      providers.some((one) => one.kind === 'kms' && one.version === 'v1') &&
      !gates.isOn('KMSv1')
    ) {
      const advice =
        'Use KMSv2 instead.  Set --feature-gates=KMSv1=true to use the deprecated KMSv1 feature.'
      return `KMSv1 is deprecated and will only receive security updates going forward. ${advice}`
    }
    for (const name of resources) {
      const { group } = parseName(name)
      const mask = [`*.${group}`, '*.*'].find((wildcard) => earlier.has(wildcard))
      if (mask !== undefined)
        return `resource ${JSON.stringify(name)} is masked by earlier rule ${JSON.stringify(mask)}`
    }
    for (const name of resources) earlier.add(name)
  }
  return undefined
}
