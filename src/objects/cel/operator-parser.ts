/**
 * Parses expressions that consist of other expressions: operators, field selections, indexes and
 * calls.
 */
import type { Call, Expr } from './ast.ts'
import {
  end,
  exprStart,
  factors,
  memberStart,
  optionalStart,
  relations,
  sets,
  terms,
} from './grammar.ts'
import { expandMacro, type Macros } from './macros.ts'
import type { Next, Recognizer } from './recognizer.ts'
import type { Slice } from './run.ts'
import type { Fault } from './source.ts'
import type { Token } from './tokens.ts'
import type { Turns } from './turns.ts'

export const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

export abstract class OperatorParser {
  protected readonly tokens: Recognizer
  readonly #macros: Macros
  readonly #slice: Slice

  constructor(recognizer: Recognizer, macros: Macros, slice: Slice) {
    this.tokens = recognizer
    this.#macros = macros
    this.#slice = slice
  }

  protected abstract primary(): Turns<Expr>

  get faults(): readonly Fault[] {
    return this.tokens.faults
  }

  protected missing(): Expr {
    return { kind: 'missing', offset: this.tokens.token.from }
  }

  protected fail(offset: number, message: string): Expr {
    this.tokens.faults.push({ offset, message })
    return { kind: 'missing', offset }
  }

