/** An informer of a cluster-scoped resource, for a consumer that stores the objects by name. */
import type { KubeObject } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { ResourceKeys } from '../keys.ts'
import { Informer } from './informer.ts'
import type { ObjectReader } from './reader.ts'

/** The keys and the reader of a resource, which an informer needs. */
export type InformerAccess = {
  readonly keys: ResourceKeys
  readonly reader: Pick<ObjectReader, 'list' | 'watch'>
}

export type NamedObjects<T> = {
  /**
   * Returns the content of an object that the consumer stores. For a large object, this function
   * runs in parts (lib/scheduling/parts.ts).
   */
  readonly read: (object: KubeObject) => T
  /**
   * Sets the content of an object. `content` is undefined if the object was deleted. If there is no
   * function `unreadable`, `content` is also undefined if the object cannot be decoded.
   */
  readonly set: (name: string, content: T | undefined) => void
  /** Called when an object cannot be decoded. */
  readonly unreadable?: (name: string) => void
  /** Returns the names of all objects passed to `set`. */
  readonly names: () => Iterable<string>
}

/**
 * Returns a list with the informer, or an empty list if the resource is not served. `name` is the
 * name of the resource in log messages.
 */
export function informByName<T>(
  {
    name,
    access,
    log,
  }: { readonly name: string; readonly access: InformerAccess | undefined; readonly log: Log },
  { read, set, unreadable, names }: NamedObjects<T>,
): Informer<T>[] {
  if (access === undefined) return []
  const { keys, reader } = access
  const nameOf = (key: string): string => key.slice(keys.prefix.length)
  const informer = new Informer<T>({
    name,
    reader,
    range: keys.range(),
    read: (item) => read(item.peek()),
    readLarge: read,
    set: (key, content) => set(nameOf(key), content),
    ...(unreadable === undefined ? {} : { unreadable: (key) => unreadable(nameOf(key)) }),
    *known() {
      for (const known of names()) yield keys.key(undefined, known)
    },
    log,
  })
  return [informer]
}
