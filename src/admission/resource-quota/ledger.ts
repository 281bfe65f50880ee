/**
 * Charges writes to the quotas of their namespace, so that no two writes can spend the same amount: each quota is changed by
 * compare and swap on what was decided on. Writes of one replica to one namespace that come together share one change.
 */
import type { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Objects, ResourceId } from '../objects.ts'
import { type Charge, costIn, excessOf, unknownOf, withUsed } from './charge.ts'

export const resourceQuotas: ResourceId = { group: '', version: 'v1', plural: 'resourcequotas' }

type Waiting = {
  readonly charge: Charge
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Ledger {
  readonly #objects: Pick<Objects, 'list' | 'changeStatus'>
  /** Those who wait for the batch under way, by namespace. */
  readonly #queues = new Map<string, Waiting[]>()
  #keptCharges = 0

  constructor(objects: Pick<Objects, 'list' | 'changeStatus'>) {
    this.#objects = objects
  }

  /** What refused writes were charged and could not be given back, counted once for each quota. */
  get keptCharges(): number {
    return this.#keptCharges
  }

  /** Fails with Forbidden when a quota does not allow it; then no quota is charged, but where it cannot be given back. */
  charge(namespace: string, charge: Charge): Promise<void> {
    const queue = this.#queues.get(namespace)
    return new Promise((resolve, reject) => {
      const waiting = { charge, resolve, reject }
      if (queue !== undefined) queue.push(waiting)
      else void this.#work(namespace, [waiting])
    })
  }

  /** What `charge` would say, and nothing is charged. */
  async check(namespace: string, charge: Charge): Promise<void> {
    const { refusals } = await this.#settle(namespace, [charge])
    const refusal = refusals.get(charge)
    if (refusal !== undefined) throw refusal
  }

  async #work(namespace: string, first: Waiting[]): Promise<void> {
    for (let batch = first; batch.length > 0; ) {
      const next: Waiting[] = []
      this.#queues.set(namespace, next)
      try {
        const refusals = await this.#chargeAll(
          namespace,
          batch.map(({ charge }) => charge),
        )
        for (const { charge, resolve, reject } of batch) {
          const refusal = refusals.get(charge)
          if (refusal === undefined) resolve()
          else reject(refusal)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
      batch = next
    }
    this.#queues.delete(namespace)
  }

  async #chargeAll(namespace: string, charges: readonly Charge[]): Promise<Refusals> {
    const { refusals, changed } = await this.#settle(namespace, charges)
    const all = new Map(refusals)
    const charged = new Map<string, string | undefined>()
    for (const name of changed) {
      const standing = charges.filter((charge) => !all.has(charge))
      let late: Refusals = new Map()
      const version = await this.#objects.changeStatus(resourceQuotas, { namespace, name }, (quota) => {
        const settled = settle([quota], standing)
        late = settled.refusals
        return settled.quotas.find((one) => one !== quota)
      })
      for (const [charge, refusal] of late) all.set(charge, refusal)
      // Somebody else was first in this quota: what the ones before it were charged is given back.
      if (late.size > 0) await this.#giveBack(namespace, charged, [...late.keys()])
      charged.set(name, version)
    }
    return all
  }

  /**
   * `charged`: quotas by name, with the version that our charge made. Whoever wrote one since may have been the controller, which has
   * counted only what is stored: nothing can be given back a second time, so it stays charged until the controller counts again.
   */
  async #giveBack(
    namespace: string,
    charged: Map<string, string | undefined>,
    charges: readonly Charge[],
  ): Promise<void> {
    for (const [name, version] of charged) {
      let isAsLeft = false
      const now = await this.#objects.changeStatus(resourceQuotas, { namespace, name }, (quota) => {
        isAsLeft = quota.metadata.resourceVersion === version
        if (!isAsLeft) return undefined
        return charges.reduce((current, charge) => withUsed(current, costIn(current, charge), -1n), quota)
      })
      if (isAsLeft) charged.set(name, now)
      else this.#keptCharges += charges.length
    }
  }

  /** What the quotas say, and the names of those that are charged. What memory says is asked again before it refuses. */
  async #settle(
    namespace: string,
    charges: readonly Charge[],
  ): Promise<{ readonly refusals: Refusals; readonly changed: readonly string[] }> {
    let quotas = await this.#objects.list(resourceQuotas, namespace, 'any')
    let settled = settle(quotas, charges)
    if (settled.refusals.size > 0) {
      quotas = await this.#objects.list(resourceQuotas, namespace, 'latest')
      settled = settle(quotas, charges)
    }
    const changed = settled.quotas.filter((quota, at) => quota !== quotas[at])
    return { refusals: settled.refusals, changed: changed.map(({ metadata }) => metadata.name ?? '') }
  }
}

type Refusals = ReadonlyMap<Charge, ApiError>

/** The quotas after all charges that all of them allow, one after the other; and why the others are not allowed. */
function settle(
  before: readonly KubeObject[],
  charges: readonly Charge[],
): { readonly quotas: readonly KubeObject[]; readonly refusals: Refusals } {
  let quotas = before
  const refusals = new Map<Charge, ApiError>()
  for (const charge of charges) {
    const costs = quotas.map((quota) => costIn(quota, charge))
    // As upstream: no amount is compared before all quotas know what they need.
    const refusal =
      quotas.map((quota) => unknownOf(quota, charge)).find(isGiven) ??
      quotas.map((quota, at) => excessOf(quota, charge, costs[at] ?? nothing)).find(isGiven)
    if (refusal !== undefined) refusals.set(charge, refusal)
    else quotas = quotas.map((quota, at) => withUsed(quota, costs[at] ?? nothing))
  }
  return { quotas, refusals }
}

const nothing: ResourceList = new Map()
const isGiven = <T>(value: T | undefined): value is T => value !== undefined
