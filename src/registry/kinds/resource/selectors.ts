/** Validates device selectors, which are CEL expressions over the attributes of a device. */
import {
  type FieldFault,
  forbiddenField,
  internalFault,
  invalidValue,
  required,
  tooLong,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { type Fields, fieldsOf, itemsOf, type Json, textOf } from '../../../api/object.ts'
import { assert } from '../../../lib/errors.ts'
import { compileInTurns } from '../../../objects/cel/compile.ts'
import { deviceEnvironment, deviceType } from '../../../objects/cel/device.ts'
import type { CelVersion } from '../../../objects/cel/kubernetes.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import { inPartsOf, type Turns } from '../../../objects/cel/turns.ts'
import { outputNameOf } from '../../../objects/cel/types.ts'
import { eachItem, once } from '../../../lib/scheduling/parts.ts'
import { validateList } from './names.ts'

const SELECTORS_MAX = 32
const EXPRESSION_BYTES_MAX = 10 * 1024
const COST_MAX = 1_000_000
/**
 * Maximum total length in characters of all expressions of an object. Compiling 100,000 characters
 * takes tenths of a second.
 */
const CHARACTERS_MAX = 256 * 1024

/**
 * Feature gates and time slices, which the validation of selectors needs in addition to the
 * objects.
 */
export type SelectorOptions = { readonly gates: Gates; readonly slice: Slice }

/** The selectors of one object. Equal expressions are compiled once. */
export class DeviceSelectors {
  readonly #known = new Map<string, readonly FieldFault[]>()
  readonly #version: CelVersion
  #characters = 0

  /**
   * Creates an empty set of selectors. `version` is the version of the CEL environment with which
   * selectors are compiled.
   */
  private constructor(version: CelVersion) {
    this.#version = version
  }

  /**
   * Compiles the expressions in the field `selectors` of each struct. `validate` later reports the
   * errors of the compilation.
   */
  static *compile(
    structs: () => readonly Fields[],
    version: CelVersion,
    slice: Slice,
  ): Turns<DeviceSelectors> {
    const selectors = new DeviceSelectors(version)
    const expressions = yield* inPartsOf(() => expressionsOf(structs()), slice)
    for (const text of expressions) {
      if (!isTooLong(text)) selectors.#known.set(text, yield* selectors.#check(text, slice))
    }
    return selectors
  }

  validate(list: Json | undefined, path: string, release: number): FieldFault[] {
    return validateList(itemsOf(list), path, {
      validate: (selector, place) => this.#selector(selector, place),
      max: SELECTORS_MAX,
      release,
    })
  }

  #selector({ cel }: Fields, path: string): readonly FieldFault[] {
    if (cel === undefined || cel === null) return [required(`${path}.cel`)]
    const text = textOf(fieldsOf(cel)['expression'])
    const place = `${path}.cel.expression`
    if (isTooLong(text)) return [tooLong(place, EXPRESSION_BYTES_MAX)]
    const known = this.#known.get(text)
    assert(known !== undefined, 'a selector of the object was not compiled')
    return known.map((fault) => ({ ...fault, path: place }))
  }

  *#check(text: string, slice: Slice): Turns<readonly FieldFault[]> {
    if (slice.isOver()) yield undefined
    this.#characters += text.length
    if (this.#characters > CHARACTERS_MAX) {
      return [
        forbiddenField(
          '',
          `the expressions of an object may have at most ${CHARACTERS_MAX} characters in total`,
        ),
      ]
    }
    const compiled = yield* compileInTurns(text, deviceEnvironment(this.#version), slice)
    if (!('type' in compiled))
      return [invalidValue('', text, `compilation failed: ${compiled.fault}`)]
    const { type } = compiled
    if (type.kind !== 'bool' && type.kind !== 'dyn') {
      return [
        invalidValue(
          '',
          text,
          `must evaluate to bool or the unknown type, not ${outputNameOf(type)}`,
        ),
      ]
    }
    if ('fault' in compiled)
      return [internalFault('', `program instantiation failed: ${compiled.fault}`)]
    const { max } = yield* compiled.program.estimateCost(deviceType, slice)
    return max > COST_MAX ? [forbiddenField('', 'too complex, exceeds cost limit')] : []
  }
}

/** Returns the expressions of all device selectors in the structs, each of them once. */
function expressionsOf(structs: readonly Fields[]): ReadonlySet<string> {
  const expressions = once('expressions of selectors', () => new Set<string>())
  eachItem('structs with selectors', structs, nothing, (_, struct) => {
    eachItem('selectors', itemsOf(struct['selectors']), nothing, (_state, { cel }) => {
      expressions.add(textOf(fieldsOf(cel)['expression']))
      return true
    })
    return true
  })
  return expressions
}

const nothing = (): undefined => undefined

const isTooLong = (text: string): boolean => Buffer.byteLength(text) > EXPRESSION_BYTES_MAX
