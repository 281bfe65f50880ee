import {
  checked,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { checkDnsLabel, checkDomainPrefixedPath } from '../../../api/names.ts'
import { type Fields, fieldsOf, isFields, type KubeObject, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateTypedReference } from '../../rules/references.ts'

const CONTROLLER_BYTES_MAX = 250

export const ingressClassRules: KindRules = {
  strategy: { updateChecks: ['change', 'rules', 'metadata'], generation: { fields: ['spec'] } },
  validate,
  validateUpdate: (object, current) => {
    const controller = controllerOf(object)
    const isSame = controller === controllerOf(current)
    return [
      ...(isSame ? [] : [invalidValue('spec.controller', controller, 'field is immutable')]),
      ...validate(object),
    ]
  },
}

const controllerOf = (object: KubeObject): string => textOf(fieldsOf(object['spec'])['controller'])

function validate(object: KubeObject): FieldFault[] {
  const { parameters } = fieldsOf(object['spec'])
  return [
    ...validateController(controllerOf(object)),
    ...(isFields(parameters) ? validateParameters('spec.parameters', parameters) : []),
  ]
}

function validateController(controller: string): FieldFault[] {
  const path = 'spec.controller'
  if (controller === '') return [required(path)]
  const faults = checkDomainPrefixedPath(controller).map(({ value, why }) =>
    invalidValue(path, value, why),
  )
  return Buffer.byteLength(controller) > CONTROLLER_BYTES_MAX
    ? [tooLong(path, CONTROLLER_BYTES_MAX), ...faults]
    : faults
}

function validateParameters(path: string, parameters: Fields): FieldFault[] {
  const { namespace } = parameters
  const scope = textOf(parameters['scope'])
  const faults = validateTypedReference(path, parameters)
  const isGiven = namespace !== undefined && namespace !== null
  switch (scope) {
    case 'Namespace': {
      if (isGiven)
        return [...faults, ...checked(`${path}.namespace`, textOf(namespace), checkDnsLabel)]
      return [...faults, required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")]
    }
    case 'Cluster':
      return isGiven
        ? [...faults, forbiddenField(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'")]
        : faults
    default:
      return [...faults, notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace'])]
  }
}
