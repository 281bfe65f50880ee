/** `find` and `findAll`, with RE2. */
import type { Library } from '../environment.ts'
import { type Estimate, type FunctionPart, member } from '../functions.ts'
import { unknownSize } from '../ranges.ts'
import { compilePattern, isTooMuch, type Pattern, tooLongFor } from '../regex.ts'
import { int, list, string } from '../types.ts'
import { ArrayList, CelError, noSuchOverload, type Result, type Value } from '../values.ts'
import { patternCost, patternRunCost } from './standard.ts'

const finding: Estimate = (operands) => ({
  cost: patternCost(operands),
  size: { min: 0, max: (operands[0]?.size ?? unknownSize).max },
})
const cost = ([text = null, pattern = null]: readonly Value[]): number => patternRunCost(text, pattern)

function find(pattern: Pattern, text: string): string {
  const matcher = pattern.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

/** An empty match right behind another does not count, as in Go. */
function findAll(pattern: Pattern, text: string, limit: bigint): ArrayList {
  const found: string[] = []
  const matcher = pattern.matcher(text)
  let end = -1
  while ((limit < 0n || found.length < limit) && matcher.find()) {
    const isEmptyBehind = matcher.start() === matcher.end() && matcher.start() === end
    if (!isEmptyBehind) found.push(matcher.group() ?? '')
    end = matcher.end()
  }
  return new ArrayList(found)
}

type Use = (pattern: Pattern, text: string, limit: Value) => Result

const useFind: Use = (pattern, text) => (isTooMuch(pattern, text) ? new CelError(tooLongFor) : find(pattern, text))
const useFindAll: Use = (pattern, text, limit) => {
  if (limit !== null && typeof limit !== 'bigint') return noSuchOverload
  if (isTooMuch(pattern, text)) return new CelError(tooLongFor)
  return limit === 0n ? new ArrayList([]) : findAll(pattern, text, limit ?? -1n)
}

/** A constant pattern is compiled once. */
function patternFunction(name: string, use: Use, overloads: FunctionPart['overloads']): FunctionPart {
  return {
    name,
    overloads,
    run: (text, pattern, limit) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload
      const compiled = compilePattern(pattern)
      return compiled instanceof CelError
        ? new CelError(`Illegal regex: ${compiled.message}`)
        : use(compiled, text, limit)
    },
    prepare: ([, pattern]) => {
      if (typeof pattern !== 'string') return undefined
      const compiled = compilePattern(pattern)
      if (compiled instanceof CelError) return compiled
      return (text, _, limit) => (typeof text === 'string' ? use(compiled, text, limit) : noSuchOverload)
    },
    estimate: finding,
    cost,
  }
}

export const regexLibrary: Library = {
  functions: [
    patternFunction('find', useFind, [member('string_find_string', [string, string], string)]),
    patternFunction('findAll', useFindAll, [
      member('string_find_all_string', [string, string], list(string)),
      member('string_find_all_string_int', [string, string, int], list(string)),
    ]),
  ],
}
