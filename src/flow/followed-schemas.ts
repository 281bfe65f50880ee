/** The classifier, kept current by watches of the cache. */
import { FollowedResource } from '../cache/followed-resource.ts'
import type { Item } from '../cache/item.ts'
import type { ObjectReader } from '../cache/reader.ts'
import type { Log } from '../lib/log.ts'
import type { Counter } from '../lib/metrics.ts'
import type { ResourceKeys } from '../storage/keys.ts'
import { Classifier } from './classifier.ts'
import { readSchema } from './flow-schema.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'

export type FlowResource = 'flowschemas' | 'prioritylevelconfigurations'
export type FlowAccess = { readonly keys: ResourceKeys; readonly reader: Pick<ObjectReader, 'list' | 'watch'> }

export type FollowedSchemasParts = {
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: FlowResource) => FlowAccess | undefined
  readonly log: Log
  /** Requests that were begun, by schema and level. */
  readonly dispatched: Counter
}

export class FollowedSchemas implements AsyncDisposable {
  readonly classifier: Classifier
  readonly #parts: FollowedSchemasParts
  #resources: AsyncDisposable[] = []

  constructor(parts: FollowedSchemasParts) {
    this.#parts = parts
    this.classifier = new Classifier(parts.dispatched)
  }

  /** Resolves when all schemas and levels are known. */
  async start(): Promise<void> {
    const { classifier } = this
    const followed = [
      ...this.#follow('prioritylevelconfigurations', {
        read: (item) => item.peek().metadata.uid ?? '',
        set: (name, uid) => classifier.setLevel(name, uid),
        names: () => classifier.names('levels'),
      }),
      ...this.#follow('flowschemas', {
        read: (item) => readSchema(item.peek()),
        set: (name, schema) => classifier.setSchema(name, schema),
        names: () => classifier.names('schemas'),
      }),
    ]
    this.#resources = followed
    await Promise.all(followed.map((one) => one.start()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#resources.map((one) => one[Symbol.asyncDispose]()))
  }

  #follow<T>(resource: FlowResource, { read, set, names }: Source<T>): FollowedResource<T>[] {
    const { accessOf, log } = this.#parts
    const access = accessOf(resource)
    if (access === undefined) return []
    const { keys, reader } = access
    const followed = new FollowedResource<T>({
      name: `${resource}.${flowGroup}`,
      reader,
      range: keys.range(),
      read,
      set: (key, content) => set(key.slice(keys.prefix.length), content),
      *known() {
        for (const name of names()) yield keys.key(undefined, name)
      },
      log,
    })
    return [followed]
  }
}

type Source<T> = {
  readonly read: (item: Item) => T
  readonly set: (name: string, content: T | undefined) => void
  readonly names: () => Iterable<string>
}
