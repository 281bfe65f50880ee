/**
 * Matches regular expressions from users with RE2. The time is linear in the length of the text and
 * in the size of the pattern, but can still be long. A match that could take more than a few
 * milliseconds becomes a `PatternQuestion`, for which a worker thread computes the result.
 */
import { RE2JS, RE2JSException } from 're2js'
import { ArrayList, CelError, type Result } from './values.ts'

export type Pattern = RE2JS

/**
 * The operation to perform with a pattern: test whether it matches, or find one or all matches.
 * `limit` is the maximum number of matches. A negative limit means that there is no maximum.
 */
export type PatternUse = { readonly verb: 'matches' | 'find' | 'findAll'; readonly limit: number }

/**
 * Maximum number of instructions of a pattern that is compiled on the main thread. Compiling takes
 * 3 to 6 µs per instruction and cannot be interrupted, so larger patterns are compiled on the
 * worker thread.
 */
const LONG_PATTERN_SIZE = 2_000

export const isLongPattern = (pattern: string): boolean => longPatternSize(pattern) !== undefined

/** Returns the estimated size of a pattern if it is long, and undefined otherwise. */
export function longPatternSize(pattern: string): number | undefined {
  const size = patternSize(pattern)
  const isLong = size > LONG_PATTERN_SIZE || opaque.test(pattern)
  return isLong ? Math.max(size, pattern.length) : undefined
}

/**
 * Recognizes patterns whose size cannot be estimated. Quoted text (`\Q`) can contain characters
 * that look like operators. Character classes of a case-insensitive pattern can have as many ranges
 * as letters.
 */
const opaque = /\\Q|\(\?[a-zA-Z]*i/

const repeat = /\{(\d+)(?:,(\d*))?\}/y
/** Matches a character class. A closing bracket at its start is a literal character. */
const charClass = /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/sy

/**
 * Returns the maximum number of instructions of a compiled pattern. A repeated part counts as often
 * as it can be repeated. For a pattern that is long itself, returns its length.
 */
export function patternSize(pattern: string): number {
  if (pattern.length > LONG_PATTERN_SIZE) return pattern.length
  const outer: number[] = []
  let [size, part] = [0, 0]
  for (let at = 0; at < pattern.length; ) {
    const found = matchAt(
      pattern[at] === '{' ? repeat : pattern[at] === '[' ? charClass : undefined,
      pattern,
      at,
    )
    if (found !== undefined && pattern[at] === '{') {
      const times = Math.max(Number(found[1]), Number(found[2] ?? 0), 1)
      size += part * (times - 1)
      part *= times
    } else if (pattern[at] === '(') {
      outer.push(size)
      size = 0
    } else if (pattern[at] === ')') {
      part = size + 2
      size = part + (outer.pop() ?? 0)
    } else {
      // Each of these operators adds one instruction to the part that it repeats.
      part = '*+?'.includes(pattern[at] ?? '') ? part + 1 : 1
      size++
    }
    at += found?.[0].length ?? (pattern[at] === '\\' ? 2 : 1)
  }
  return outer.reduce((sum, one) => sum + one, size)
}

function matchAt(
  expression: RegExp | undefined,
  text: string,
  at: number,
): RegExpExecArray | undefined {
  if (expression === undefined) return undefined
  expression.lastIndex = at
  return expression.exec(text) ?? undefined
}

/**
 * A match that is left to the worker thread. If the caller can block, the match is done on the
 * current thread instead.
 */
export class PatternQuestion {
  readonly pattern: string
  readonly text: string
  readonly use: PatternUse

  constructor(pattern: string, text: string, use: PatternUse) {
    this.pattern = pattern
    this.text = text
    this.use = use
  }

  answer(compile = compilePattern): Result {
    const compiled = compile(this.pattern)
    if (compiled instanceof CelError)
      return this.use.verb === 'matches'
        ? compiled
        : new CelError(`Illegal regex: ${compiled.message}`)
    return apply(compiled, this.text, this.use, Number.POSITIVE_INFINITY) ?? null
  }
}

/**
 * Maximum number of steps of a match, estimated as the number of characters times the number of
 * instructions. They take up to 300 ns each, so the longest match takes a few seconds. A pattern
 * with 20 instructions can match a megabyte, and a pattern with 200 instructions can match a
 * hundred kilobytes.
 */
export const STEPS_MAX = 20_000_000
/**
 * Maximum number of steps of a match on the main thread. They take about 8 ms in the worst case.
 */
export const SHORT_STEPS_MAX = 20_000
/** Typical time of a step. It can take up to about twenty times as long. */
const STEP_NANOS = 20
/**
 * Maximum total time of the matches that one call performs on the main thread. Many matches can
 * each visit the whole text.
 */
const SHORT_MS = 10

export function usePattern(
  pattern: Pattern,
  text: string,
  use: PatternUse,
  meter: PatternMeter,
): Result {
  const steps = stepsOf(pattern, text)
  if (steps > STEPS_MAX) return new CelError('the text is too long for the pattern')
  meter.last(steps * STEP_NANOS)
  const known =
    steps > SHORT_STEPS_MAX ? undefined : apply(pattern, text, use, performance.now() + SHORT_MS)
  return known ?? meter.ask(new PatternQuestion(pattern.pattern(), text, use))
}

/**
 * Does the same as `usePattern` for a long pattern, which must not be compiled on the main thread.
 */
export function useLongPattern(
  pattern: string,
  text: string,
  use: PatternUse,
  meter: PatternMeter,
): Result {
  const steps = (longPatternSize(pattern) ?? pattern.length) * text.length
  if (steps > STEPS_MAX) return new CelError('the text is too long for the pattern')
  meter.last(steps * STEP_NANOS)
  return meter.ask(new PatternQuestion(pattern, text, use))
}

type PatternMeter = { last(nanos: number): void; ask(question: PatternQuestion): never }

export const stepsOf = (pattern: Pattern, text: string): number =>
  text.length * pattern.programSize()

/** Applies a pattern to a text. Returns undefined if this takes too long. */
function apply(
  pattern: Pattern,
  text: string,
  { verb, limit }: PatternUse,
  endMs: number,
): Result | undefined {
  if (verb === 'matches') return pattern.test(text)
  return verb === 'find' ? find(pattern, text) : findAll(pattern, text, { limit, endMs })
}

function find(pattern: Pattern, text: string): string {
  const matcher = pattern.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

/** Finds all matches. As in Go, an empty match directly after another match does not count. */
function findAll(
  pattern: Pattern,
  text: string,
  { limit, endMs }: { readonly limit: number; readonly endMs: number },
): ArrayList | undefined {
  const found: string[] = []
  const matcher = pattern.matcher(text)
  let end = -1
  while ((limit < 0 || found.length < limit) && matcher.find()) {
    const isEmptyBehind = matcher.start() === matcher.end() && matcher.start() === end
    if (!isEmptyBehind) found.push(matcher.group() ?? '')
    end = matcher.end()
    if (performance.now() > endMs) return undefined
  }
  return new ArrayList(found)
}

export function compilePattern(pattern: string): Pattern | CelError {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    // In Go, this message ends with the rest of the pattern, which is always empty here.
    const isBackslash = error.message.endsWith('trailing backslash at end of expression')
    return new CelError(isBackslash ? `${error.message}: \`\`` : error.message)
  }
}