  #call(token: { readonly from: number }, name: string, ...args: readonly Expr[]): Expr {
    return { kind: 'call', offset: token.from, name, target: undefined, args }
  }

  protected *expr(after: Next): Turns<Expr> {
    const depth = this.tokens.enter('expr', after)
    try {
      const condition = yield* this.#conditionalOr(sets.question)
      if (this.tokens.kind !== '?') return condition
      const mark = this.tokens.match('?', exprStart)
      const then = yield* this.#conditionalOr(sets.colon)
      this.tokens.match(':', exprStart)
      const otherwise = yield* this.expr(end)
      return this.#call(mark, '_?_:_', condition, then, otherwise)
    } catch (error) {
      this.tokens.fail('expr', error)
      return this.missing()
    } finally {
      this.tokens.leave('expr', depth)
    }
  }

  *#conditionalOr(after: Next): Turns<Expr> {
    const depth = this.tokens.enter('conditionalOr', after)
    try {
      const operands = [yield* this.#conditionalAnd()]
      const operators: Token[] = []
      while (this.tokens.kind === '||') {
        operators.push(this.tokens.match('||', exprStart))
        operands.push(yield* this.#conditionalAnd())
      }
      return this.#balanced('_||_', operands, operators)
    } catch (error) {
      this.tokens.fail('conditionalOr', error)
      return this.missing()
    } finally {
      this.tokens.leave('conditionalOr', depth)
    }
  }

  *#conditionalAnd(): Turns<Expr> {
    const depth = this.tokens.enter('conditionalAnd', sets.or)
    try {
      const operands = [yield* this.#relation(sets.and)]
      const operators: Token[] = []
      while (this.tokens.kind === '&&') {
        operators.push(this.tokens.match('&&', exprStart))
        operands.push(yield* this.#relation(sets.and))
      }
      return this.#balanced('_&&_', operands, operators)
    } catch (error) {
      this.tokens.fail('conditionalAnd', error)
      return this.missing()
    } finally {
      this.tokens.leave('conditionalAnd', depth)
    }
  }

  /**
   * Converts a chain such as `a || b || c` to a balanced tree, so that a long chain does not cause
   * deep recursion later.
   */
  #balanced(name: string, operands: readonly Expr[], operators: readonly Token[]): Expr {
    const tree = (from: number, to: number): Expr => {
      if (from === to) return operands[from] ?? this.missing()
      const middle = (from + to) >> 1
      const operator = operators[middle] ?? this.tokens.token
      return this.#call(operator, name, tree(from, middle), tree(middle + 1, to))
    }
    return tree(0, operands.length - 1)
  }

  *#relation(after: Next, isRight = false): Turns<Expr> {
    // Checking the time slice here is enough: lists, operator chains and argument lists can be
    // long, and all of them consist of relations.
    if (this.#slice.isOver()) yield undefined
    const depth = this.tokens.enter('relation', after)
    try {
      let left = yield* this.#calc(sets.relation, 1)
      while (!isRight && relations.includes(this.tokens.kind)) {
        this.tokens.deepen('relation')
        const operator = this.tokens.match(this.tokens.kind, exprStart)
        const right = yield* this.#relation(sets.relation, true)
        left = this.#call(
          operator,
          operator.kind === 'in' ? '@in' : `_${operator.text}_`,
          left,
          right,
        )
      }
      return left
    } catch (error) {
      this.tokens.fail('relation', error)
      return this.missing()
    } finally {
      this.tokens.leave('relation', depth)
    }
  }

  *#calc(after: Next, level: number): Turns<Expr> {
    const depth = this.tokens.enter('calc', after)
    try {
      let left = yield* this.#unary()
      for (;;) {
        const isFactor = factors.includes(this.tokens.kind) && level <= 2
        if (!isFactor && !(terms.includes(this.tokens.kind) && level <= 1)) return left
        this.tokens.deepen('calc')
        const operator = this.tokens.match(this.tokens.kind, exprStart)
        const right = yield* this.#calc(sets.calculation, isFactor ? 3 : 2)
        left = this.#call(operator, `_${operator.text}_`, left, right)
      }
    } catch (error) {
      this.tokens.fail('calc', error)
      return this.missing()
    } finally {
      this.tokens.leave('calc', depth)
    }
  }

  *#unary(): Turns<Expr> {
    const depth = this.tokens.enter('unary', sets.calculation)
    try {
      this.tokens.sync(exprStart)
      const { kind } = this.tokens
      if (kind === '!') return yield* this.#prefixed('!', '!_')
      if (kind !== '-') return yield* this.#member()
      const behind = this.tokens.peek(1)
      if (behind === 'int' || behind === 'float') return yield* this.#member()
      if (!memberStart.includes(behind)) this.tokens.noViable(1)
      return yield* this.#prefixed('-', '-_')
    } catch (error) {
      this.tokens.fail('unary', error)
      return this.missing()
    } finally {
      this.tokens.leave('unary', depth)
    }
  }

  /**
   * Parses an operand with the signs before it. An even number of equal signs (`--` or `!!`) has no
   * effect.
   */
  *#prefixed(kind: '!' | '-', name: string): Turns<Expr> {
    const again = kind === '!' ? sets.afterNot : sets.memberStart
    const first = this.tokens.match(kind, again)
    let count = 1
    this.tokens.syncLoop(again)
    while (this.tokens.kind === kind) {
      this.tokens.match(kind, again)
      count++
      this.tokens.syncLoop(again)
    }
    const operand = yield* this.#member()
    return count % 2 === 0 ? operand : this.#call(first, name, operand)
  }

  *#member(): Turns<Expr> {
    const depth = this.tokens.enter('member', end)
    let operand: Expr | undefined
    try {
      operand = yield* this.primary()
      for (;;) {
        if (this.tokens.kind === '.') operand = yield* this.#selection(operand)
        else if (this.tokens.kind === '[') operand = yield* this.#index(operand)
        else return operand
        this.tokens.deepen('member')
      }
    } catch (error) {
      this.tokens.fail('member', error)
      return operand ?? this.missing()
    } finally {
      this.tokens.leave('member', depth)
    }
  }

  *#selection(operand: Expr): Turns<Expr> {
    const behind = this.tokens.peek(1)
    if (behind === 'true' || behind === 'false' || behind === 'null')
      this.tokens.mismatch(1, sets.identifier)
    if (behind !== '?' && behind !== 'identifier' && behind !== 'escaped') this.tokens.noViable(1)
    const dot = this.tokens.match('.', sets.optionalField)
    if (this.tokens.kind === '?') {
      this.tokens.match('?', sets.field)
      const name = this.escapeIdent()
      const field: Expr = { kind: 'literal', offset: dot.from, value: name }
      return this.#call(dot, '_?._', operand, field)
    }
    if (this.tokens.kind === 'identifier' && this.tokens.peek(1) === '(') {
      const { text } = this.tokens.match('identifier', sets.open)
      return yield* this.calling({ name: text, target: operand })
    }
    const field = this.escapeIdent()
    return { kind: 'select', offset: dot.from, operand, field, isTest: false }
  }

  protected escapeIdent(): string {
    const depth = this.tokens.enter('escapeIdent', sets.selection)
    try {
      this.tokens.sync(sets.field)
      const { kind } = this.tokens
      const { text } = this.tokens.match(kind === 'escaped' ? 'escaped' : 'identifier', end)
      return kind === 'escaped' ? text.slice(1, -1) : text
    } catch (error) {
      this.tokens.fail('escapeIdent', error)
      return ''
    } finally {
      this.tokens.leave('escapeIdent', depth)
    }
  }

  *#index(operand: Expr): Turns<Expr> {
    const bracket = this.tokens.match('[', optionalStart)
    this.tokens.sync(optionalStart)
    const isOptional = this.tokens.kind === '?'
    if (isOptional) this.tokens.match('?', exprStart)
    const index = yield* this.expr(sets.bracket)
    this.tokens.match(']', sets.selection)
    return this.#call(bracket, isOptional ? '_[?_]' : '_[_]', operand, index)
  }

  /** Parses a call, starting at its opening parenthesis. */
  protected *calling({
    name,
    target,
    at,
  }: {
    name: string
    target?: Expr
    at?: Token
  }): Turns<Expr> {
    const open = this.tokens.match('(', sets.argsStart)
    this.tokens.sync(sets.argsStart)
    const args = this.tokens.kind === ')' ? [] : yield* this.#exprList()
    const call: Call = { kind: 'call', offset: open.from, name, target, args }
    try {
      this.tokens.match(')', sets.selection)
    } catch (error) {
      // Expand the macro even if its closing parenthesis is missing, so that errors inside it are
      // also reported.
      this.#expanded(call, at)
      throw error
    }
    return this.#expanded(call, at)
  }

  #expanded(call: Call, at: Token | undefined): Expr {
    if (at !== undefined && reserved.has(call.name))
      return this.fail(at.from, `reserved identifier: ${call.name}`)
    const expanded = expandMacro(call, this.#macros)
    if (expanded === undefined) return call
    return 'fault' in expanded ? this.fail(expanded.offset, expanded.fault) : expanded
  }

  *#exprList(): Turns<readonly Expr[]> {
    const args: Expr[] = []
    const depth = this.tokens.enter('exprList', sets.parenthesis)
    try {
      args.push(yield* this.expr(sets.comma))
      while (this.tokens.kind === ',') {
        this.tokens.match(',', exprStart)
        args.push(yield* this.expr(sets.comma))
      }
      return args
    } catch (error) {
      this.tokens.fail('exprList', error)
      return args
    } finally {
      this.tokens.leave('exprList', depth)
    }
  }
}
