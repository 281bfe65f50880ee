/** Follows a cluster-scoped resource for somebody who holds its objects by name. */
import type { KubeObject } from '../../api/object.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { ResourceKeys } from '../keys.ts'
import { Informer } from './informer.ts'
import type { ObjectReader } from './reader.ts'

/** What following needs of a resource. */
export type InformerAccess = {
  readonly keys: ResourceKeys
  readonly reader: Pick<ObjectReader, 'list' | 'watch'>
}

export type NamedObjects<T> = {
  /** What is held of an object. Can be divided: large objects are read in parts. */
  readonly read: (object: KubeObject) => T
  /** Undefined: the object was deleted; without `unreadable` also: it cannot be decoded. */
  readonly set: (name: string, content: T | undefined) => void
  /** The object cannot be decoded. */
  readonly unreadable?: (name: string) => void
  /** Of all objects that were reported. */
  readonly names: () => Iterable<string>
}

/** `name`: of the resource, for the log. Empty if the resource is not served. */
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
