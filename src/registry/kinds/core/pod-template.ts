import type { KindRules } from '../../kind-rules.ts'
import { validatePodTemplate } from './pod/template.ts'
import { isSpecChanged, podTemplateWarnings } from './pod/warnings.ts'

export const podTemplateRules: KindRules = {
  strategy: { returnsDeleted: true, generation: { fields: ['template'] } },
  validate: (object, gates) => validatePodTemplate(object['template'], 'template', { gates }),
  validateUpdate: (object, current, gates) =>
    validatePodTemplate(object['template'], 'template', { current: current['template'], gates }),
  warnings: (object, current, gates) =>
    isSpecChanged(object, current)
      ? podTemplateWarnings(object['template'], 'template', gates)
      : [],
}
