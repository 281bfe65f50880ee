/**
 * Matches strings against the patterns of a schema. A match that takes little time is done
 * immediately. A longer match is deferred until after the current pass over the value. The value is
 * then validated again, with the result.
 */
import { RE2JS } from 're2js'
import {
  longPatternSize,
  PatternQuestion,
  SHORT_STEPS_MAX,
  STEPS_MAX,
  stepsOf,
} from '../../cel/regex.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { CelError } from '../../cel/values.ts'

/**
 * Maximum number of steps of all matches that are done immediately during one pass over a value.
 * They usually take about 1 ms, and at most 20 ms.
 */
const PASS_STEPS_MAX = 50_000

const matching = { verb: 'matches', limit: -1 } as const

export class Patterns {
  /**
   * Results by pattern and text. The result of a deferred match is true until the real result is
   * known.
   */
  readonly #known = new Map<string, Map<string, boolean>>()
  #asked: { readonly question: PatternQuestion; readonly isShort: boolean }[] = []
  readonly #longSizes = new Map<string, number | undefined>()
  #stepsOfPass = 0
  /**
   * Number of steps of all deferred matches. All of them together are limited like a single match.
   */
  #steps = 0

  /**
   * Whether a string matches a pattern, which has RE2 syntax and is not anchored. Returns false if
   * matching the string would take too long.
   */
  matches(text: string, pattern: string): boolean {
    const known = this.#known.get(pattern)?.get(text)
    if (known !== undefined) return known
    const size = this.#longSizeOf(pattern)
    if (size !== undefined)
      return this.#ask(text, pattern, { steps: size * text.length, isShort: false })
    const compiled = compilePattern(pattern)
    if (compiled === undefined) return false
    const steps = stepsOf(compiled, text)
    const isShort = steps <= SHORT_STEPS_MAX
    this.#stepsOfPass += steps
    if (isShort && this.#stepsOfPass <= PASS_STEPS_MAX) return compiled.test(text)
    return this.#ask(text, pattern, { steps, isShort })
  }

  /**
   * Defers a match. Until its result is known, it counts as true. Returns false if all deferred
   * matches together would take too long.
   */
  #ask(
    text: string,
    pattern: string,
    { steps, isShort }: { readonly steps: number; readonly isShort: boolean },
  ): boolean {
    this.#steps += steps
    if (this.#steps > STEPS_MAX) return false
    const question = new PatternQuestion(pattern, text, matching)
    this.#asked.push({ question, isShort })
    this.#memoize(question, true)
    return true
  }

  /**
   * Returns the size of a pattern if compiling it on this thread would take too long, and undefined
   * otherwise.
   */
  #longSizeOf(pattern: string): number | undefined {
    if (this.#longSizes.has(pattern)) return this.#longSizes.get(pattern)
    const size = longPatternSize(pattern)
    this.#longSizes.set(pattern, size)
    return size
  }

  /** Runs the matches that were deferred during the last pass. Returns false if there were none. */
  *answer(slice: Slice): Turns<boolean> {
    const asked = this.#asked
    this.#asked = []
    this.#stepsOfPass = 0
    for (const { question, isShort } of asked) {
      if (slice.isOver()) yield undefined
      if (isShort)
        this.#memoize(question, compilePattern(question.pattern)?.test(question.text) === true)
      else
        yield {
          question,
          resume: (answer) =>
            this.#memoize(question, !(answer instanceof CelError) && answer === true),
        }
    }
    return asked.length > 0
  }

  #memoize({ pattern, text }: PatternQuestion, isMatch: boolean): void {
    const texts = this.#known.get(pattern) ?? new Map<string, boolean>()
    this.#known.set(pattern, texts.set(text, isMatch))
  }
}

/**
 * Maximum number of compiled patterns in the cache. When it is reached, the oldest pattern is
 * evicted.
 */
const PATTERNS_MAX = 1000
const compiled = new Map<string, RE2JS | undefined>()

/** Returns the compiled pattern, or undefined if it is invalid. */
export function compilePattern(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern)
  const [oldest] = compiled.keys()
  if (compiled.size >= PATTERNS_MAX && oldest !== undefined) compiled.delete(oldest)
  const made = tryCompile(pattern)
  compiled.set(pattern, made)
  return made
}

function tryCompile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern)
  } catch {
    return undefined
  }
}
