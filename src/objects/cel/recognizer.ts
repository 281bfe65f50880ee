/**
 * Recovers from syntax errors, so that the parser reports the same errors as cel-go. There are
 * three ways to recover: dropping an unexpected token, inserting a missing one, or skipping to a
 * token with which an enclosing rule of the grammar can continue.
 */
import { type Fault, NOWHERE, type Source } from './source.ts'
import { describeKinds, type Token, type TokenKind } from './tokens.ts'

/**
 * The tokens that are expected next. If `mayEnd` is true, the current grammar rule can also end
 * here, so tokens that can follow the rule are also expected.
 */
export type Next = { readonly kinds: ReadonlySet<TokenKind>; readonly mayEnd: boolean }

export const next = (kinds: Iterable<TokenKind>, mayEnd = false): Next => ({
  kinds: new Set(kinds),
  mayEnd,
})

/**
 * Maximum depth of nested grammar rules. The parser is recursive, so this limits its use of the
 * stack. Error messages for clients contain this number.
 */
const RULE_DEPTH_MAX = 250
/** Maximum number of error recoveries. Parsing stops when it is exceeded. */
const RECOVERIES_MAX = 30

/**
 * Thrown to end the current grammar rule. The parser then continues in the rule that contains it.
 */
class SyntaxFault {
  readonly token: Token
  readonly message: string

  constructor(token: Token, message: string) {
    this.token = token
    this.message = message
  }
}

/** Thrown to stop parsing, because a limit is exceeded. */
export class ParseLimit {
  readonly fault: Fault

  constructor(message: string) {
    this.fault = { offset: NOWHERE, message }
  }
}

export class Recognizer {
  readonly faults: Fault[]
  readonly #source: Source
  readonly #tokens: readonly Token[]
  #at = 0
  #isRecovering = false
  #failedAt = -1
  #failedRules = new Set<string>()
  #recoveries = 0
  readonly #follows: Next[] = []
  readonly #depths = new Map<string, number>()

  constructor(source: Source, tokens: readonly Token[], faults: Fault[]) {
    this.#source = source
    this.#tokens = tokens
    this.faults = faults
  }

  get token(): Token {
    return this.#ahead(0)
  }

  get kind(): TokenKind {
    return this.token.kind
  }

  /** Returns the kind of the token that is `count` tokens ahead. */
  peek(count: number): TokenKind {
    return this.#ahead(count).kind
  }

  /**
   * Begins a grammar rule. `after` contains the tokens that the calling rule expects after it. A
   * rule calls `enter`, `fail` and `leave`. If it passed a callback to a single method instead,
   * deeply nested rules would overflow the stack.
   */
  enter(name: string, after: Next): number {
    const depth = this.#depths.get(name) ?? 0
    this.deepen(name)
    this.#follows.push(after)
    return depth
  }

  /** Handles an error in a grammar rule. The rule ends, and the rule that called it continues. */
  fail(name: string, error: unknown): void {
    if (!(error instanceof SyntaxFault)) throw error
    this.#report(error.token, error.message)
    this.#recover(name)
  }

  leave(name: string, depth: number): void {
    this.#follows.pop()
    this.#depths.set(name, depth)
  }

