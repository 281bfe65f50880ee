/**
 * A control plane in this process for tests of controllers:
 * test/support/harness/json-control-plane.ts on the in-memory engine.
 */
import { Cache } from '../../../src/storage/cache/cache.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { silent } from '../../../src/lib/telemetry/log.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { Registry } from '../../../src/registry/registry.ts'
import type { Resource } from '../../../src/registry/resource.ts'
import { Leases } from '../../../src/storage/leases.ts'
import { MemoryEngine } from '../../../src/storage/memory/memory-engine.ts'
import { Store } from '../../../src/storage/store.ts'
import { identity } from '../../../src/storage/transform.ts'
import { JsonControlPlane, root } from './json-control-plane.ts'

export const builtIns = builtInResources({
  isServed: () => true,
  gates: { release: 33, isOn: () => true },
})

/** Returns a built-in resource. The default group is ''. */
export function builtIn(plural: string, group = ''): Resource {
  const found = builtIns.find((one) => one.plural === plural && one.group === group)
  if (found === undefined) throw new Error(`no resource is named ${plural}`)
  return found
}

export class MemoryControlPlane extends JsonControlPlane implements AsyncDisposable {
  readonly registry: Registry
  readonly #engine: MemoryEngine
  readonly #cache: Cache

  private constructor({
    registry,
    engine,
  }: { readonly registry: Registry; readonly engine: MemoryEngine }) {
    const leases = new Leases((ttl, call) => engine.grantLease(ttl, call), systemClock)
    const store = new Store(engine, { transformer: identity, leases })
    const cache = new Cache({
      engine,
      store,
      transformer: identity,
      root,
      clock: systemClock,
      log: silent,
    })
    super({ cache, store, registry, now: () => new Date().toISOString() })
    this.registry = registry
    this.#engine = engine
    this.#cache = cache
  }

  static async start(resources: readonly Resource[]): Promise<MemoryControlPlane> {
    const plane = new MemoryControlPlane({
      registry: new Registry(resources),
      engine: new MemoryEngine(),
    })
    await plane.#cache.start()
    return plane
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cache[Symbol.asyncDispose]()
    await this.#engine[Symbol.asyncDispose]()
  }
}
