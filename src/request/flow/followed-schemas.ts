/** Flow control, kept current by watches of the cache. */
import {
  type FollowedAccess,
  followByName,
  type NamedObjects,
} from '../../storage/cache/follow-by-name.ts'
import type { FollowedResource } from '../../storage/cache/followed-resource.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { FlowControl } from './flow-control.ts'
import { readSchema } from './flow-schema.ts'
import { readLevel } from './priority-level.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'

export type FlowResource = 'flowschemas' | 'prioritylevelconfigurations'

export type FollowedSchemasParts = {
  /** Undefined: the resource is not served. */
  readonly accessOf: (resource: FlowResource) => FollowedAccess | undefined
  readonly log: Log
  readonly flowControl: FlowControl
}

export class FollowedSchemas implements AsyncDisposable {
  readonly #parts: FollowedSchemasParts
  #resources: AsyncDisposable[] = []

  constructor(parts: FollowedSchemasParts) {
    this.#parts = parts
  }

  /** Resolves when all schemas and levels are known. */
  async start(): Promise<void> {
    const { flowControl } = this.#parts
    const followed = [
      ...this.#follow('prioritylevelconfigurations', {
        read: readLevel,
        set: (name, level) => flowControl.setLevel(name, level),
        names: () => flowControl.names('levels'),
      }),
      ...this.#follow('flowschemas', {
        read: readSchema,
        set: (name, schema) => flowControl.setSchema(name, schema),
        names: () => flowControl.names('schemas'),
      }),
    ]
    this.#resources = followed
    await Promise.all(followed.map((one) => one.start()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.flowControl[Symbol.dispose]()
    await Promise.all(this.#resources.map((one) => one[Symbol.asyncDispose]()))
  }

  #follow<T>(resource: FlowResource, objects: NamedObjects<T>): FollowedResource<T>[] {
    const { accessOf, log } = this.#parts
    return followByName(
      { name: `${resource}.${flowGroup}`, access: accessOf(resource), log },
      objects,
    )
  }
}
