/**
 * The state that a new cluster has once everything is there that clusters begin with: some 200
 * objects. The first cluster of each configuration creates them, or the package has them in a file;
 * the next ones begin with a fork of its state.
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

/** Suites have a few configurations and times: the oldest state is forgotten. */
const STATES_MAX = 16

const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'] as const

export class InitialStates {
  readonly #states = new Map<string, EngineState>()

  /** Undefined: there was no cluster with these options yet. */
  async get(options: StartOptions, parts: FirstObjectsOptions): Promise<EngineState | undefined> {
    const kept = this.#states.get(nameOf(options))
    if (kept !== undefined || !isUsual(options)) return kept
    const text = readFirstObjects()
    if (text === undefined) return undefined
    const state = await parseFirstObjects(text, parts)
    this.keep(options, state)
    return state
  }

  /** Resolves when controllers have created what they do in the first namespaces. */
  async settled(config: Config, engine: MemoryEngine, writes: Writes): Promise<void> {
    const keys = awaitedKeys(config)
    const areThere = (): boolean => keys.every((key) => engine.peek(key) !== undefined)
    const what = 'what controllers create in the first namespaces'
    await waitFor(areThere, (run) => writes.onNext(run), { what })
  }

  /** To be called before a test writes: the later, the less is left to do for the next cluster. */
  keep(options: StartOptions, state: EngineState): void {
    this.#states.set(nameOf(options), state)
    const [oldest] = this.#states.keys()
    if (this.#states.size > STATES_MAX && oldest !== undefined) this.#states.delete(oldest)
  }
}

/** Whether the file of the package is about such a cluster. */
const isUsual = ({ flags = [], controllers = true }: StartOptions): boolean =>
  flags.length === 0 && controllers === true

/** Its objects have been created at the time that the clock showed. */
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
