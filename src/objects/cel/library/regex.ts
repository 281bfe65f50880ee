/** The functions `find` and `findAll`. Their patterns have RE2 syntax. */
import type { Library } from '../environment.ts'
import { type Estimate, type FunctionPart, type Meter, member } from '../functions.ts'
import { unknownSize } from '../ranges.ts'
import {
  compilePattern,
  isLongPattern,
  type Pattern,
  useLongPattern,
  usePattern,
} from '../regex.ts'
import { int, list, string } from '../types.ts'
import { ArrayList, CelError, noSuchOverload, type Result, type Value } from '../values.ts'
import { patternCost, patternRunCost } from './standard.ts'

const finding: Estimate = (operands) => ({
  cost: patternCost(operands),
  size: { min: 0n, max: (operands[0]?.size ?? unknownSize).max },
})
const cost = ([text = null, pattern = null]: readonly Value[]): number =>
  patternRunCost(text, pattern)

type Verb = 'find' | 'findAll'

/** Declares a function with a pattern as an argument. A constant pattern is compiled only once. */
function patternFunction(verb: Verb, overloads: FunctionPart['overloads']): FunctionPart {
  return {
    name: verb,
    overloads,
    isLong: true,
    run: (text, pattern, limit, _, meter) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload
      if (isLongPattern(pattern)) {
        if (limit === 0n) return new ArrayList([])
        if (limit !== null && typeof limit !== 'bigint') return noSuchOverload
        return useLongPattern(pattern, text, { verb, limit: Number(limit ?? -1n) }, meter)
      }
      const compiled = meter.pattern(pattern)
      if (compiled instanceof CelError) return new CelError(`Illegal regex: ${compiled.message}`)
      return find({ verb, pattern: compiled, limit, meter }, text)
    },
    prepare: ([, pattern]) => {
      if (typeof pattern !== 'string' || isLongPattern(pattern)) return undefined
      const compiled = compilePattern(pattern)
      if (compiled instanceof CelError) return compiled
      return (text, _, limit, __, meter) =>
        typeof text === 'string'
          ? find({ verb, pattern: compiled, limit, meter }, text)
          : noSuchOverload
    },
    estimate: finding,
    cost,
  }
}

type Finding = {
  readonly verb: Verb
  readonly pattern: Pattern
  readonly limit: Value
  readonly meter: Meter
}

function find({ verb, pattern, limit, meter }: Finding, text: string): Result {
  if (limit === 0n) return new ArrayList([])
  if (limit !== null && typeof limit !== 'bigint') return noSuchOverload
  return usePattern(pattern, text, { verb, limit: Number(limit ?? -1n) }, meter)
}

export const regexLibrary: Library = {
  functions: [
    patternFunction('find', [member('string_find_string', [string, string], string)]),
    patternFunction('findAll', [
      member('string_find_all_string', [string, string], list(string)),
      member('string_find_all_string_int', [string, string, int], list(string)),
    ]),
  ],
}
