import {
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { fieldsOf, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { goLabelSelector } from '../../rules/label-selector.ts'
import { all, faultsOf, fields, type Rule } from '../../rules/rule.ts'
import { nonNegative, oneOf } from '../../rules/scalars.ts'
import { isSpecChanged, nameWarnings } from '../core/pod/warnings.ts'
import { scheduleFault } from './cron-schedule.ts'
import { withStatuses } from './job-policies.ts'
import { jobSpec, jobSpecWarnings } from './job-spec.ts'
import { isTimeZone } from './time-zone.ts'

/**
 * Maximum length of the name. The names of the Jobs are eleven characters longer than this name,
 * and must be valid DNS labels.
 */
const NAME_CHARACTERS_MAX = 52

const hasZone = (schedule: string): boolean => schedule.includes('TZ')

/**
 * Returns the rule for the schedule. `before` is the stored schedule: if it contains a time zone,
 * the new schedule can also contain one.
 */
const scheduleRule =
  (before: string): Rule =>
  (value, path, { faults }) => {
    const { schedule, timeZone } = fieldsOf(value)
    const text = textOf(schedule)
    const at = `${path}.schedule`
    if (text === '') {
      faults.push(required(at))
      return
    }
    const fault = scheduleFault(text)
    if (fault !== undefined) faults.push(invalidValue(at, text, fault))
    if (!hasZone(text)) return
    if (!hasZone(before)) {
      faults.push(
        invalidValue(at, text, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
      )
    } else if (timeZone !== undefined) {
      faults.push(
        invalidValue(at, text, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'),
      )
    }
  }

const zonePart = /^[A-Za-z.\-_0-9+]{1,14}$/

const timeZone: Rule = (value, path, { faults }) => {
  if (value === undefined) return
  const zone = textOf(value)
  const push = (why: string): number => faults.push(invalidValue(path, zone, why))
  if (zone === '') {
    push('timeZone must be nil or non-empty string')
    return
  }
  const isOdd = zone
    .split('/')
    .some((part) => part === '.' || part === '..' || part.startsWith('-') || !zonePart.test(part))
  if (isOdd) {
    push(`unknown time zone ${zone}`)
    return
  }
  if (zone.toLowerCase() === 'local') {
    push('timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones')
  }
  if (!isTimeZone(zone)) push(`unknown time zone ${zone}`)
}

/**
 * Rule for the job template. It must not contain a selector, because the selector of each Job is
 * generated.
 */
const generatedSelector: Rule = (value, path, { faults }) => {
  const { selector, manualSelector } = fieldsOf(value)
  if (selector !== undefined) {
    faults.push(
      invalidShown(
        `${path}.selector`,
        goLabelSelector(fieldsOf(selector)),
        '`selector` will be auto-generated',
      ),
    )
  }
  if (manualSelector === true)
    faults.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']))
}

const specRule = (scheduleBefore: string): Rule =>
  all(
    scheduleRule(scheduleBefore),
    fields({
      startingDeadlineSeconds: nonNegative,
      timeZone,
      concurrencyPolicy: oneOf('Allow', 'Forbid', 'Replace'),
      jobTemplate: fields({ spec: all(jobSpec, generatedSelector) }),
      successfulJobsHistoryLimit: nonNegative,
      failedJobsHistoryLimit: nonNegative,
    }),
  )

const newSpec = specRule('')

/** The first release that sets the statuses in the failure policy of the job template. */
const STATUSES_SINCE = 34

export const cronJobRules: KindRules = {
  strategy: { generation: { fields: ['spec'] } },
  setDefaults: (object, { release }) =>
    release < STATUSES_SINCE ? object : withPolicyStatuses(object),
  validate: (object, gates) => [
    ...faultsOf(newSpec, object['spec'], 'spec', gates),
    ...validateName(object),
  ],
  validateUpdate: (object, current, gates) => {
    const before = textOf(fieldsOf(current['spec'])['schedule'])
    return faultsOf(hasZone(before) ? specRule(before) : newSpec, object['spec'], 'spec', gates)
  },
  warnings: (object, current, gates) => {
    const { schedule, jobTemplate } = fieldsOf(object['spec'])
    const path = 'spec.jobTemplate.spec'
    const zone = hasZone(textOf(schedule))
      ? [
          'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
        ]
      : []
    return [
      ...(current === undefined ? nameWarnings(object, 'Pod names and hostnames') : []),
      ...(isSpecChanged(object, current)
        ? jobSpecWarnings(fieldsOf(jobTemplate)['spec'], path, gates)
        : []),
      ...zone,
    ]
  },
}

/** Sets the default status of the conditions in the failure policy of the job template. */
function withPolicyStatuses(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const template = fieldsOf(spec['jobTemplate'])
  const job = fieldsOf(template['spec'])
  const { podFailurePolicy: policy } = job
  if (policy === undefined) return object
  const jobTemplate = { ...template, spec: { ...job, podFailurePolicy: withStatuses(policy) } }
  return { ...object, spec: { ...spec, jobTemplate } }
}

function validateName({ metadata: { name = '' } }: KubeObject): FieldFault[] {
  if (name.length <= NAME_CHARACTERS_MAX) return []
  return [
    invalidValue('metadata.name', name, `must be no more than ${NAME_CHARACTERS_MAX} characters`),
  ]
}
