/**
 * Finds schemas that are not structural. Such schemas are refused in new CRDs. CRDs that were
 * stored before this rule existed can keep such schemas, and get a condition.
 */
import { faultsOfEach, type FieldFault, invalidValue } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, itemsOf } from '../../../api/object.ts'
import { atOnce } from '../../../objects/cel/turns.ts'
import { shortPatternFaults } from './pattern-rules.ts'
import { validateStructural } from './structural-rules.ts'

/**
 * Returns the message of the NonStructuralSchema condition. Undefined if all schemas are
 * structural.
 */
export function nonStructural(spec: Fields): string | undefined {
  const faults = [
    ...(spec['preserveUnknownFields'] === true ? [preserving] : []),
    ...faultsOfEach(itemsOf(spec['versions']), faultsOf),
  ]
  const texts = [...new Set(faults.map(({ path, message }) => `${path}: ${message}`))]
  const [only] = texts
  return texts.length > 1 ? `[${texts.join(', ')}]` : only
}

const preserving = invalidValue('spec.preserveUnknownFields', true, 'must be false')

function faultsOf({ schema }: Fields, at: number): FieldFault[] {
  const { openAPIV3Schema } = fieldsOf(schema)
  if (!isFields(openAPIV3Schema)) return []
  const path = `spec.versions[${at}].schema.openAPIV3Schema`
  const patterns = shortPatternFaults(openAPIV3Schema, path)
  return [...atOnce((slice) => validateStructural(openAPIV3Schema, path, slice)), ...patterns]
}
