/**
 * The patterns of a schema in one validation. Texts that are quick to match are matched where they are met; the others are gathered, matched
 * between two passes over the value, and known in the next one.
 */
import { RE2JS } from 're2js'
import { longPatternSize, PatternQuestion, SHORT_STEPS_MAX, STEPS_MAX, stepsOf } from '../../cel/regex.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { CelError } from '../../cel/values.ts'

/** Of all texts that are matched while a value is gone over: 20 ms at worst, and about 1 ms as a rule. */
const PASS_STEPS_MAX = 50_000

const matching = { verb: 'matches', limit: -1 } as const

export class Patterns {
  /** By pattern and text; what has been asked counts as a match until there is an answer. */
  readonly #known = new Map<string, Map<string, boolean>>()
  #asked: { readonly question: PatternQuestion; readonly isShort: boolean }[] = []
  readonly #longSizes = new Map<string, number | undefined>()
  #stepsOfPass = 0
  /** Of what was asked. All texts of a value together may not take longer than one may. */
  #steps = 0

  /** Patterns are RE2 and not anchored. What would take too long to match does not. */
  matches(text: string, pattern: string): boolean {
    const known = this.#known.get(pattern)?.get(text)
    if (known !== undefined) return known
    const size = this.#longSizeOf(pattern)
    if (size !== undefined) return this.#ask(text, pattern, { steps: size * text.length, isShort: false })
    const compiled = compilePattern(pattern)
    if (compiled === undefined) return false
    const steps = stepsOf(compiled, text)
    const isShort = steps <= SHORT_STEPS_MAX
    this.#stepsOfPass += steps
    if (isShort && this.#stepsOfPass <= PASS_STEPS_MAX) return compiled.test(text)
    return this.#ask(text, pattern, { steps, isShort })
  }

  /** True until there is an answer. */
  #ask(
    text: string,
    pattern: string,
    { steps, isShort }: { readonly steps: number; readonly isShort: boolean },
  ): boolean {
    this.#steps += steps
    if (this.#steps > STEPS_MAX) return false
    const question = new PatternQuestion(pattern, text, matching)
    this.#asked.push({ question, isShort })
    this.#know(question, true)
    return true
  }

  /** Of a pattern whose program takes long to make, and is not known here; undefined: it does not. */
  #longSizeOf(pattern: string): number | undefined {
    if (this.#longSizes.has(pattern)) return this.#longSizes.get(pattern)
    const size = longPatternSize(pattern)
    this.#longSizes.set(pattern, size)
    return size
  }

  /** Finds out what the last pass did not know. False: it knew all. */
  *answer(slice: Slice): Turns<boolean> {
    const asked = this.#asked
    this.#asked = []
    this.#stepsOfPass = 0
    for (const { question, isShort } of asked) {
      if (slice.isOver()) yield undefined
      if (isShort) this.#know(question, compilePattern(question.pattern)?.test(question.text) === true)
      else yield { question, tell: (answer) => this.#know(question, !(answer instanceof CelError) && answer === true) }
    }
    return asked.length > 0
  }

  #know({ pattern, text }: PatternQuestion, isMatch: boolean): void {
    const texts = this.#known.get(pattern) ?? new Map<string, boolean>()
    this.#known.set(pattern, texts.set(text, isMatch))
  }
}

/** Compiled patterns, the last ones that were compiled, in use or not: one that was let go of is compiled again with its next text. */
const PATTERNS_MAX = 1000
const compiled = new Map<string, RE2JS | undefined>()

/** Undefined: it is no pattern. */
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
