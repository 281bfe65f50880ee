/**
 * Watches FlowSchemas and PriorityLevelConfigurations in the cache, and updates API Priority and
 * Fairness with their changes.
 */
import {
  type InformerAccess,
  informByName,
  type NamedObjects,
} from '../../storage/cache/informer-by-name.ts'
import type { Informer } from '../../storage/cache/informer.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { FlowControl } from './flow-control.ts'
import { readSchema } from './flow-schema.ts'
import { readLevel } from './priority-level.ts'

export const flowGroup = 'flowcontrol.apiserver.k8s.io'

export type FlowResource = 'flowschemas' | 'prioritylevelconfigurations'

export type FlowSchemasInformerOptions = {
  /** Returns read access to the objects of a resource. Undefined if the resource is not served. */
  readonly accessOf: (resource: FlowResource) => InformerAccess | undefined
  readonly log: Log
  readonly flowControl: FlowControl
}

export class FlowSchemasInformer implements AsyncDisposable {
  readonly #options: FlowSchemasInformerOptions
  #resources: AsyncDisposable[] = []

  constructor(options: FlowSchemasInformerOptions) {
    this.#options = options
  }

  /** Resolves when all flow schemas and priority levels have been loaded. */
  async start(): Promise<void> {
    const { flowControl } = this.#options
    const informers = [
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
    this.#resources = informers
    await Promise.all(informers.map((one) => one.start()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.flowControl[Symbol.dispose]()
    await Promise.all(this.#resources.map((one) => one[Symbol.asyncDispose]()))
  }

  #follow<T>(resource: FlowResource, objects: NamedObjects<T>): Informer<T>[] {
    const { accessOf, log } = this.#options
    return informByName(
      { name: `${resource}.${flowGroup}`, access: accessOf(resource), log },
      objects,
    )
  }
}
