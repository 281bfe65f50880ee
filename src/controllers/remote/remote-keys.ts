import type { RemoteResource } from './remote-content.ts'

/**
 * Prefix of the keys with which controllers identify objects on remote servers. The database has no
 * keys that begin with two slashes.
 */
const root = '//'

export const isRemoteKey = (key: string): boolean => key.startsWith(root)

type ObjectName = { readonly namespace: string | undefined; readonly name: string }

export class RemoteKeys {
  /** Common prefix of all keys, which ends with a slash. */
  readonly prefix: string
  readonly isNamespaced: boolean

  /**
   * The version is part of the prefix, because two versions of a group can belong to two servers
   * with different objects.
   */
  constructor({ group, version, plural, isNamespaced }: RemoteResource) {
    this.prefix = `${root}${group}/${version}/${plural}/`
    this.isNamespaced = isNamespaced
  }

  key(namespace: string | undefined, name: string): string {
    return this.isNamespaced ? `${this.prefix}${namespace ?? ''}/${name}` : this.prefix + name
  }

  /**
   * Returns the namespace and name in a key, or undefined if the key cannot belong to this
   * resource.
   */
  parse(key: string): ObjectName | undefined {
    if (!key.startsWith(this.prefix)) return undefined
    const [first = '', second, ...more] = key.slice(this.prefix.length).split('/')
    if (
      more.length > 0 ||
      (second !== undefined) !== this.isNamespaced ||
      first === '' ||
      second === ''
    )
      return undefined
    return second === undefined
      ? { namespace: undefined, name: first }
      : { namespace: first, name: second }
  }
}
