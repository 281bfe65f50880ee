/**
 * Error recovery of the parser. It reports the same errors as cel-go. To recover, it drops an
 * extraneous token, inserts a missing token, or skips to a token with which an enclosing rule can
 * continue.
 */
import { type Fault, NOWHERE, type Source } from './source.ts'
import { describeKinds, type Token, type TokenKind } from './tokens.ts'

/**
 * The tokens that can follow. `mayEnd` means that the rule can end here, so tokens that can follow
 * the rule are also valid.
 */
export type Next = { readonly kinds: ReadonlySet<TokenKind>; readonly mayEnd: boolean }

export const next = (kinds: Iterable<TokenKind>, mayEnd = false): Next => ({
  kinds: new Set(kinds),
  mayEnd,
})

/**
 * Maximum nesting depth of rules. It bounds the stack, because the parser is recursive. Error
 * messages show the number to clients.
 */
const RULE_DEPTH_MAX = 250
/** Maximum number of error recoveries. Parsing stops when it is exceeded. */
const RECOVERIES_MAX = 30

/** Thrown to end the current rule. The rule that called it continues. */
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
   * Begins a rule of the grammar. `after` is the set of tokens that can follow it in the calling
   * rule. `enter`, `fail` and `leave` are separate calls, because a single call with a callback
   * would overflow the stack if rules are nested deeply.
   */
  enter(name: string, after: Next): number {
    const depth = this.#depths.get(name) ?? 0
    this.deepen(name)
    this.#follows.push(after)
    return depth
  }

  /** Handles an error in a rule. The rule ends, and the calling rule continues. */
  fail(name: string, error: unknown): void {
    if (!(error instanceof SyntaxFault)) throw error
    this.#report(error.token, error.message)
    this.#recover(name)
  }

  leave(name: string, depth: number): void {
    this.#follows.pop()
    this.#depths.set(name, depth)
  }

  /** Adds one level of nesting until the rule ends. Each operator of a chain adds a level. */
  deepen(name: string): void {
    const depth = (this.#depths.get(name) ?? 0) + 1
    if (depth > RULE_DEPTH_MAX)
      throw new ParseLimit(`expression recursion limit exceeded: ${RULE_DEPTH_MAX}`)
    this.#depths.set(name, depth)
  }

  /**
   * Consumes a token of this kind. `after` is the set of tokens that can follow it in the same
   * rule.
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
   * Called before a choice between alternatives. If the next token begins none of them, either
   * drops this token or ends the rule with an error.
   */
  sync(choices: Next): void {
    if (this.#isRecovering || choices.mayEnd || choices.kinds.has(this.kind)) return
    if (this.#dropOne(choices.kinds)) return
    this.#mismatch(choices.kinds)
  }

  /** Called before another iteration of a loop. Skips tokens that do not fit. */
  syncLoop(choices: Next): void {
    if (this.#isRecovering || choices.kinds.has(this.kind)) return
    this.#report(
      this.token,
      `extraneous input ${this.#shown(this.token)} expecting ${describeKinds(choices.kinds)}`,
    )
    this.#skipUntil(new Set([...choices.kinds, ...this.#anyFollow()]))
  }

  /** Reports that the token `count` tokens ahead continues none of the alternatives. */
  noViable(count: number): never {
    let text = this.#shownText(this.token)
    for (let at = 1; at <= count; at++) {
      // The lexer has already reported any text between tokens that is not whitespace.
      const between = this.#source.slice(this.#ahead(at - 1).to, this.#ahead(at).from)
      text += between.replace(/\S/gu, '') + this.#shownText(this.#ahead(at))
    }
    throw new SyntaxFault(
      this.#ahead(count),
      `no viable alternative at input '${escapeBlanks(text)}'`,
    )
  }

  /** Reports that the token `count` tokens ahead is not in the set of expected tokens. */
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

  /** Returns the tokens that can follow any of the current rules. */
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
   * Returns the text of a token. The end of the input is an empty text here, although it has a name
   * in other messages.
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
