/**
 * Tokens to a tree: one method per rule of the grammar, named as the rules are. Macros are expanded on the way.
 */
import { type Call, type Entry, type Expr, partsOf, type StructField } from './ast.ts'
import { lex } from './lexer.ts'
import { type ReadLiteral, readBytes, readFloat, readInt, readString, readUint } from './literal.ts'
import { expandMacro, type Macros } from './macros.ts'
import { type Next, next, ParseLimit, Recognizer } from './recognizer.ts'
import { type Fault, NOWHERE, Source } from './source.ts'
import type { Token, TokenKind } from './tokens.ts'
import type { Value } from './values.ts'

/** Far more than any rule needs; the number is in a message that clients see. */
const CODE_POINTS_MAX = 100_000

/** Chains of operators in nested parentheses get deep in a short text. What comes later goes down the tree by calling itself. */
const TREE_DEPTH_MAX = 600

export type Parsed =
  | { readonly source: Source; readonly expr: Expr }
  | { readonly source: Source; readonly faults: readonly Fault[] }

export function parse(text: string, macros: Macros): Parsed {
  const source = new Source(text)
  if (source.points.length > CODE_POINTS_MAX) {
    const message = `expression code point size exceeds limit: size: ${source.points.length}, limit ${CODE_POINTS_MAX}`
    return { source, faults: [{ offset: NOWHERE, message }] }
  }
  const { tokens, faults } = lex(source)
  const parser = new Parser(new Recognizer(source, tokens, [...faults]), macros)
  const expr = parser.parse()
  if (parser.faults.length > 0) return { source, faults: parser.faults }
  if (isTooDeep(expr)) {
    return { source, faults: [{ offset: NOWHERE, message: `expression recursion limit exceeded: ${TREE_DEPTH_MAX}` }] }
  }
  return { source, expr }
}

function isTooDeep(expr: Expr): boolean {
  let level: readonly Expr[] = [expr]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TREE_DEPTH_MAX) return true
    level = level.flatMap(partsOf)
  }
  return false
}

const literals: readonly TokenKind[] = ['true', 'false', 'null', 'float', 'int', 'uint', 'string', 'bytes']
const memberStart: readonly TokenKind[] = ['[', '{', '(', '.', '-', ...literals, 'identifier']
const start: readonly TokenKind[] = ['!', ...memberStart]
const relations: readonly TokenKind[] = ['<', '<=', '>=', '>', '==', '!=', 'in']
const factors: readonly TokenKind[] = ['*', '/', '%']
const terms: readonly TokenKind[] = ['+', '-']

const exprStart = next(start)
const optionalStart = next([...start, '?'])
const end = next([], true)

/** What may come next at each place of the grammar. */
const sets = {
  end: next(['end']),
  question: next(['?'], true),
  colon: next([':']),
  or: next(['||'], true),
  and: next(['&&'], true),
  relation: next(relations, true),
  calculation: next([...factors, ...terms], true),
  memberStart: next(memberStart),
  afterNot: next(start),
  selection: next(['.', '['], true),
  identifier: next(['identifier']),
  field: next(['identifier', 'escaped']),
  optionalField: next(['?', 'identifier', 'escaped']),
  fieldsStart: next(['?', 'identifier', 'escaped', ',', '}']),
  dotOrBrace: next(['.', '{']),
  number: next(['int', 'float']),
  open: next(['(']),
  argsStart: next([...start, ')']),
  parenthesis: next([')']),
  comma: next([','], true),
  listStart: next([...start, '?', ',', ']']),
  listEnd: next([',', ']']),
  bracket: next([']']),
  mapStart: next([...start, '?', ',', '}']),
  mapEnd: next([',', '}']),
  brace: next(['}']),
}

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
)

class Parser {
  readonly #in: Recognizer
  readonly #macros: Macros

  constructor(recognizer: Recognizer, macros: Macros) {
    this.#in = recognizer
    this.#macros = macros
  }

  get faults(): readonly Fault[] {
    return this.#in.faults
  }

