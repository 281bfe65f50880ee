import { type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'

/** Jobs are named after their CronJob with eleven characters more, and must be labels. */
const NAME_CHARACTERS_MAX = 52

export const cronJobRules: KindRules = { validate: validateName, validateUpdate: () => [] }

function validateName({ metadata: { name = '' } }: KubeObject): FieldFault[] {
  if (name.length <= NAME_CHARACTERS_MAX) return []
  return [invalidValue('metadata.name', name, `must be no more than ${NAME_CHARACTERS_MAX} characters`)]
}
