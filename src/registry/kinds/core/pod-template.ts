import type { KindRules } from '../../kind-rules.ts'
import { validatePodTemplate } from './pod/template.ts'
import { isSpecChanged, podTemplateWarnings } from './pod/warnings.ts'

export const podTemplateRules: KindRules = {
  validate: (object) => validatePodTemplate(object['template'], 'template'),
  validateUpdate: (object, current) => validatePodTemplate(object['template'], 'template', current['template']),
  warnings: (object, current) =>
    isSpecChanged(object, current) ? podTemplateWarnings(object['template'], 'template') : [],
}
