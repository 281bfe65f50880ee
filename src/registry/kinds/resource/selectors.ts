/** Selectors of devices: expressions about what a driver says of a device. */
import {
  type FieldFault,
  forbiddenField,
  internalFault,
  invalidValue,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../../api/object.ts'
import { compile } from '../../../cel/compile.ts'
import { deviceEnvironment, deviceType } from '../../../cel/device.ts'
import { atOnce } from '../../../cel/turns.ts'
import { outputNameOf } from '../../../cel/types.ts'
import { validateList } from './names.ts'

const SELECTORS_MAX = 32
const EXPRESSION_BYTES_MAX = 10 * 1024
const COST_MAX = 1_000_000
/** Of all expressions of an object: compiling a hundred thousand characters takes tenths of a second, and nobody else is served meanwhile. */
const CHARACTERS_MAX = 256 * 1024

/** Those of one object, each compiled once. */
export class Selectors {
  readonly #known = new Map<string, readonly FieldFault[]>()
  #characters = 0

  /** `isStored`: the object had them before, so that they may use all that this server knows. */
  validate(list: Json | undefined, path: string, isStored: boolean): FieldFault[] {
    return validateList(
      itemsOf(list),
      path,
      (selector, place) => this.#selector(selector, place, isStored),
      SELECTORS_MAX,
    )
  }

  #selector({ cel }: Fields, path: string, isStored: boolean): FieldFault[] {
    if (cel === undefined || cel === null) return [required(`${path}.cel`)]
    const text = textOf(fieldsOf(cel)['expression'])
    const place = `${path}.cel.expression`
    if (Buffer.byteLength(text) > EXPRESSION_BYTES_MAX) return [tooLong(place, EXPRESSION_BYTES_MAX)]
    const id = `${isStored} ${text}`
    const known = this.#known.get(id) ?? this.#check(text, isStored)
    this.#known.set(id, known)
    return known.map((fault) => ({ ...fault, path: place }))
  }

  #check(text: string, isStored: boolean): readonly FieldFault[] {
    this.#characters += text.length
    if (this.#characters > CHARACTERS_MAX) {
      return [forbiddenField('', `the expressions of an object may have ${CHARACTERS_MAX} characters in all`)]
    }
    const compiled = compile(text, deviceEnvironment(isStored ? '1.33' : '1.32'))
    if (!('type' in compiled)) return [invalidValue('', text, `compilation failed: ${compiled.fault}`)]
    const { type } = compiled
    if (type.kind !== 'bool' && type.kind !== 'dyn') {
      return [invalidValue('', text, `must evaluate to bool or the unknown type, not ${outputNameOf(type)}`)]
    }
    if ('fault' in compiled) return [internalFault('', `program instantiation failed: ${compiled.fault}`)]
    const { max } = atOnce((slice) => compiled.program.estimateCost(deviceType, slice))
    return max > COST_MAX ? [forbiddenField('', 'too complex, exceeds cost limit')] : []
  }
}
