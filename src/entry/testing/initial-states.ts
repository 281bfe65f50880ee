/**
 * The states of new clusters, with the objects that all clusters begin with, some 200. The first
 * cluster of each configuration creates them, unless the package has them in a file. Later clusters
 * begin with a fork of its state.
 */
import type { Config } from '../../config/config.ts'
import {
  type FirstObjectsOptions,
  parseFirstObjects,
  readFirstObjects,
} from '../../storage/first-objects.ts'
import type { EngineState, MemoryEngine } from '../../storage/memory/memory-engine.ts'
import type { ConfigureOptions } from './configure.ts'
import { waitFor } from './wait-for.ts'
import type { Writes } from './writes.ts'

export type StartOptions = ConfigureOptions & { readonly now?: Date | string }

/**
 * Maximum number of states. Suites use few configurations and times. The oldest state is dropped.
 */
const STATES_MAX = 16

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'] as const

export class InitialStates {
  readonly #states = new Map<string, EngineState>()

  /**
   * Returns the state for these options. Returns undefined if there was no cluster with them yet.
   */
  async get(options: StartOptions, parts: FirstObjectsOptions): Promise<EngineState | undefined> {
    const kept = this.#states.get(nameOf(options))
    if (kept !== undefined || !isUsual(options)) return kept
    const text = readFirstObjects()
    if (text === undefined) return undefined
    const state = await parseFirstObjects(text, parts)
    this.keep(options, state)
    return state
  }

  /** Resolves when controllers have created their objects in the default namespaces. */
  async settled(config: Config, engine: MemoryEngine, writes: Writes): Promise<void> {
    const keys = awaitedKeys(config)
    const areThere = (): boolean => keys.every((key) => engine.peek(key) !== undefined)
    const what = 'the objects that controllers create in the default namespaces'
    await waitFor(areThere, (run) => writes.onNext(run), { what })
  }

  /**
   * Keeps a state for later clusters. Call it before a test writes, but as late as possible: then
   * less is left to do for the next cluster.
   */
  keep(options: StartOptions, state: EngineState): void {
    this.#states.set(nameOf(options), state)
    const [oldest] = this.#states.keys()
    if (this.#states.size > STATES_MAX && oldest !== undefined) this.#states.delete(oldest)
  }
}

/** Whether the file of the package has the objects of a cluster with these options. */
const isUsual = ({ flags = [], controllers = true }: StartOptions): boolean =>
  flags.length === 0 && controllers === true

/**
 * Returns the key of a state. It includes the time, because objects were created at the time that
 * the clock showed.
 */
const nameOf = ({ flags = [], controllers = true, now }: StartOptions): string =>
  JSON.stringify([flags, controllers, now ?? null])

function awaitedKeys({ controllers: { names }, storage: { prefix } }: Config): string[] {
  const perNamespace = [
    ...(names.includes('serviceaccount-controller') ? ['serviceaccounts/*/default'] : []),
    ...(names.includes('root-ca-certificate-publisher-controller')
      ? ['configmaps/*/kube-root-ca.crt']
      : []),
  ]
  return namespaces.flatMap((namespace) =>
    perNamespace.map((key) => `${prefix}/${key.replace('*', namespace)}`),
  )
}
