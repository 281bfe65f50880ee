/**
 * Evicts a pod in three steps: the pod is read, its budget is used, and the pod is deleted. If the
 * budget was not used because of the pod's state, only that version of the pod may be deleted.
 */
import { ApiError } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { DeleteOptions } from '../delete-options.ts'
import { beingProcessed, isOver, needsNoBudget } from './budgets.ts'

/** Maximum number of attempts, as in kube-apiserver. */
const TRIES = 20
/**
 * Time between two attempts, as in kube-apiserver. A pod that keeps changing is most likely
 * starting.
 */
const RETRY_MS = 500

/** The operations of an eviction. */
export type EvictionSteps = {
  /** Reads the latest state of the pod. Fails with NotFound. */
  readonly read: () => Promise<{ readonly pod: KubeObject; readonly resourceVersion: string }>
  /**
   * Uses up a disruption of the pod's budget. Fails with TooManyRequests if the budget allows no
   * disruption.
   */
  readonly spend: (pod: KubeObject) => Promise<BudgetUse>
  /** Deletes the pod. Fails with Conflict if it does not meet the preconditions. */
  readonly remove: (options: DeleteOptions) => Promise<void>
  readonly wait: (ms: number) => Promise<void>
}

/**
 * How a budget was used. `uncountedIn` names the budget that does not count the pod while it is not
 * ready. It is undefined if the pod is counted, or has no budget.
 */
export type BudgetUse = { readonly uncountedIn?: string }

export async function evictPod(wanted: DeleteOptions, steps: EvictionSteps): Promise<void> {
  const { resourceVersion: named } = wanted
  for (let tries = 1; ; tries++) {
    const { pod, resourceVersion } = await steps.read()
    const judged = { ...wanted, resourceVersion: named ?? resourceVersion }
    try {
      // A pending pod may become ready meanwhile. Its eviction must use the budget then.
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
      // The pod may have become ready, and be counted now.
      throw isConflict(error) && named === undefined ? beingProcessed(uncountedIn) : error
    }
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'Conflict'
