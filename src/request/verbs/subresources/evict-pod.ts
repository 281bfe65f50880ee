/**
 * Evicts a pod in three steps: the pod is read, its budget is used, and the pod is deleted. If the
 * state of the pod allows an eviction without using the budget, only this version of the pod is
 * deleted.
 */
import { ApiError } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { DeleteOptions } from '../delete-options.ts'
import { beingProcessed, isOver, needsNoBudget } from './budgets.ts'

/** Maximum number of attempts, as in kube-apiserver. */
const TRIES = 20
/**
 * Delay between two attempts, as in kube-apiserver. If a pod keeps changing, it is probably
 * starting.
 */
const RETRY_MS = 500

/** The operations of an eviction. */
export type EvictionSteps = {
  /** Reads the latest state of the pod. Fails with a NotFound error if the pod does not exist. */
  readonly read: () => Promise<{ readonly pod: KubeObject; readonly resourceVersion: string }>
  /**
   * Uses one disruption of the pod's budget. Fails with TooManyRequests if the budget allows no
   * disruption.
   */
  readonly spend: (pod: KubeObject) => Promise<BudgetUse>
  /** Deletes the pod. Fails with Conflict if a precondition does not hold. */
  readonly remove: (options: DeleteOptions) => Promise<void>
  readonly wait: (ms: number) => Promise<void>
}

/**
 * Describes how a budget was used. `uncountedIn` is the name of the budget that does not count the
 * pod because it is not ready. It is undefined if the pod is counted, or has no budget.
 */
export type BudgetUse = { readonly uncountedIn?: string }

export async function evictPod(wanted: DeleteOptions, steps: EvictionSteps): Promise<void> {
  const { resourceVersion: named } = wanted
  for (let tries = 1; ; tries++) {
    const { pod, resourceVersion } = await steps.read()
    const judged = { ...wanted, resourceVersion: named ?? resourceVersion }
    try {
      // Delete a pending pod only in the version that was read. The pod might become ready in the
      // meantime, and its eviction must then use the budget.
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
      // A conflict means that the pod has changed. If it is ready now, the budget counts it.
      throw isConflict(error) && named === undefined ? beingProcessed(uncountedIn) : error
    }
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'Conflict'
