/**
 * The key of an object: `<root><resource prefix>/[<namespace>/]<name>`. It is the same as in
 * kube-apiserver 1.33, so that both can use one etcd. A key is a string with one character per byte
 * (latin1), which sorts like the bytes in the database. Names are nearly always ASCII, and then do
 * not have to be converted.
 */
import { posix } from 'node:path'
import { assert } from '../lib/errors.ts'
import type { Key } from './engine.ts'

/** A range of keys, from `from` (inclusive) to `to` (exclusive). */
export type KeyRange = { readonly from: Key; readonly to: Key }

export type ObjectName = { readonly namespace: string | undefined; readonly name: string }

/** Built-in resources whose prefix differs from their plural, by `<group>/<resource>`. */
const irregularPrefixes: ReadonlyMap<string, string> = new Map([
  ['/nodes', 'minions'],
  ['/replicationcontrollers', 'controllers'],
  ['/services', 'services/specs'],
  ['/endpoints', 'services/endpoints'],
  ['networking.k8s.io/ingresses', 'ingress'],
  ['apiregistration.k8s.io/apiservices', 'apiregistration.k8s.io/apiservices'],
  [
    'apiextensions.k8s.io/customresourcedefinitions',
    'apiextensions.k8s.io/customresourcedefinitions',
  ],
])

/**
 * Folders (key prefixes) of the server's internal records, relative to the root prefix. No API
 * serves these records, and they are never encrypted.
 */
export const serverRecords = {
  serviceIps: 'ranges/serviceips',
  secondaryServiceIps: 'ranges/secondaryserviceips',
  serviceNodePorts: 'ranges/servicenodeports',
  /**
   * The folder (key prefix) with one key for each advertised address of a server. Each key has a
   * lease.
   */
  masterLeases: 'masterleases',
} as const

/**
 * The marker key with which servers agree which of them compacts. It is not below the root, because
 * all servers of one etcd share it.
 */
export const compactionMarker: Key = 'compact_rev_key'

/**
 * The key that exists while an import into etcd is in progress, and also after an import that was
 * not completed (`transfer/etcd-transfer.ts`).
 */
export const importMarker: Key = 'keelson_import'

/**
 * Returns the folder of a resource: its key prefix relative to the root prefix, without a slash at
 * either end. The events of both API groups share one folder.
 */
export function resourcePrefix(resource: {
  readonly group: string
  readonly plural: string
  readonly isCustom: boolean
}): string {
  if (resource.isCustom) return `${resource.group}/${resource.plural}`
  return irregularPrefixes.get(`${resource.group}/${resource.plural}`) ?? resource.plural
}

/**
 * Returns the group and plural in a key that begins with a group, and undefined for other keys. All
 * custom resources and a few built-in ones have such keys. `path` is the key relative to the root
 * prefix. Only groups have a dot in the first segment.
 */
export function customResourceOf(
  path: string,
): { readonly group: string; readonly plural: string } | undefined {
  const [group = '', plural = ''] = path.split('/', 2)
  return group.includes('.') ? { group, plural } : undefined
}

/**
 * Returns the plural of the resource whose keys have this prefix, relative to the root prefix. The
 * prefix of a custom resource begins with its group.
 */
export function resourceOfFolder(folder: string): string {
  for (const [resource, prefix] of irregularPrefixes)
    if (prefix === folder) return pluralOf(resource)
  return pluralOf(folder)
}

const pluralOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/**
 * Returns the prefix of all keys for a value of --etcd-prefix. It is a clean path with a slash at
 * both ends.
 */
export function rootOf(etcdPrefix: string): Key {
  const path = toKey(posix.join('/', etcdPrefix))
  return path.endsWith('/') ? path : `${path}/`
}

/** The keys of one resource in one control plane. */
export class ResourceKeys {
  /** The prefix of all keys of the resource, which ends with a slash. */
  readonly prefix: Key
  readonly isNamespaced: boolean

  constructor(root: Key, folder: string, isNamespaced: boolean) {
    assert(root.startsWith('/') && root.endsWith('/'), `a root has a slash at both ends: ${root}`)
    this.prefix = `${root}${toKey(folder)}/`
    this.isNamespaced = isNamespaced
  }

