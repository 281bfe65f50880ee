/**
 * The order of an eviction: the pod is read, its budget is used, the pod is deleted. If the budget
 * was not used because of the pod's state, only that version of the pod may be deleted.
 */
import { ApiError } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { DeleteOptions } from '../delete-options.ts'
import { beingProcessed, isOver, needsNoBudget } from './budgets.ts'

/** As upstream. */
const TRIES = 20
/** A pod that keeps changing is most likely starting; upstream waits as long. */
const RETRY_MS = 500

/** The operations of an eviction. */
export type EvictionSteps = {
  /** Reads the latest pod. Fails with NotFound. */
  readonly read: () => Promise<{ readonly pod: KubeObject; readonly resourceVersion: string }>
  /** Fails with TooManyRequests if the budget allows no disruption. */
  readonly spend: (pod: KubeObject) => Promise<BudgetUse>
  /** Fails with Conflict if the pod does not meet the preconditions. */
  readonly remove: (options: DeleteOptions) => Promise<void>
  readonly wait: (ms: number) => Promise<void>
}

/**
 * The name of the budget that does not count the pod while it is not ready; undefined: the pod is
 * counted, or has no budget.
 */
export type BudgetUse = { readonly uncountedIn?: string }

export async function evictPod(wanted: DeleteOptions, steps: EvictionSteps): Promise<void> {
  const { resourceVersion: named } = wanted
  for (let tries = 1; ; tries++) {
    const { pod, resourceVersion } = await steps.read()
    const judged = { ...wanted, resourceVersion: named ?? resourceVersion }
    try {
      // A pending pod may become ready meanwhile, and then the eviction must use its budget.
      if (needsNoBudget(pod)) return await steps.remove(isOver(pod) ? wanted : judged)
    } catch (error) {
      if (!isConflict(error) || named !== undefined || tries === TRIES) throw error
      await steps.wait(RETRY_MS)
      continue
    }
    const { uncountedIn } = await steps.spend(pod)
    if (uncountedIn === undefined) return steps.remove(wanted)
    try {
      return await steps.remove(judged)
    } catch (error) {
      // The pod may be ready by now, and counted.
      throw isConflict(error) && named === undefined ? beingProcessed(uncountedIn) : error
    }
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'Conflict'
