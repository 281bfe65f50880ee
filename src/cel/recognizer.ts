/**
 * How the parser goes on after a mistake, so that it names the same mistakes in the same words as the reference: it drops one
 * token too many, makes up one that is missing, or skips to a token that some rule further up can go on with.
 */
import { type Fault, NOWHERE, type Source } from './source.ts'
import { describeKinds, type Token, type TokenKind } from './tokens.ts'

/** What may come next; `mayEnd`: or whatever follows the rule. */
export type Next = { readonly kinds: ReadonlySet<TokenKind>; readonly mayEnd: boolean }

export const next = (kinds: Iterable<TokenKind>, mayEnd = false): Next => ({ kinds: new Set(kinds), mayEnd })

/** The parser calls itself for each level, so this bounds the stack. The number is in a message that clients see. */
const RULE_DEPTH_MAX = 250
/** More mistakes than these are not looked for. */
const RECOVERIES_MAX = 30

/** The rule that runs is left; its caller goes on. */
class SyntaxFault {
  readonly token: Token
  readonly message: string

  constructor(token: Token, message: string) {
    this.token = token
    this.message = message
  }
}

/** Parsing ends. */
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

  /** The kind of the token `count` further on. */
  peek(count: number): TokenKind {
    return this.#ahead(count).kind
  }

  /**
   * A rule of the grammar starts; `after` is what may follow it where it is used. The three parts of a rule are calls of their own
   * and not one that takes a function, since deep nesting would run out of stack.
   */
  enter(name: string, after: Next): number {
    const depth = this.#depths.get(name) ?? 0
    this.deepen(name)
    this.#follows.push(after)
    return depth
  }

  /** A rule failed: it is left, and its caller goes on. */
  fail(name: string, error: unknown): void {
    if (!(error instanceof SyntaxFault)) throw error
    this.#report(error.token, error.message)
    this.#recover(name)
  }

  leave(name: string, depth: number): void {
    this.#follows.pop()
    this.#depths.set(name, depth)
  }

  /** A chain of operators counts as nesting, until its rule ends. */
  deepen(name: string): void {
    const depth = (this.#depths.get(name) ?? 0) + 1
    if (depth > RULE_DEPTH_MAX) throw new ParseLimit(`expression recursion limit exceeded: ${RULE_DEPTH_MAX}`)
    this.#depths.set(name, depth)
  }

  /** Takes a token of this kind; `after` is what may come behind it in the same rule. */
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

  /** Before a choice: a token that fits none of them is dropped or ends the rule. */
  sync(choices: Next): void {
    if (this.#isRecovering || choices.mayEnd || choices.kinds.has(this.kind)) return
    if (this.#dropOne(choices.kinds)) return
    this.#mismatch(choices.kinds)
  }

  /** Before a further turn of a loop that had one: what does not fit is skipped. */
  syncLoop(choices: Next): void {
    if (this.#isRecovering || choices.kinds.has(this.kind)) return
    this.#report(this.token, `extraneous input ${this.#shown(this.token)} expecting ${describeKinds(choices.kinds)}`)
    this.#skipUntil(new Set([...choices.kinds, ...this.#anyFollow()]))
  }

  /** No choice goes on with the token `count` further on. */
  noViable(count: number): never {
    let text = this.#shownText(this.token)
    for (let at = 1; at <= count; at++) {
      // What is between two tokens and is no blank was reported already.
      const between = this.#source.slice(this.#ahead(at - 1).to, this.#ahead(at).from)
      text += between.replace(/\S/gu, '') + this.#shownText(this.#ahead(at))
    }
    throw new SyntaxFault(this.#ahead(count), `no viable alternative at input '${escapeBlanks(text)}'`)
  }

  /** The token `count` further on is none of these. */
  mismatch(count: number, { kinds }: Next): never {
    this.#at += count
    return this.#mismatch(kinds)
  }

  #ahead(count: number): Token {
    const token = this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]
    if (token === undefined) throw new Error('an expression has at least its end')
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
    this.#report(this.token, `extraneous input ${this.#shown(this.token)} expecting ${describeKinds(wanted)}`)
    this.#at++
    this.#succeed()
    return true
  }

  #mismatch(wanted: ReadonlySet<TokenKind>): never {
    throw new SyntaxFault(this.token, `mismatched input ${this.#shown(this.token)} expecting ${describeKinds(wanted)}`)
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
    if (this.#failedAt === this.#at && this.#failedRules.has(rule) && this.kind !== 'end') this.#at++
    this.#failedAt = this.#at
    this.#failedRules.add(rule)
    this.#skipUntil(this.#anyFollow())
  }

  #skipUntil(kinds: ReadonlySet<TokenKind>): void {
    while (this.kind !== 'end' && !kinds.has(this.kind)) this.#at++
  }

  /** What may follow any of the rules that run. */
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

  /** The end has no text here, where elsewhere it has a name. */
  #shownText({ kind, text }: Token): string {
    return kind === 'end' ? '' : text
  }

  #shown(token: Token): string {
    return `'${escapeBlanks(token.text)}'`
  }
}

const escapeBlanks = (text: string): string =>
  text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