  /**
   * Adds a level of nesting until the grammar rule ends. Each operator of a chain such as `a + b +
   * c` adds one.
   */
  deepen(name: string): void {
    const depth = (this.#depths.get(name) ?? 0) + 1
    if (depth > RULE_DEPTH_MAX)
      throw new ParseLimit(`expression recursion limit exceeded: ${RULE_DEPTH_MAX}`)
    this.#depths.set(name, depth)
  }

  /**
   * Consumes a token of this kind. `after` contains the tokens that the same grammar rule expects
   * after it.
   */
  match(kind: TokenKind, after: Next): Token {
    if (this.kind !== kind) {
      const made = this.#matchInline(kind, after)
      if (made !== undefined) return made
    }
    this.#succeed()
    const token = this.token
    this.#at++
    return token
  }

  /**
   * Called before a choice between alternatives of the grammar. If the next token begins none of
   * them, drops the token, or ends the current rule with an error.
   */
  sync(choices: Next): void {
    if (this.#isRecovering || choices.mayEnd || choices.kinds.has(this.kind)) return
    if (this.#dropOne(choices.kinds)) return
    this.#mismatch(choices.kinds)
  }

  /**
   * Called before each further iteration of a loop in a grammar rule. Skips tokens that can neither
   * continue the loop nor follow it.
   */
  syncLoop(choices: Next): void {
    if (this.#isRecovering || choices.kinds.has(this.kind)) return
    this.#report(
      this.token,
      `extraneous input ${this.#shown(this.token)} expecting ${describeKinds(choices.kinds)}`,
    )
    this.#skipUntil(new Set([...choices.kinds, ...this.#anyFollow()]))
  }

  /**
   * Reports an error at a later token, `count` tokens ahead, at which no alternative of the grammar
   * can continue.
   */
  noViable(count: number): never {
    let text = this.#shownText(this.token)
    for (let at = 1; at <= count; at++) {
      // Text between two tokens that is not whitespace was already reported by the lexer.
      const between = this.#source.slice(this.#ahead(at - 1).to, this.#ahead(at).from)
      text += between.replace(/\S/gu, '') + this.#shownText(this.#ahead(at))
    }
    throw new SyntaxFault(
      this.#ahead(count),
      `no viable alternative at input '${escapeBlanks(text)}'`,
    )
  }

  /** Reports that a later token, `count` tokens ahead, is not one of the expected tokens. */
  mismatch(count: number, { kinds }: Next): never {
    this.#at += count
    return this.#mismatch(kinds)
  }

  #ahead(count: number): Token {
    const token = this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]
    if (token === undefined) throw new Error('the token list has no end token')
    return token
  }

  #matchInline(kind: TokenKind, after: Next): Token | undefined {
    const wanted = new Set([kind])
    if (this.#dropOne(wanted)) return undefined
    if (this.#inContext(after).has(this.kind)) {
      this.#report(this.token, `missing ${describeKinds(wanted)} at ${this.#shown(this.token)}`)
      return { kind, text: '', from: this.token.from, to: this.token.from }
    }
    return this.#mismatch(wanted)
  }

  #dropOne(wanted: ReadonlySet<TokenKind>): boolean {
    if (!wanted.has(this.peek(1)) || this.kind === 'end') return false
    this.#report(
      this.token,
      `extraneous input ${this.#shown(this.token)} expecting ${describeKinds(wanted)}`,
    )
    this.#at++
    this.#succeed()
    return true
  }

  #mismatch(wanted: ReadonlySet<TokenKind>): never {
    throw new SyntaxFault(
      this.token,
      `mismatched input ${this.#shown(this.token)} expecting ${describeKinds(wanted)}`,
    )
  }

  #report(token: Token, message: string): void {
    if (this.#isRecovering) return
    this.#isRecovering = true
    this.faults.push({ offset: token.from, message: `Syntax error: ${message}` })
  }

  #succeed(): void {
    this.#isRecovering = false
    this.#failedAt = -1
    this.#failedRules = new Set()
  }

  #recover(rule: string): void {
    if (++this.#recoveries > RECOVERIES_MAX) {
      throw new ParseLimit(`error recovery attempt limit exceeded: ${RECOVERIES_MAX}`)
    }
    if (this.#failedAt === this.#at && this.#failedRules.has(rule) && this.kind !== 'end')
      this.#at++
    this.#failedAt = this.#at
    this.#failedRules.add(rule)
    this.#skipUntil(this.#anyFollow())
  }

  #skipUntil(kinds: ReadonlySet<TokenKind>): void {
    while (this.kind !== 'end' && !kinds.has(this.kind)) this.#at++
  }

  /** Returns the tokens that can follow any of the grammar rules that are being parsed. */
  #anyFollow(): Set<TokenKind> {
    return new Set(this.#follows.flatMap(({ kinds }) => [...kinds]))
  }

  #inContext(after: Next): Set<TokenKind> {
    const kinds = new Set(after.kinds)
    let { mayEnd } = after
    for (let at = this.#follows.length - 1; mayEnd && at >= 0; at--) {
      for (const kind of this.#follows[at]?.kinds ?? []) kinds.add(kind)
      mayEnd = this.#follows[at]?.mayEnd ?? false
    }
    return kinds
  }

  /**
   * Returns the text of a token for an error message. The text of the end is empty here, whereas
   * other messages show it as a name.
   */
  #shownText({ kind, text }: Token): string {
    return kind === 'end' ? '' : text
  }

  #shown(token: Token): string {
    return `'${escapeBlanks(token.text)}'`
  }
}

const escapeBlanks = (text: string): string =>
  text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
