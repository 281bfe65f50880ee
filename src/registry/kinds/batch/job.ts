import { fieldsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { jobFields } from '../selectable.ts'

const BACKOFF_LIMIT = 6
const INT32_MAX = 2 ** 31 - 1

export const jobRules: KindRules = { selectableFields: jobFields, setDefaults }

/** Not where a CronJob has a template for Jobs: only the Job itself gets these. */
function setDefaults(object: KubeObject): KubeObject {
  const spec = fieldsOf(object['spec'])
  const { parallelism, completions, backoffLimitPerIndex, podFailurePolicy } = spec
  const isOne = parallelism === undefined && completions === undefined
  return {
    ...object,
    spec: {
      parallelism: 1,
      ...(isOne ? { completions: 1 } : {}),
      backoffLimit: backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : INT32_MAX,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
      ...spec,
    },
  }
}
