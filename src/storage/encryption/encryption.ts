/**
 * Encryption at rest. Determines the resource of a key, and passes the value to the providers that
 * are configured for the resource. The configuration can be replaced while the server runs.
 */
import type { Key } from '../engine.ts'
import { identity, type Plain, type Transformer } from '../transform.ts'
import type { TransformationMetrics } from './metrics.ts'
import { OwnWrites } from './own-writes.ts'
import { ProviderList, type Providers } from './provider-list.ts'

export type StoredResource = { readonly group: string; readonly resource: string }

/**
 * Providers by `resource.group` as in the configuration: `secrets`, `deployments.apps`, `*.apps`,
 * `*.` and `*.*`.
 */
export type ProvidersByResource = ReadonlyMap<string, Providers>

export type EncryptionOptions = {
  /** The prefix of all keys. */
  readonly root: Key
  /**
   * Returns the built-in resource for a folder (a key prefix relative to the root prefix). Returns
   * undefined for custom resources, and for internal records of the server, which are never
   * encrypted.
   */
  readonly resourceOf: (folder: string) => StoredResource | undefined
  readonly metrics?: TransformationMetrics | undefined
}

export class Encryption implements Transformer {
  readonly #root: Key
  readonly #resourceOf: EncryptionOptions['resourceOf']
  readonly #metrics: TransformationMetrics | undefined
  readonly #own = new OwnWrites()
  #providers: ProvidersByResource
  /**
   * Transformers by folder (key prefix relative to the root prefix). There is one for each
   * resource.
   */
  #byFolder = new Map<string, Transformer>()

  constructor(providers: ProvidersByResource, { root, resourceOf, metrics }: EncryptionOptions) {
    this.#providers = providers
    this.#root = root
    this.#resourceOf = resourceOf
    this.#metrics = metrics
  }

  /**
   * Replaces the providers. Returns a function that reports whether either the old or the new
   * providers could have encrypted the values below a prefix.
   */
  replace(providers: ProvidersByResource): (prefix: Key) => boolean {
    const before = this.#byFolder
    this.#providers = providers
    this.#byFolder = new Map()
    // Forget the plaintext of written values. Otherwise a value that was written with a removed key
    // would seem to be readable.
    this.#own.clear()
    return (prefix) =>
      (before.get(this.#folderOf(prefix)) ?? identity) !== identity || this.#of(prefix) !== identity
  }

  canBeStale(key: Key): boolean {
    return this.#of(key).canBeStale(key)
  }

  toStorage(key: Key, plain: Buffer): Buffer | Promise<Buffer> {
    const sealed = this.#of(key).toStorage(key, plain)
    if (sealed instanceof Promise) return this.#keepLater(key, sealed, plain)
    // Remember only encrypted values, because other values need no decryption when the event feed
    // delivers them.
    if (sealed !== plain) this.#own.keep(key, sealed, plain)
    return sealed
  }

  async #keepLater(key: Key, sealing: Promise<Buffer>, plain: Buffer): Promise<Buffer> {
    const providers = this.#providers
    const sealed = await sealing
    if (providers === this.#providers) this.#own.keep(key, sealed, plain)
    return sealed
  }

  fromStorage(key: Key, stored: Buffer): Plain | Promise<Plain> {
    return this.#of(key).fromStorage(key, stored)
  }

  takeOwn(key: Key, stored: Buffer): Buffer | undefined {
    return this.#own.take(key, stored)
  }

  #of(key: Key): Transformer {
    const folder = this.#folderOf(key)
    return this.#byFolder.get(folder) ?? this.#find(folder)
  }

  /**
   * Returns the folder of a resource, which is the part of the key between the root prefix and the
   * namespace or name. The folders of API groups, and `services`, contain one folder for each
   * resource.
   */
  #folderOf(key: Key): string {
    const from = this.#root.length
    const first = key.indexOf('/', from)
    const folder = first === -1 ? key.slice(from) : key.slice(from, first)
    if (first === -1 || !isNested(folder)) return folder
    const second = key.indexOf('/', first + 1)
    return second === -1 ? key.slice(from) : key.slice(from, second)
  }

  #find(folder: string): Transformer {
    const found = this.#resourceOf(folder) ?? customResourceOf(folder)
    const transformer = found === undefined ? identity : this.#transformerOf(found)
    this.#byFolder.set(folder, transformer)
    return transformer
  }

  #transformerOf(resource: StoredResource): Transformer {
    const providers = providersOf(this.#providers, resource)
    return providers === undefined
      ? identity
      : new ProviderList(providers, this.#metrics?.meterOf(nameOf(resource)))
  }
}

/**
 * Whether a folder (key prefix) contains one folder for each resource. This is the case for
 * `services`, and for API groups whose name contains a dot.
 */
const isNested = (folder: string): boolean => folder.includes('.') || folder === 'services'

function customResourceOf(folder: string): StoredResource | undefined {
  const slash = folder.indexOf('/')
  const group = folder.slice(0, slash)
  return slash > 0 && group.includes('.') ? { group, resource: folder.slice(slash + 1) } : undefined
}

const nameOf = ({ group, resource }: StoredResource): string =>
  group === '' ? resource : `${resource}.${group}`

/** Returns the providers of the most specific rule that matches a resource. */
const providersOf = (
  providers: ProvidersByResource,
  resource: StoredResource,
): Providers | undefined =>
  providers.get(nameOf(resource)) ?? providers.get(`*.${resource.group}`) ?? providers.get('*.*')
