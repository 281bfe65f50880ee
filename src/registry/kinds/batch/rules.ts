/**
 * The kinds of this group that have rules of their own, by the kind as errors name it (and version,
 * where it matters).
 */
import type { KindRules } from '../../kind-rules.ts'
import { cronJobRules } from './cron-job.ts'
import { jobRules } from './job.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CronJob.batch', cronJobRules],
  ['Job.batch', jobRules],
]
