/**
 * The states from which clusters start. They contain the roughly 200 objects that every cluster
 * has. The first cluster with certain options creates these objects, unless a file in the package
 * contains them. Later clusters with the same options start with a copy of its state.
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
 * Maximum number of states. Test suites use few configurations and times. When the limit is
 * exceeded, the oldest state is dropped.
 */
const STATES_MAX = 16

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'] as const

export class InitialStates {
  readonly #states = new Map<string, EngineState>()

  /**
   * Returns the state for these options, or undefined if there was no cluster with these options
   * yet.
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

  /**
   * Waits until controllers have created the objects that the default namespaces always contain.
   */
  async settled(config: Config, engine: MemoryEngine, writes: Writes): Promise<void> {
    const keys = awaitedKeys(config)
    const areThere = (): boolean => keys.every((key) => engine.peek(key) !== undefined)
    const what = 'the objects that controllers create in the default namespaces'
    await waitFor(areThere, { onWrite: (run) => writes.onNext(run), explain: () => [] }, { what })
  }

  /**
   * Stores the state of a cluster for later clusters. Call this before the test writes, but as late
   * as possible: the more objects the state contains, the less a later cluster has to create.
   */
  keep(options: StartOptions, state: EngineState): void {
    this.#states.set(nameOf(options), state)
    const [oldest] = this.#states.keys()
    if (this.#states.size > STATES_MAX && oldest !== undefined) this.#states.delete(oldest)
  }
}

/**
 * Whether a cluster with these options can use the initial objects from the file in the package.
 */
const isUsual = ({ kubernetes, flags = [], controllers = true }: StartOptions): boolean =>
  kubernetes === undefined && flags.length === 0 && controllers === true

/**
 * Returns the key of a state. The key includes the time, because objects contain the time of their
 * creation.
 */
const nameOf = ({ kubernetes, flags = [], controllers = true, now }: StartOptions): string =>
  JSON.stringify([kubernetes ?? null, flags, controllers, now ?? null])

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
