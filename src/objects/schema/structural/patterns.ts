/**
 * Matches the patterns of a schema in one validation. Texts that are quick to match are matched
 * where they are met; the others are deferred, matched between two passes over the value, and known
 * in the next pass.
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
 * The steps of all texts that are matched during a pass: 20 ms at worst, and about 1 ms as a rule.
 */
const PASS_STEPS_MAX = 50_000

const matching = { verb: 'matches', limit: -1 } as const

export class Patterns {
  /** Results by pattern and text; a deferred one counts as a match until it is known. */
  readonly #known = new Map<string, Map<string, boolean>>()
  #asked: { readonly question: PatternQuestion; readonly isShort: boolean }[] = []
  readonly #longSizes = new Map<string, number | undefined>()
  #stepsOfPass = 0
  /**
   * The steps of all deferred matches. All texts of a value together may not take longer than one
   * may.
   */
  #steps = 0

  /**
   * Patterns are RE2 and not anchored. A text that would take too long to match counts as no match.
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

  /** Defers a match, which counts as true until it is known; false if it would take too long. */
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
   * The program size of a pattern that takes long to compile, and is not compiled here; undefined
   * for other patterns.
   */
  #longSizeOf(pattern: string): number | undefined {
    if (this.#longSizes.has(pattern)) return this.#longSizes.get(pattern)
    const size = longPatternSize(pattern)
    this.#longSizes.set(pattern, size)
    return size
  }

  /** Matches what the last pass deferred. False: it deferred nothing. */
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
 * The last patterns that were compiled, in use or not: one that was evicted is compiled again with
 * its next text.
 */
const PATTERNS_MAX = 1000
const compiled = new Map<string, RE2JS | undefined>()

/** Undefined: the pattern is invalid. */
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
