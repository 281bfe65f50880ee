import { checked, type FieldFault, invalidShown, required } from '../../../api/field-fault.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../../api/names.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  type Json,
  type KubeObject,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validateSegment } from '../../rules/references.ts'

const path = 'spec.parentRef'

/** Rules for IPAddress. The name of the object is an allocated IP address. */
export const ipAddressRules: KindRules = {
  strategy: { names: 'ip' },
  usesGenerateNameVerbatim: true,
  validate,
  validateUpdate: (object, current) => {
    const parent = parentOf(object)
    if (isSame(parent, parentOf(current))) return validate(object)
    return [...validate(object), invalidShown(path, goParent(parent), 'field is immutable')]
  },
}

const parentOf = (object: KubeObject): Json | undefined => fieldsOf(object['spec'])['parentRef']

function validate(object: KubeObject): FieldFault[] {
  const parent = parentOf(object)
  if (!isFields(parent)) return [required(path)]
  const group = textOf(parent['group'])
  const namespace = textOf(parent['namespace'])
  return [
    ...(group === '' ? [] : checked(`${path}.group`, group, checkDnsSubdomain)),
    ...validateSegment(`${path}.resource`, parent['resource']),
    ...validateSegment(`${path}.name`, parent['name']),
    ...(namespace === '' ? [] : checked(`${path}.namespace`, namespace, checkPathSegment)),
  ]
}

function goParent(parent: Json | undefined): string {
  if (!isFields(parent)) return '"null"'
  const shown = (name: keyof Fields & string): string => quote(textOf(parent[name]))
  return `networking.ParentReference{Group:${shown('group')}, Resource:${shown('resource')}, Namespace:${shown('namespace')}, Name:${shown('name')}}`
}
