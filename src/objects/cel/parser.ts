/**
 * Parses tokens to a syntax tree. Each rule of CEL's grammar has a method. Macros are expanded at
 * the same time.
 */
import { type Entry, type Expr, partsOf, type FieldInitializer } from './ast.ts'
import { end, exprStart, optionalStart, sets } from './grammar.ts'
import { lex } from './lexer.ts'
import { type ReadLiteral, readBytes, readFloat, readInt, readString, readUint } from './literal.ts'
import type { Macros } from './macros.ts'
import { OperatorParser, reserved } from './operator-parser.ts'
import { ParseLimit, Recognizer } from './recognizer.ts'
import type { Slice } from './run.ts'
import { type Fault, NOWHERE, Source } from './source.ts'
import type { TokenKind } from './tokens.ts'
import type { Turns } from './turns.ts'
import type { Value } from './values.ts'

/**
 * Maximum length of an expression in code points. Real expressions are shorter. Error messages for
 * clients contain this number.
 */
const CODE_POINTS_MAX = 100_000

/**
 * Maximum depth of the tree, which other code traverses recursively. Even a short text can have a
 * deep tree, for example because of operators in nested parentheses.
 */
const TREE_DEPTH_MAX = 600

export type ParseResult =
  | { readonly source: Source; readonly expr: Expr }
  | { readonly source: Source; readonly faults: readonly Fault[] }

export function* parse(text: string, macros: Macros, slice: Slice): Turns<ParseResult> {
  const source = new Source(text)
  if (source.points.length > CODE_POINTS_MAX) {
    const message = `expression code point size exceeds limit: size: ${source.points.length}, limit ${CODE_POINTS_MAX}`
    return { source, faults: [{ offset: NOWHERE, message }] }
  }
  const { tokens, faults } = yield* lex(source, slice)
  const parser = new Parser(new Recognizer(source, tokens, [...faults]), macros, slice)
  const expr = yield* parser.parse()
  if (parser.faults.length > 0) return { source, faults: parser.faults }
  if (isTooDeep(expr)) {
    return {
      source,
      faults: [
        { offset: NOWHERE, message: `expression recursion limit exceeded: ${TREE_DEPTH_MAX}` },
      ],
    }
  }
  return { source, expr }
}

function isTooDeep(expr: Expr): boolean {
  let level: readonly Expr[] = [expr]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > TREE_DEPTH_MAX) return true
    level = [...new Set(level.flatMap(partsOf))]
  }
  return false
}

class Parser extends OperatorParser {
  *parse(): Turns<Expr> {
    try {
      const depth = this.tokens.enter('start', end)
      try {
        const found = yield* this.expr(sets.end)
        this.tokens.match('end', end)
        return found
      } catch (error) {
        this.tokens.fail('start', error)
        return this.missing()
      } finally {
        this.tokens.leave('start', depth)
      }
    } catch (error) {
      if (!(error instanceof ParseLimit)) throw error
      this.tokens.faults.length = 0
      this.tokens.faults.push(error.fault)
      return this.missing()
    }
  }

  protected *primary(): Turns<Expr> {
    const depth = this.tokens.enter('primary', sets.selection)
    try {
      this.tokens.sync(sets.memberStart)
      const { kind } = this.tokens
      if (kind === '(') return yield* this.#nested()
      if (kind === '[') return yield* this.#list()
      if (kind === '{') return yield* this.#map()
      return kind === '.' || kind === 'identifier' ? yield* this.#name() : this.#literal()
    } catch (error) {
      this.tokens.fail('primary', error)
      return this.missing()
    } finally {
      this.tokens.leave('primary', depth)
    }
  }

