import type { RemoteResource } from './remote-content.ts'

/**
 * Names of the objects of one remote resource among all that a controller knows. No key of the
 * database has two slashes at its beginning.
 */
const root = '//'

export const isRemoteKey = (key: string): boolean => key.startsWith(root)

type ObjectName = { readonly namespace: string | undefined; readonly name: string }

export class RemoteKeys {
  /** Ends in a slash. */
  readonly prefix: string
  readonly isNamespaced: boolean

  /** Two versions of a group may be two servers with other objects. */
  constructor({ group, version, plural, isNamespaced }: RemoteResource) {
    this.prefix = `${root}${group}/${version}/${plural}/`
    this.isNamespaced = isNamespaced
  }

  key(namespace: string | undefined, name: string): string {
    return this.isNamespaced ? `${this.prefix}${namespace ?? ''}/${name}` : this.prefix + name
  }

  /** Undefined for a key that cannot be one of its objects. */
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
