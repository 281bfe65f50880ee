/**
 * Checks the type names of objects that an expression constructs. The type name must match the
 * field that contains the object: `Object.spec.template` is the type of the field `template` in an
 * `Object.spec`. CEL does not check this before the evaluation.
 */
import { quote } from '../../api/quote.ts'
import { BoundedTexts } from '../../lib/text/bounded-texts.ts'
import { FAULTS_CHARACTERS_MAX } from '../../api/field-fault.ts'
import {
  CelError,
  HashMap,
  isList,
  ConstructedStruct,
  type Value,
} from '../../objects/cel/values.ts'

/**
 * Returns a line for each object whose type has a wrong name. Returns an empty string if all names
 * are right.
 */
export function typeNameFaults(object: ConstructedStruct): string {
  const faults = new BoundedTexts(FAULTS_CHARACTERS_MAX)
  visit(object, object.typeName, faults)
  return faults.all.join('\n')
}

function visit(value: Value, expected: string, faults: BoundedTexts): void {
  if (value instanceof ConstructedStruct) {
    const { typeName } = value
    if (typeName !== expected) {
      const wanted = `expected ${quote(expected)}, which matches field name path from root Object type`
      faults.add(() => `unexpected type name ${quote(typeName)}, ${wanted}`)
    }
    for (const name of value.fields()) visit(value.get(name) ?? null, `${expected}.${name}`, faults)
  } else if (value instanceof HashMap) {
    for (const key of value.keys()) visit(value.get(key) ?? null, expected, faults)
  } else if (!(value instanceof CelError) && isList(value) && value.isOfObject !== true) {
    for (let at = 0; at < value.size; at++) visit(value.at(at), expected, faults)
  }
}