  parse(): Expr {
    try {
      const depth = this.#in.enter('start', end)
      try {
        const found = this.#expr(sets.end)
        this.#in.match('end', end)
        return found
      } catch (error) {
        this.#in.fail('start', error)
        return this.#missing()
      } finally {
        this.#in.leave('start', depth)
      }
    } catch (error) {
      if (!(error instanceof ParseLimit)) throw error
      this.#in.faults.length = 0
      this.#in.faults.push(error.fault)
      return this.#missing()
    }
  }

  #missing(): Expr {
    return { kind: 'missing', offset: this.#in.token.from }
  }

  #fail(offset: number, message: string): Expr {
    this.#in.faults.push({ offset, message })
    return { kind: 'missing', offset }
  }

  #call(token: { readonly from: number }, name: string, ...args: readonly Expr[]): Expr {
    return { kind: 'call', offset: token.from, name, target: undefined, args }
  }

  #expr(after: Next): Expr {
    const depth = this.#in.enter('expr', after)
    try {
      const condition = this.#conditionalOr(sets.question)
      if (this.#in.kind !== '?') return condition
      const mark = this.#in.match('?', exprStart)
      const then = this.#conditionalOr(sets.colon)
      this.#in.match(':', exprStart)
      const otherwise = this.#expr(end)
      return this.#call(mark, '_?_:_', condition, then, otherwise)
    } catch (error) {
      this.#in.fail('expr', error)
      return this.#missing()
    } finally {
      this.#in.leave('expr', depth)
    }
  }

  #conditionalOr(after: Next): Expr {
    const depth = this.#in.enter('conditionalOr', after)
    try {
      const operands = [this.#conditionalAnd()]
      const operators: Token[] = []
      while (this.#in.kind === '||') {
        operators.push(this.#in.match('||', exprStart))
        operands.push(this.#conditionalAnd())
      }
      return this.#balanced('_||_', operands, operators)
    } catch (error) {
      this.#in.fail('conditionalOr', error)
      return this.#missing()
    } finally {
      this.#in.leave('conditionalOr', depth)
    }
  }

  #conditionalAnd(): Expr {
    const depth = this.#in.enter('conditionalAnd', sets.or)
    try {
      const operands = [this.#relation(sets.and)]
      const operators: Token[] = []
      while (this.#in.kind === '&&') {
        operators.push(this.#in.match('&&', exprStart))
        operands.push(this.#relation(sets.and))
      }
      return this.#balanced('_&&_', operands, operators)
    } catch (error) {
      this.#in.fail('conditionalAnd', error)
      return this.#missing()
    } finally {
      this.#in.leave('conditionalAnd', depth)
    }
  }

  /** Long chains become a balanced tree, so that no later step goes deep. */
  #balanced(name: string, operands: readonly Expr[], operators: readonly Token[]): Expr {
    const tree = (from: number, to: number): Expr => {
      if (from === to) return operands[from] ?? this.#missing()
      const middle = (from + to) >> 1
      const operator = operators[middle] ?? this.#in.token
      return this.#call(operator, name, tree(from, middle), tree(middle + 1, to))
    }
    return tree(0, operands.length - 1)
  }

  #relation(after: Next, isRight = false): Expr {
    const depth = this.#in.enter('relation', after)
    try {
      let left = this.#calc(sets.relation, 1)
      while (!isRight && relations.includes(this.#in.kind)) {
        this.#in.deepen('relation')
        const operator = this.#in.match(this.#in.kind, exprStart)
        const right = this.#relation(sets.relation, true)
        left = this.#call(operator, operator.kind === 'in' ? '@in' : `_${operator.text}_`, left, right)
      }
      return left
    } catch (error) {
      this.#in.fail('relation', error)
      return this.#missing()
    } finally {
      this.#in.leave('relation', depth)
    }
  }

  #calc(after: Next, level: number): Expr {
    const depth = this.#in.enter('calc', after)
    try {
      let left = this.#unary()
      for (;;) {
        const isFactor = factors.includes(this.#in.kind) && level <= 2
        if (!isFactor && !(terms.includes(this.#in.kind) && level <= 1)) return left
        this.#in.deepen('calc')
        const operator = this.#in.match(this.#in.kind, exprStart)
        const right = this.#calc(sets.calculation, isFactor ? 3 : 2)
        left = this.#call(operator, `_${operator.text}_`, left, right)
      }
    } catch (error) {
      this.#in.fail('calc', error)
      return this.#missing()
    } finally {
      this.#in.leave('calc', depth)
    }
  }

  #unary(): Expr {
    const depth = this.#in.enter('unary', sets.calculation)
    try {
      this.#in.sync(exprStart)
      const { kind } = this.#in
      if (kind === '!') return this.#prefixed('!', '!_')
      if (kind !== '-') return this.#member()
      const behind = this.#in.peek(1)
      if (behind === 'int' || behind === 'float') return this.#member()
      if (!memberStart.includes(behind)) this.#in.noViable(1)
      return this.#prefixed('-', '-_')
    } catch (error) {
      this.#in.fail('unary', error)
      return this.#missing()
    } finally {
      this.#in.leave('unary', depth)
    }
  }

  /** Pairs of the same sign cancel out. */
  #prefixed(kind: '!' | '-', name: string): Expr {
    const again = kind === '!' ? sets.afterNot : sets.memberStart
    const first = this.#in.match(kind, again)
    let count = 1
    this.#in.syncLoop(again)
    while (this.#in.kind === kind) {
      this.#in.match(kind, again)
      count++
      this.#in.syncLoop(again)
    }
    const operand = this.#member()
    return count % 2 === 0 ? operand : this.#call(first, name, operand)
  }

  #member(): Expr {
    const depth = this.#in.enter('member', end)
    let operand: Expr | undefined
    try {
      operand = this.#primary()
      for (;;) {
        if (this.#in.kind === '.') operand = this.#selection(operand)
        else if (this.#in.kind === '[') operand = this.#index(operand)
        else return operand
        this.#in.deepen('member')
      }
    } catch (error) {
      this.#in.fail('member', error)
      return operand ?? this.#missing()
    } finally {
      this.#in.leave('member', depth)
    }
  }

  #selection(operand: Expr): Expr {
    const behind = this.#in.peek(1)
    if (behind === 'true' || behind === 'false' || behind === 'null') this.#in.mismatch(1, sets.identifier)
    if (behind !== '?' && behind !== 'identifier' && behind !== 'escaped') this.#in.noViable(1)
    const dot = this.#in.match('.', sets.optionalField)
    if (this.#in.kind === '?') {
      this.#in.match('?', sets.field)
      const name = this.#escapeIdent()
      const field: Expr = { kind: 'literal', offset: dot.from, value: name }
      return this.#call(dot, '_?._', operand, field)
    }
    if (this.#in.kind === 'identifier' && this.#in.peek(1) === '(') {
      const { text } = this.#in.match('identifier', sets.open)
      return this.#calling({ name: text, target: operand })
    }
    const field = this.#escapeIdent()
    return { kind: 'select', offset: dot.from, operand, field, isTest: false }
  }

  #escapeIdent(): string {
    const depth = this.#in.enter('escapeIdent', sets.selection)
    try {
      this.#in.sync(sets.field)
      const { kind } = this.#in
      const { text } = this.#in.match(kind === 'escaped' ? 'escaped' : 'identifier', end)
      return kind === 'escaped' ? text.slice(1, -1) : text
    } catch (error) {
      this.#in.fail('escapeIdent', error)
      return ''
    } finally {
      this.#in.leave('escapeIdent', depth)
    }
  }

  #index(operand: Expr): Expr {
    const bracket = this.#in.match('[', optionalStart)
    this.#in.sync(optionalStart)
    const isOptional = this.#in.kind === '?'
    if (isOptional) this.#in.match('?', exprStart)
    const index = this.#expr(sets.bracket)
    this.#in.match(']', sets.selection)
    return this.#call(bracket, isOptional ? '_[?_]' : '_[_]', operand, index)
  }

  /** From the parenthesis on. */
  #calling({ name, target, at }: { name: string; target?: Expr; at?: Token }): Expr {
    const open = this.#in.match('(', sets.argsStart)
    this.#in.sync(sets.argsStart)
    const args = this.#in.kind === ')' ? [] : this.#exprList()
    const call: Call = { kind: 'call', offset: open.from, name, target, args }
    try {
      this.#in.match(')', sets.selection)
    } catch (error) {
      // A call that is not closed may have other mistakes.
      this.#expanded(call, at)
      throw error
    }
    return this.#expanded(call, at)
  }

  #expanded(call: Call, at: Token | undefined): Expr {
    if (at !== undefined && reserved.has(call.name)) return this.#fail(at.from, `reserved identifier: ${call.name}`)
    const expanded = expandMacro(call, this.#macros)
    if (expanded === undefined) return call
    return 'fault' in expanded ? this.#fail(expanded.offset, expanded.fault) : expanded
  }

  #exprList(): readonly Expr[] {
    const args: Expr[] = []
    const depth = this.#in.enter('exprList', sets.parenthesis)
    try {
      args.push(this.#expr(sets.comma))
      while (this.#in.kind === ',') {
        this.#in.match(',', exprStart)
        args.push(this.#expr(sets.comma))
      }
      return args
    } catch (error) {
      this.#in.fail('exprList', error)
      return args
    } finally {
      this.#in.leave('exprList', depth)
    }
  }

  #primary(): Expr {
    const depth = this.#in.enter('primary', sets.selection)
    try {
      this.#in.sync(sets.memberStart)
      const { kind } = this.#in
      if (kind === '(') return this.#nested()
      if (kind === '[') return this.#list()
      if (kind === '{') return this.#map()
      return kind === '.' || kind === 'identifier' ? this.#name() : this.#literal()
    } catch (error) {
      this.#in.fail('primary', error)
      return this.#missing()
    } finally {
      this.#in.leave('primary', depth)
    }
  }

  #nested(): Expr {
    this.#in.match('(', exprStart)
    const inner = this.#expr(sets.parenthesis)
    this.#in.match(')', sets.selection)
    return inner
  }

  /** A variable, a call or, with a brace behind it, an object. A dot before it means no more than that. */
  #name(): Expr {
    const dot = this.#in.kind === '.'
    if (dot && this.#in.peek(1) !== 'identifier') this.#in.noViable(1)
    let ahead = dot ? 2 : 1
    if (this.#in.peek(ahead) === '(') return this.#globalCall(dot)
    while (this.#in.peek(ahead) === '.' && this.#in.peek(ahead + 1) === 'identifier') ahead += 2
    if (this.#in.peek(ahead) === '{') return this.#struct(dot)
    if (dot) this.#in.match('.', sets.identifier)
    const name = this.#in.match('identifier', end)
    if (reserved.has(name.text)) return this.#fail(name.from, `reserved identifier: ${name.text}`)
    return { kind: 'ident', offset: name.from, name: dot ? `.${name.text}` : name.text }
  }

  #globalCall(dot: boolean): Expr {
    if (dot) this.#in.match('.', sets.identifier)
    const name = this.#in.match('identifier', sets.open)
    return this.#calling({ name: dot ? `.${name.text}` : name.text, at: name })
  }

  #struct(dot: boolean): Expr {
    const names: string[] = []
    if (dot) this.#in.match('.', sets.identifier)
    names.push(this.#in.match('identifier', sets.dotOrBrace).text)
    while (this.#in.kind === '.') {
      this.#in.match('.', sets.identifier)
      names.push(this.#in.match('identifier', sets.dotOrBrace).text)
    }
    const brace = this.#in.match('{', sets.fieldsStart)
    this.#in.sync(sets.fieldsStart)
    const fields = sets.optionalField.kinds.has(this.#in.kind) ? this.#structFields() : []
    this.#closing('}')
    return { kind: 'struct', offset: brace.from, name: `${dot ? '.' : ''}${names.join('.')}`, fields }
  }

  #structFields(): readonly StructField[] {
    const fields: StructField[] = []
    const depth = this.#in.enter('fieldInitializerList', sets.mapEnd)
    try {
      do {
        if (fields.length > 0) this.#in.match(',', sets.optionalField)
        fields.push(this.#structField())
      } while (this.#in.kind === ',' && this.#in.peek(1) !== '}')
      return fields
    } catch (error) {
      this.#in.fail('fieldInitializerList', error)
      return fields
    } finally {
      this.#in.leave('fieldInitializerList', depth)
    }
  }

  #structField(): StructField {
    const isOptional = this.#in.kind === '?'
    if (isOptional) this.#in.match('?', sets.field)
    const name = this.#escapeIdent()
    const colon = this.#in.match(':', exprStart)
    return { name, value: this.#expr(sets.comma), isOptional, offset: colon.from }
  }

  #list(): Expr {
    const bracket = this.#in.match('[', sets.listStart)
    this.#in.sync(sets.listStart)
    const elements: Expr[] = []
    const optional = new Set<number>()
    if (optionalStart.kinds.has(this.#in.kind)) this.#listInit(elements, optional)
    this.#closing(']')
    return { kind: 'list', offset: bracket.from, elements, optional }
  }

  #listInit(elements: Expr[], optional: Set<number>): void {
    const depth = this.#in.enter('listInit', sets.listEnd)
    try {
      this.#optionalExpr(elements, optional)
      while (this.#in.kind === ',' && optionalStart.kinds.has(this.#in.peek(1))) {
        this.#in.match(',', optionalStart)
        this.#optionalExpr(elements, optional)
      }
    } catch (error) {
      this.#in.fail('listInit', error)
    } finally {
      this.#in.leave('listInit', depth)
    }
  }

  #optionalExpr(elements: Expr[], optional: Set<number>): void {
    const depth = this.#in.enter('optExpr', sets.comma)
    try {
      if (this.#in.kind === '?') {
        this.#in.match('?', exprStart)
        optional.add(elements.length)
      }
      elements.push(this.#expr(end))
    } catch (error) {
      this.#in.fail('optExpr', error)
    } finally {
      this.#in.leave('optExpr', depth)
    }
  }

  /** A comma too many is allowed. */
  #closing(kind: ']' | '}'): void {
    this.#in.sync(kind === ']' ? sets.listEnd : sets.mapEnd)
    if (this.#in.kind === ',') this.#in.match(',', kind === ']' ? sets.bracket : sets.brace)
    this.#in.match(kind, sets.selection)
  }

  #map(): Expr {
    const brace = this.#in.match('{', sets.mapStart)
    this.#in.sync(sets.mapStart)
    const entries: Entry[] = []
    if (optionalStart.kinds.has(this.#in.kind)) this.#mapInit(entries)
    this.#closing('}')
    return { kind: 'map', offset: brace.from, entries }
  }

  #mapInit(entries: Entry[]): void {
    const depth = this.#in.enter('mapInitializerList', sets.mapEnd)
    try {
      entries.push(this.#mapEntry())
      while (this.#in.kind === ',' && optionalStart.kinds.has(this.#in.peek(1))) {
        this.#in.match(',', optionalStart)
        entries.push(this.#mapEntry())
      }
    } catch (error) {
      this.#in.fail('mapInitializerList', error)
    } finally {
      this.#in.leave('mapInitializerList', depth)
    }
  }

  #mapEntry(): Entry {
    const isOptional = this.#in.kind === '?'
    if (isOptional) this.#in.match('?', exprStart)
    const key = this.#expr(sets.colon)
    const colon = this.#in.match(':', exprStart)
    return { key, value: this.#expr(sets.comma), isOptional, offset: colon.from }
  }

  #literal(): Expr {
    const depth = this.#in.enter('literal', end)
    try {
      const offset = this.#in.token.from
      const sign = this.#in.kind === '-' ? this.#in.match('-', sets.number).text : ''
      const { kind, text } = this.#in.match(this.#in.kind, end)
      const read = readLiteral(kind, `${sign}${text}`)
      return 'fault' in read ? this.#fail(offset, read.fault) : { kind: 'literal', offset, value: read.value }
    } catch (error) {
      this.#in.fail('literal', error)
      return this.#missing()
    } finally {
      this.#in.leave('literal', depth)
    }
  }
}

const words: { readonly [word: string]: Value } = { true: true, false: false, null: null }

function readLiteral(kind: TokenKind, text: string): ReadLiteral {
  if (kind === 'int') return readInt(text)
  if (kind === 'uint') return readUint(text)
  if (kind === 'float') return readFloat(text)
  if (kind === 'string') return readString(text)
  if (kind === 'bytes') return readBytes(text)
  return { value: words[text] ?? null }
}