  *#nested(): Turns<Expr> {
    this.tokens.match('(', exprStart)
    const inner = yield* this.expr(sets.parenthesis)
    this.tokens.match(')', sets.selection)
    return inner
  }

  /**
   * Parses a variable, a call or, if a brace follows, an object. A leading dot makes the name
   * absolute, and has no other effect.
   */
  *#name(): Turns<Expr> {
    const dot = this.tokens.kind === '.'
    if (dot && this.tokens.peek(1) !== 'identifier') this.tokens.noViable(1)
    let ahead = dot ? 2 : 1
    if (this.tokens.peek(ahead) === '(') return yield* this.#globalCall(dot)
    while (this.tokens.peek(ahead) === '.' && this.tokens.peek(ahead + 1) === 'identifier')
      ahead += 2
    if (this.tokens.peek(ahead) === '{') return yield* this.#struct(dot)
    if (dot) this.tokens.match('.', sets.identifier)
    const name = this.tokens.match('identifier', end)
    if (reserved.has(name.text)) return this.fail(name.from, `reserved identifier: ${name.text}`)
    return { kind: 'ident', offset: name.from, name: dot ? `.${name.text}` : name.text }
  }

  *#globalCall(dot: boolean): Turns<Expr> {
    if (dot) this.tokens.match('.', sets.identifier)
    const name = this.tokens.match('identifier', sets.open)
    return yield* this.calling({ name: dot ? `.${name.text}` : name.text, at: name })
  }

  *#struct(dot: boolean): Turns<Expr> {
    const names: string[] = []
    if (dot) this.tokens.match('.', sets.identifier)
    names.push(this.tokens.match('identifier', sets.dotOrBrace).text)
    while (this.tokens.kind === '.') {
      this.tokens.match('.', sets.identifier)
      names.push(this.tokens.match('identifier', sets.dotOrBrace).text)
    }
    const brace = this.tokens.match('{', sets.fieldsStart)
    this.tokens.sync(sets.fieldsStart)
    const fields = sets.optionalField.kinds.has(this.tokens.kind) ? yield* this.#structFields() : []
    this.#closing('}')
    return {
      kind: 'struct',
      offset: brace.from,
      name: `${dot ? '.' : ''}${names.join('.')}`,
      fields,
    }
  }

  *#structFields(): Turns<readonly FieldInitializer[]> {
    const fields: FieldInitializer[] = []
    const depth = this.tokens.enter('fieldInitializerList', sets.mapEnd)
    try {
      do {
        if (fields.length > 0) this.tokens.match(',', sets.optionalField)
        fields.push(yield* this.#structField())
      } while (this.tokens.kind === ',' && this.tokens.peek(1) !== '}')
      return fields
    } catch (error) {
      this.tokens.fail('fieldInitializerList', error)
      return fields
    } finally {
      this.tokens.leave('fieldInitializerList', depth)
    }
  }

  *#structField(): Turns<FieldInitializer> {
    const isOptional = this.tokens.kind === '?'
    if (isOptional) this.tokens.match('?', sets.field)
    const name = this.escapeIdent()
    const colon = this.tokens.match(':', exprStart)
    return { name, value: yield* this.expr(sets.comma), isOptional, offset: colon.from }
  }

  *#list(): Turns<Expr> {
    const bracket = this.tokens.match('[', sets.listStart)
    this.tokens.sync(sets.listStart)
    const elements: Expr[] = []
    const optional = new Set<number>()
    if (optionalStart.kinds.has(this.tokens.kind)) yield* this.#listInit(elements, optional)
    this.#closing(']')
    return { kind: 'list', offset: bracket.from, elements, optional }
  }

  *#listInit(elements: Expr[], optional: Set<number>): Turns<void> {
    const depth = this.tokens.enter('listInit', sets.listEnd)
    try {
      yield* this.#optionalExpr(elements, optional)
      while (this.tokens.kind === ',' && optionalStart.kinds.has(this.tokens.peek(1))) {
        this.tokens.match(',', optionalStart)
        yield* this.#optionalExpr(elements, optional)
      }
    } catch (error) {
      this.tokens.fail('listInit', error)
    } finally {
      this.tokens.leave('listInit', depth)
    }
  }

  *#optionalExpr(elements: Expr[], optional: Set<number>): Turns<void> {
    const depth = this.tokens.enter('optExpr', sets.comma)
    try {
      if (this.tokens.kind === '?') {
        this.tokens.match('?', exprStart)
        optional.add(elements.length)
      }
      elements.push(yield* this.expr(end))
    } catch (error) {
      this.tokens.fail('optExpr', error)
    } finally {
      this.tokens.leave('optExpr', depth)
    }
  }

  /** Parses the end of a list or map. A trailing comma is accepted. */
  #closing(kind: ']' | '}'): void {
    this.tokens.sync(kind === ']' ? sets.listEnd : sets.mapEnd)
    if (this.tokens.kind === ',') this.tokens.match(',', kind === ']' ? sets.bracket : sets.brace)
    this.tokens.match(kind, sets.selection)
  }

  *#map(): Turns<Expr> {
    const brace = this.tokens.match('{', sets.mapStart)
    this.tokens.sync(sets.mapStart)
    const entries: Entry[] = []
    if (optionalStart.kinds.has(this.tokens.kind)) yield* this.#mapInit(entries)
    this.#closing('}')
    return { kind: 'map', offset: brace.from, entries }
  }

  *#mapInit(entries: Entry[]): Turns<void> {
    const depth = this.tokens.enter('mapInitializerList', sets.mapEnd)
    try {
      entries.push(yield* this.#mapEntry())
      while (this.tokens.kind === ',' && optionalStart.kinds.has(this.tokens.peek(1))) {
        this.tokens.match(',', optionalStart)
        entries.push(yield* this.#mapEntry())
      }
    } catch (error) {
      this.tokens.fail('mapInitializerList', error)
    } finally {
      this.tokens.leave('mapInitializerList', depth)
    }
  }

  *#mapEntry(): Turns<Entry> {
    const isOptional = this.tokens.kind === '?'
    if (isOptional) this.tokens.match('?', exprStart)
    const key = yield* this.expr(sets.colon)
    const colon = this.tokens.match(':', exprStart)
    return { key, value: yield* this.expr(sets.comma), isOptional, offset: colon.from }
  }

  #literal(): Expr {
    const depth = this.tokens.enter('literal', end)
    try {
      const offset = this.tokens.token.from
      const sign = this.tokens.kind === '-' ? this.tokens.match('-', sets.number).text : ''
      const { kind, text } = this.tokens.match(this.tokens.kind, end)
      const read = readLiteral(kind, `${sign}${text}`)
      return 'fault' in read
        ? this.fail(offset, read.fault)
        : { kind: 'literal', offset, value: read.value }
    } catch (error) {
      this.tokens.fail('literal', error)
      return this.missing()
    } finally {
      this.tokens.leave('literal', depth)
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
