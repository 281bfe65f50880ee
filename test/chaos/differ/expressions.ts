/**
 * Generates random CEL expressions over the standard library and the libraries of Kubernetes 1.33.
 * The generator tracks their types, so that most expressions compile. data/expressions.json
 * contains templates in this notation:
 *
 * - `int` is an expression of that type, and `int double` is an expression of either type.
 * - `=same` is an expression of a type that is chosen once for the whole template.
 * - `bool k:string` is an expression that can use the variable k.
 * - «a;b» is either a or b, and ‹x› is either x or nothing.
 * - $v is a variable of the template.
 */
import { isRecord } from '../../recorded/compat/json.ts'
import type { Choices } from './choices.ts'
import { Lists, readObject } from './data.ts'

/**
 * Expressions from which larger expressions can be composed, such as variables. Each has a type.
 */
export type Scope = readonly (readonly [expression: string, type: string])[]

export class Grammar {
  readonly sets: Lists
  readonly leaves: Lists
  readonly forms: Lists

  constructor() {
    const file = 'expressions.json'
    const whole = readObject(file)
    const lists = (key: string): Lists => {
      const part = whole[key]
      if (!isRecord(part)) throw new Error(`data/${file} has no ${key}`)
      return new Lists(file, part)
    }
    this.sets = lists('sets')
    this.leaves = lists('leaves')
    this.forms = lists('forms')
  }
}

const WRONG = 0.015
const VARIABLES = 4

export class Expressions {
  readonly #choices: Choices
  readonly #grammar: Grammar
  readonly #scope: Scope
  /** Probability that an expression has a wrong type on purpose. */
  readonly #wrong: number
  #variables = 0

  constructor(choices: Choices, grammar: Grammar, scope: Scope, { wrong = WRONG } = {}) {
    this.#choices = choices
    this.#grammar = grammar
    this.#scope = scope
    this.#wrong = wrong
  }

  make(type: string, depth: number, scope: Scope = this.#scope): string {
    const choices = this.#choices
    if (choices.chance(this.#wrong)) return this.make(this.ofSet('any'), depth - 1, scope)
    const named = scope.filter(([, of]) => of === type)
    if (named.length > 0 && choices.chance(depth <= 0 ? 0.8 : 0.35)) return choices.pick(named)[0]
    if (depth <= 0 || !this.#grammar.forms.has(type)) return this.#leaf(type)
    return this.#expand(choices.pick(this.#grammar.forms.texts(type)), depth - 1, scope)
  }

  /** Returns a random type from a set, such as the set of types that can be ordered. */
  ofSet(name: string): string {
    return this.#choices.pick(this.#grammar.sets.texts(name))
  }

  #leaf(type: string): string {
    const choices = this.#choices
    if (type !== 'string') return choices.pick(this.#grammar.leaves.texts(type))
    const text = choices.pick(this.#grammar.leaves.texts('texts'))
    return choices.chance(0.1) ? JSON.stringify(text) : `'${text}'`
  }

  #expand(form: string, depth: number, scope: Scope): string {
    const choices = this.#choices
    const variable = choices.chance(0.1)
      ? choices.pick(['i', 'e', 'self'])
      : `v${this.#variables++ % VARIABLES}`
    const chosen = new Map<string, string>()
    const typeOf = (word: string): string => {
      if (!word.startsWith('=')) return word
      const type = chosen.get(word) ?? this.ofSet(word.slice(1))
      chosen.set(word, type)
      return type
    }
    return form
      .replaceAll('$v', variable)
      .replace(/‹([^›]*)›/g, (_, part: string) => (choices.chance(0.35) ? part : ''))
      .replace(/«([^»]*)»/g, (_, words: string) => choices.pick(words.split(';')))
      .replace(/`([^`]*)`/g, (_, hole: string) => {
        const words = hole.split(' ')
        const bound = words.filter((word) => word.includes(':')).map((word) => word.split(':'))
        const inner = [...scope, ...bound.map(([name = '', type = '']) => [name, type] as const)]
        const type = typeOf(choices.pick(words.filter((word) => !word.includes(':'))))
        return type === 'field' ? this.#field(scope) : this.make(type, depth, inner)
      })
  }

  /** Returns a field selection that can be the argument of `has`. */
  #field(scope: Scope): string {
    const fields = scope.filter(([text]) => /^self\.\w+(\.\w+)*$/.test(text))
    return fields.length === 0 ? 'self.x' : this.#choices.pick(fields)[0]
  }
}

/** Changes an expression so that it most likely does not compile. */
export function broken(choices: Choices, text: string): string {
  const at = choices.int(text.length)
  const insert = choices.pick(['(', ')', '"', '.', ',', ' ', '!', '#', 'ü', '\\', '@', '0'])
  return choices.pick([
    text.slice(0, at),
    text + choices.pick([')', ' &&', ' 1', '.x', '[', ' ? 1', "'", '//', ';', ' in', '.']),
    text.slice(0, at) + insert + text.slice(at),
    text.replace(
      /self\.\w+/,
      choices.pick([
        'self.nope',
        'other',
        'self',
        'oldSelf',
        'self.i.j',
        'object',
        'namespace',
        'self.if',
      ]),
    ),
    text.replace(
      /\b(size|contains|matches|all|map)\b/,
      choices.pick(['sizes', 'has', 'exists', 'filter', 'nope']),
    ),
  ])
}
