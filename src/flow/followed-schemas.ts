/** The classifier, kept current by watches of the cache. */
import { type FollowedAccess, followByName, type NamedObjects } from '../cache/follow-by-name.ts'
import type { FollowedResource } from '../cache/followed-resource.ts'
import type { Log } from '../lib/log.ts'
import type { Counter } from '../lib/metrics.ts'
import { Classifier } from './classifier.ts'
import { readSchema } from './flow-schema.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'

export type FlowResource = 'flowschemas' | 'prioritylevelconfigurations'

export type FollowedSchemasParts = {
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: FlowResource) => FollowedAccess | undefined
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

  #follow<T>(resource: FlowResource, objects: NamedObjects<T>): FollowedResource<T>[] {
    const { accessOf, log } = this.#parts
    return followByName({ name: `${resource}.${flowGroup}`, access: accessOf(resource), log }, objects)
  }
}
