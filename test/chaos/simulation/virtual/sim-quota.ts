/**
 * Charges writes on both replicas to two quotas of one namespace. The recorded usage must never
 * exceed the limit, and must not be below the amount that was granted to clients.
 */
import type { Objects } from '../../../../src/api/object-access.ts'
import {
  count,
  type Evaluator,
  noneMissing,
} from '../../../../src/admission/resource-quota/evaluator.ts'
import { Ledger } from '../../../../src/admission/resource-quota/ledger.ts'
import { ApiError } from '../../../../src/api/errors.ts'
import { fieldsOf, textOf } from '../../../../src/api/object.ts'
import type { Reader } from '../../../../src/storage/cache/reader.ts'
import { sleep } from '../../../../src/lib/time/timers.ts'
import { StorageError } from '../../../../src/storage/errors.ts'
import { rangeOf } from '../../../../src/storage/keys.ts'
import { anObject, attributes } from '../../../support/harness/admission.ts'
import { changeJson, jsonForm, readJson, writeJson } from './json-objects.ts'
import { root, type SimReplica } from './sim-replica.ts'
import type { VirtualTime } from './virtual-time.ts'

const folder = `${root}resourcequotas/`
const resourceName = 'count/configmaps'
const limits: Readonly<Record<string, number>> = { large: 60, small: 40 }

const evaluator: Evaluator = {
  isCharged: () => true,
  usageOf: () => new Map([[resourceName, count(1)]]),
  measures: (name) => name === resourceName,
  isInScope: () => true,
  missing: () => noneMissing,
}

export class SimQuota {
  readonly #time: VirtualTime
  readonly #ledgers = new Map<SimReplica, Ledger>()
  readonly #readers = new Map<SimReplica, Reader>()
  readonly #faults: string[] = []
  #granted = 0
  #unknown = 0
  #life = 0

  constructor(replicas: readonly SimReplica[], time: VirtualTime) {
    this.#time = time
    for (const replica of replicas) {
      const reader = replica.cache.resource({ ...jsonForm, name: 'resourcequotas', prefix: folder })
      this.#readers.set(replica, reader)
      this.#ledgers.set(replica, new Ledger(objectsOf(replica, reader), () => undefined))
    }
  }

  /** Creates the quotas. Must be called before any write is charged. */
  async start({ store }: SimReplica): Promise<void> {
    for (const [name, hard] of Object.entries(limits)) {
      const status = { hard: { [resourceName]: String(hard) }, used: { [resourceName]: '0' } }
      for (let isThere = false; !isThere; ) {
        try {
          await store.create(
            `${folder}n/${name}`,
            writeJson(anObject('ResourceQuota', name, { status })),
          )
          isThere = true
        } catch (error) {
          if (!(error instanceof StorageError)) throw error
          isThere = error.code === 'exists'
          await sleep(this.#time, 100)
        }
      }
    }
  }

  async act(replica: SimReplica): Promise<void> {
    const life = this.#life
    const object = anObject('ConfigMap', 'c')
    try {
      await this.#ledgers.get(replica)?.charge('n', {
        attributes: attributes({ plural: 'configmaps', object }),
        evaluator,
        object,
      })
      if (life === this.#life) this.#granted++
    } catch (error) {
      // After a storage error, it is unknown whether the quotas were charged. If a quota rejects a
      // write, the charges of this write are taken back.
      if (error instanceof StorageError) this.#unknown++
      else if (!(error instanceof ApiError)) throw error
    }
  }

  restored(): void {
    this.#life++
    this.#granted = 0
    this.#unknown = Number.POSITIVE_INFINITY
  }

  async judge(replica: SimReplica): Promise<string[]> {
    const { values } = await replica.store.list(rangeOf(folder))
    for (const { value, revision } of values) {
      const quota = readJson(value, revision)
      const name = quota.metadata.name ?? ''
      const used = Number(textOf(fieldsOf(fieldsOf(quota['status'])['used'])[resourceName]))
      const limit = limits[name] ?? 0
      if (used > limit) this.#faults.push(`quota ${name} is overspent: ${used} of ${limit}`)
      if (used < this.#granted)
        this.#faults.push(`quota ${name} lost charges: ${used} used, ${this.#granted} granted`)
      const kept = [...this.#ledgers.values()].reduce((sum, ledger) => sum + ledger.keptCharges, 0)
      if (used > this.#granted + this.#unknown + kept) {
        const most = `${this.#granted} granted, ${this.#unknown} in doubt, ${kept} not returned`
        this.#faults.push(`quota ${name} has charges without a write: ${used} used, ${most}`)
      }
    }
    replica.cache.remove(folder)
    return this.#faults
  }
}

/**
 * Gives plugins access to objects. Works like request/verbs/system-objects.ts, but without field
 * managers.
 */
function objectsOf({ store }: SimReplica, reader: Reader): Pick<Objects, 'list' | 'changeStatus'> {
  return {
    list: async (_, namespace, at) => {
      const { items } = await reader.list(rangeOf(`${folder}${namespace}/`), at)
      return items.map((item) => item.object())
    },
    changeStatus: (_, { namespace, name }, decide) =>
      changeJson({ store, reader }, `${folder}${namespace}/${name}`, decide),
  }
}