  /**
   * Returns the key of an object. The caller must have checked the namespace and the name with
   * `segmentFault`, so that a name cannot leave its folder.
   */
  key(namespace: string | undefined, name: string): Key {
    if (!this.isNamespaced) return this.prefix + segment(name)
    assert(namespace !== undefined, 'a namespaced object has a namespace')
    return `${this.prefix}${segment(namespace)}/${segment(name)}`
  }

  /** Returns the key prefix of one namespace, or of the whole resource. It ends with a slash. */
  folder(namespace?: string): Key {
    return namespace === undefined || !this.isNamespaced
      ? this.prefix
      : `${this.prefix}${segment(namespace)}/`
  }

  range(namespace?: string): KeyRange {
    return rangeOf(this.folder(namespace))
  }

  /** Returns a predicate that matches keys of this resource whose object has this name. */
  hasName(name: string): (key: Key) => boolean {
    const end = `/${toKey(name)}`
    return isSegment(name) ? (key) => key.endsWith(end) : () => false
  }

  /**
   * Returns a predicate that matches keys in this namespace. Objects of a cluster-scoped resource
   * are in the empty namespace.
   */
  hasNamespace(namespace: string): (key: Key) => boolean {
    if (!this.isNamespaced) return () => namespace === ''
    const folder = isSegment(namespace) ? this.folder(namespace) : ''
    return (key) => folder !== '' && key.startsWith(folder)
  }

  /**
   * Returns the name and, if the resource is namespaced, the namespace in a key of this resource.
   * Returns undefined if the key cannot belong to one of its objects.
   */
  parse(key: Key): ObjectName | undefined {
    if (!key.startsWith(this.prefix)) return undefined
    const rest = toText(key.slice(this.prefix.length))
    const slash = rest.indexOf('/')
    const namespace = slash === -1 ? undefined : rest.slice(0, slash)
    const name = rest.slice(slash + 1)
    if ((namespace !== undefined) !== this.isNamespaced || name.includes('/')) return undefined
    return name === '' || namespace === '' ? undefined : { namespace, name }
  }
}

/**
 * Returns kube-apiserver's error message if a text cannot be a name or a namespace in a key.
 * Returns undefined if it can.
 */
export function segmentFault(text: string): string | undefined {
  if (text === '') return 'may not be empty'
  if (text === '.' || text === '..') return `may not be '${text}'`
  if (text.includes('/')) return "may not contain '/'"
  if (text.includes('%')) return "may not contain '%'"
  return undefined
}

/** Returns the range of all keys that begin with the prefix. */
export function rangeOf(prefix: Key): KeyRange {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const byte = prefix.charCodeAt(last)
    if (byte < 0xff)
      return { from: prefix, to: prefix.slice(0, last) + String.fromCharCode(byte + 1) }
  }
  throw new Error('broken invariant: a range of everything has no end')
}

export const rangeOfKey = (key: Key): KeyRange => ({ from: key, to: keyAfter(key) })

/** Returns the smallest key that sorts after this one. */
export const keyAfter = (key: Key): Key => `${key}\0`

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the point.
const ascii = /^[\0-\x7f]*$/

export function toKey(text: string): Key {
  return ascii.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

export function toText(key: Key): string {
  return ascii.test(key) ? key : Buffer.from(key, 'latin1').toString('utf8')
}

export const toBytes = (key: Key): Buffer => Buffer.from(key, 'latin1')

export const fromBytes = (bytes: Buffer): Key => bytes.toString('latin1')

/**
 * Whether a text can be a part of a key. `%` is allowed in keys, although kube-apiserver rejects it
 * in requests because of its meaning in URLs.
 */
function isSegment(text: string): boolean {
  const fault = segmentFault(text)
  return fault === undefined || fault.includes('%')
}

/**
 * Converts a part of a key. The error message is created only for an invalid part, because every
 * read and write calls this function.
 */
function segment(text: string): Key {
  if (!isSegment(text))
    throw new Error(
      `broken invariant: a part of a key ${segmentFault(text)}: ${JSON.stringify(text)}`,
    )
  return toKey(text)
}
