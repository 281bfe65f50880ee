/**
 * Charges writes to the quotas of their namespace, so that no two writes can use the same amount.
 * Each quota is updated by compare-and-swap on the state that was evaluated. Concurrent writes of
 * one replica in one namespace share an update.
 */
import type { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { Objects, ResourceId } from '../../api/object-access.ts'
import { type Charge, costIn, excessOf, unknownOf, usedShare, withUsed } from './charge.ts'

export const resourceQuotas: ResourceId = { group: '', version: 'v1', plural: 'resourcequotas' }

type WaitingCharge = {
  readonly charge: Charge
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Ledger {
  readonly #objects: Pick<Objects, 'list' | 'changeStatus'>
  /** The writes that wait until the current batch of writes is charged, by namespace. */
  readonly #queues = new Map<string, WaitingCharge[]>()
  readonly #uncoveredOf: UncoveredOf
  #keptCharges = 0

  constructor(objects: Pick<Objects, 'list' | 'changeStatus'>, uncoveredOf: UncoveredOf) {
    this.#objects = objects
    this.#uncoveredOf = uncoveredOf
  }

  /**
   * Number of charges that could not be released after their write was rejected. If several quotas
   * contain the charge for a write, each of them counts.
   */
  get keptCharges(): number {
    return this.#keptCharges
  }

  /**
   * Charges a write. Fails with Forbidden if a quota does not allow the write. The charges to all
   * quotas are then released, if possible.
   */
  charge(namespace: string, charge: Charge): Promise<void> {
    const queue = this.#queues.get(namespace)
    return new Promise((resolve, reject) => {
      const waiting = { charge, resolve, reject }
      if (queue !== undefined) queue.push(waiting)
      else void this.#work(namespace, [waiting])
    })
  }

  /** Checks whether the quotas allow a write, without charging it. */
  async check(namespace: string, charge: Charge): Promise<void> {
    const { refusals } = await this.#settle(namespace, [charge])
    const refusal = refusals.get(charge)
    if (refusal !== undefined) throw refusal
  }

  async #work(namespace: string, first: WaitingCharge[]): Promise<void> {
    for (let batch = first; batch.length > 0; ) {
      const next: WaitingCharge[] = []
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
      // Bounded: a namespace has few quotas, because only administrators create them.
      const standing = charges.filter((charge) => !all.has(charge))
      let late: Refusals = new Map()
      const version = await this.#objects.changeStatus(
        resourceQuotas,
        { namespace, name },
        (quota) => {
          const settled = settle([quota], standing)
          late = settled.refusals
          return settled.quotas.find((one) => one !== quota)
        },
      )
      for (const [charge, refusal] of late) all.set(charge, refusal)
      // Another writer has used up this quota in the meantime, so release the charges to the
      // previous quotas.
      if (late.size > 0) await this.#giveBack(namespace, charged, [...late.keys()])
      charged.set(name, version)
    }
    return all
  }

  /**
   * Releases charges. `charged` maps the names of quotas to the resourceVersions that resulted from
   * the charge. If a quota now has another version, the quota controller may have counted the
   * stored objects again, which releases the charge. To release no charge twice, such a quota is
   * left to the controller.
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
        return charges.reduce(
          (current, charge) => withUsed(current, costIn(current, charge), -1n),
          quota,
        )
      })
      if (isAsLeft) charged.set(name, now)
      else this.#keptCharges += charges.length
    }
  }

  /**
   * Returns the errors of rejected writes, and the names of the quotas to charge. If the cached
   * quotas do not allow a write, the latest state is read, and determines whether the write is
   * rejected.
   *
   * The quota that is closest to its limit is charged first. If another replica has just used up
   * this quota, the write is rejected before any other quota is charged, so no charge has to be
   * released.
   */
  async #settle(
    namespace: string,
    charges: readonly Charge[],
  ): Promise<{ readonly refusals: Refusals; readonly changed: readonly string[] }> {
    let quotas = await this.#objects.list(resourceQuotas, namespace, 'any')
    let settled = settle(quotas, charges, this.#uncoveredOf)
    if (settled.refusals.size > 0) {
      quotas = await this.#objects.list(resourceQuotas, namespace, 'latest')
      settled = settle(quotas, charges, this.#uncoveredOf)
    }
    const changed = settled.quotas.filter((quota, at) => quota !== quotas[at])
    const tightestFirst = changed.toSorted((one, other) => usedShare(other) - usedShare(one))
    return {
      refusals: settled.refusals,
      changed: tightestFirst.map(({ metadata }) => metadata.name ?? ''),
    }
  }
}

type Refusals = ReadonlyMap<Charge, ApiError>

/**
 * Returns the error for a write that uses a resource for which the configuration requires a quota,
 * if no quota of the namespace covers this resource.
 */
type UncoveredOf = (quotas: readonly KubeObject[], charge: Charge) => ApiError | undefined

/**
 * Charges writes one after another, except those that a quota does not allow. Returns the changed
 * quotas, and the errors of the other writes. `uncoveredOf` is undefined if `before` does not
 * contain all quotas of the namespace.
 */
function settle(
  before: readonly KubeObject[],
  charges: readonly Charge[],
  uncoveredOf?: UncoveredOf,
): { readonly quotas: readonly KubeObject[]; readonly refusals: Refusals } {
  let quotas = before
  const refusals = new Map<Charge, ApiError>()
  for (const charge of charges) {
    const costs = quotas.map((quota) => costIn(quota, charge))
    // As in kube-apiserver, no amounts are compared if the usage or the status of any quota is
    // unknown.
    const refusal =
      // Bounded: `quotas` is short, because only administrators create quotas.
      quotas.map((quota) => unknownOf(quota, charge)).find(isGiven) ??
      uncoveredOf?.(quotas, charge) ??
      // Bounded: `quotas` is short, because only administrators create quotas.
      quotas.map((quota, at) => excessOf(quota, charge, costs[at] ?? nothing)).find(isGiven)
    if (refusal !== undefined) refusals.set(charge, refusal)
    else quotas = quotas.map((quota, at) => withUsed(quota, costs[at] ?? nothing))
  }
  return { quotas, refusals }
}

const nothing: ResourceList = new Map()
const isGiven = <T>(value: T | undefined): value is T => value !== undefined
