/**
 * Patterns of users: RE2, which takes time in proportion to the text and to the size of the pattern, whatever they are. That may be
 * long: what could take more than some milliseconds is a question for somebody who has the time.
 */
import { RE2JS, RE2JSException } from 're2js'
import { ArrayList, CelError, type Result } from './values.ts'

export type Pattern = RE2JS

/** What is done with a pattern. `limit`: of findings, negative for all. */
export type PatternUse = { readonly verb: 'matches' | 'find' | 'findAll'; readonly limit: number }

/** Compiling takes 3 to 6 µs for each instruction, and cannot pause: what has more than these is compiled elsewhere as well. */
const LONG_PATTERN_SIZE = 2_000

export const isLongPattern = (pattern: string): boolean => longPatternSize(pattern) !== undefined

/** Undefined: it is not long. */
export function longPatternSize(pattern: string): number | undefined {
  const size = patternSize(pattern)
  const isLong = size > LONG_PATTERN_SIZE || opaque.test(pattern)
  return isLong ? Math.max(size, pattern.length) : undefined
}

/** Quoted text may look like operators, and a class whose case does not count has as many ranges as it has letters. */
const opaque = /\\Q|\(\?[a-zA-Z]*i/

const repeat = /\{(\d+)(?:,(\d*))?\}/y
/** A bracket first in a class is a character of it. */
const charClass = /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/sy

/** About as many instructions as it has at most: a repeated part counts as often as it may be repeated. Of a long text its length. */
export function patternSize(pattern: string): number {
  if (pattern.length > LONG_PATTERN_SIZE) return pattern.length
  const outer: number[] = []
  let [size, part] = [0, 0]
  for (let at = 0; at < pattern.length; ) {
    const found = matchAt(pattern[at] === '{' ? repeat : pattern[at] === '[' ? charClass : undefined, pattern, at)
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
      // An operator such as `*` is one more of what it stands behind.
      part = '*+?'.includes(pattern[at] ?? '') ? part + 1 : 1
      size++
    }
    at += found?.[0].length ?? (pattern[at] === '\\' ? 2 : 1)
  }
  return outer.reduce((sum, one) => sum + one, size)
}

function matchAt(expression: RegExp | undefined, text: string, at: number): RegExpExecArray | undefined {
  if (expression === undefined) return undefined
  expression.lastIndex = at
  return expression.exec(text) ?? undefined
}

/** To be answered elsewhere: another thread, or here by whoever may wait. */
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
      return this.use.verb === 'matches' ? compiled : new CelError(`Illegal regex: ${compiled.message}`)
    return apply(compiled, this.text, this.use, Number.POSITIVE_INFINITY) ?? null
  }
}

/** Steps are characters times instructions, of 300 ns at worst: some seconds. A pattern of 20 takes a megabyte, one of 200 a hundred kilobytes. */
export const STEPS_MAX = 20_000_000
/** Some 8 ms at worst. */
export const SHORT_STEPS_MAX = 20_000
/** Of one step; at worst it takes twenty times as long. */
const STEP_NANOS = 20
/** Each finding may have looked at all of the text, so that all of them together may take long. */
const SHORT_MS = 10

export function usePattern(pattern: Pattern, text: string, use: PatternUse, meter: Asking): Result {
  const steps = stepsOf(pattern, text)
  if (steps > STEPS_MAX) return new CelError('the text is too long for the pattern')
  meter.last(steps * STEP_NANOS)
  const known = steps > SHORT_STEPS_MAX ? undefined : apply(pattern, text, use, performance.now() + SHORT_MS)
  return known ?? meter.ask(new PatternQuestion(pattern.pattern(), text, use))
}

/** The same of a pattern that is long, whose program is not known here. */
export function useLongPattern(pattern: string, text: string, use: PatternUse, meter: Asking): Result {
  const steps = (longPatternSize(pattern) ?? pattern.length) * text.length
  if (steps > STEPS_MAX) return new CelError('the text is too long for the pattern')
  meter.last(steps * STEP_NANOS)
  return meter.ask(new PatternQuestion(pattern, text, use))
}

type Asking = { last(nanos: number): void; ask(question: PatternQuestion): never }

export const stepsOf = (pattern: Pattern, text: string): number => text.length * pattern.programSize()

/** Undefined: the time was over. */
function apply(pattern: Pattern, text: string, { verb, limit }: PatternUse, endMs: number): Result | undefined {
  if (verb === 'matches') return pattern.test(text)
  return verb === 'find' ? find(pattern, text) : findAll(pattern, text, { limit, endMs })
}

function find(pattern: Pattern, text: string): string {
  const matcher = pattern.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

/** An empty match right behind another does not count, as in Go. */
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
    // Go ends this message with the empty text it did not read.
    const isBackslash = error.message.endsWith('trailing backslash at end of expression')
    return new CelError(isBackslash ? `${error.message}: \`\`` : error.message)
  }
}
