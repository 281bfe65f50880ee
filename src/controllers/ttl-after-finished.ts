/** The ttl-after-finished-controller, which deletes a finished Job when its TTL has passed. */
import { fieldsOf, isNumber, itemsOf, type Fields, numberOf, textOf } from '../api/object.ts'
import { contentOf } from '../storage/cache/informer.ts'
import {
  type Concern,
  ObjectController,
  type ObjectControllerOptions,
} from './object-controller.ts'

/** Number of workers, as in kube-controller-manager. */
const WORKERS_MAX = 5

export const deleteFinishedJobs = (
  wallMs: () => number,
  options: ObjectControllerOptions,
): AsyncDisposable => new ObjectController(concernOf(wallMs), options)

const concernOf = (wallMs: () => number): Concern => ({
  name: 'the deletion of a finished Job',
  queue: 'ttl_jobs_to_delete',
  workersMax: WORKERS_MAX,
  group: 'batch',
  plural: 'jobs',
  concerns: (item) => expiryOf(contentOf(item)) !== undefined,
  work: async (job, write) => {
    const expiryMs = expiryOf(job)
    if (expiryMs === undefined || job.metadata.deletionTimestamp !== undefined) return undefined
    const leftMs = expiryMs - wallMs()
    if (leftMs > 0) return leftMs
    await write.delete({ propagationPolicy: 'Foreground' })
    return undefined
  },
})

/**
 * Returns the time at which a Job expires. Returns undefined if the Job has not finished or has no
 * TTL.
 */
export function expiryOf({ spec, status }: Fields): number | undefined {
  const ttl = fieldsOf(spec)['ttlSecondsAfterFinished']
  if (!isNumber(ttl)) return undefined
  const finished = itemsOf(fieldsOf(status)['conditions']).find(
    (condition) =>
      /^(Complete|Failed)$/.test(textOf(condition['type'])) && condition['status'] === 'True',
  )
  const finishedMs = Date.parse(textOf(finished?.['lastTransitionTime']))
  return Number.isNaN(finishedMs) ? undefined : finishedMs + 1000 * numberOf(ttl)
}
