/**
 * Rules of the kinds in this group. The key is the kind as errors show it, followed by a version if
 * the rules depend on it.
 */
import type { KindRules } from '../../kind-rules.ts'
import { cronJobRules } from './cron-job.ts'
import { jobRules } from './job.ts'

export const rules: readonly (readonly [string, KindRules])[] = [
  ['CronJob.batch', cronJobRules],
  ['Job.batch', jobRules],
]
