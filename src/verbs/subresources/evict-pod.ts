/** The order of an eviction: the pod is judged, its budget is spent, the pod goes, and where the judgement was about one version, that version. */
import { ApiError } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { DeleteOptions } from '../delete-options.ts'
import { beingProcessed, isOver, needsNoBudget } from './budgets.ts'

/** As often as upstream. */
const TRIES = 20
/** A pod that keeps changing is most likely being started; upstream waits as long. */
const RETRY_MS = 500

/** What an eviction does to the server. */
export type EvictionSteps = {
  /** The pod as it is now. Fails with NotFound. */
  readonly read: () => Promise<{ readonly pod: KubeObject; readonly resourceVersion: string }>
  /** Fails with TooManyRequests when the budget has nothing left. */
  readonly spend: (pod: KubeObject) => Promise<Spent>
  /** Fails with Conflict when the pod is not what the options name. */
  readonly remove: (options: DeleteOptions) => Promise<void>
  readonly wait: (ms: number) => Promise<void>
}

/** The name of the budget in which the pod is not counted as long as it is not ready; undefined: it is counted, or has no budget. */
export type Spent = { readonly uncountedIn?: string }

export async function evictPod(wanted: DeleteOptions, steps: EvictionSteps): Promise<void> {
  const { resourceVersion: named } = wanted
  for (let tries = 1; ; tries++) {
    const { pod, resourceVersion } = await steps.read()
    const judged = { ...wanted, resourceVersion: named ?? resourceVersion }
    try {
      // One that is yet to start may become ready, and then its budget would have to be asked.
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
      // It may be ready by now, and count.
      throw isConflict(error) && named === undefined ? beingProcessed(uncountedIn) : error
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof ApiError && error.reason === 'Conflict'
