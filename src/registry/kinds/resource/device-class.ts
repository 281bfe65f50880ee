import type { FieldFault } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { isEqualAs } from '../../rules/equality.ts'
import { CONFIG_MAX, validateConfiguration } from './claim-spec.ts'
import { validateList } from './names.ts'
import { Selectors } from './selectors.ts'

/** Devices that somebody has put together for claims to ask for. */
export const deviceClassRules: KindRules = {
  strategy: { updateChecks: ['metadata', 'change', 'rules'], returnsDeleted: true, generation: { fields: ['spec'] } },
  validate: (object) => validate(specOf(object), undefined),
  // As upstream, which looks at an update as at a new object first.
  validateUpdate: (object, current) => [
    ...validate(specOf(object), undefined),
    ...validate(specOf(object), specOf(current)),
  ],
}

const specOf = (object: KubeObject): Fields => fieldsOf(object['spec'])

/** What is as it was counts as stored. */
function validate(spec: Fields, before: Fields | undefined): FieldFault[] {
  const isStored = (field: string): boolean =>
    before !== undefined &&
    isEqualAs('resource/v1beta2 DeviceClassSpec', { [field]: spec[field] }, { [field]: before[field] })
  const configStored = isStored('config')
  return [
    ...new Selectors().validate(spec['selectors'], 'spec.selectors', isStored('selectors')),
    ...validateList(
      itemsOf(spec['config']),
      'spec.config',
      (one, path) => validateConfiguration(one, path, configStored),
      CONFIG_MAX,
    ),
  ]
}
