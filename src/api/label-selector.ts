/**
 * Label selectors such as `a=b,c!=d,e in (f,g),!h,i>3`. The grammar and the error messages are
 * those of kube-apiserver.
 */
import { cutText } from '../lib/text/cut-text.ts'
import { badRequest } from './errors.ts'
import { checkLabelValue, checkQualifiedName, labelTextOf } from './names.ts'
import { quote } from './quote.ts'
import { defaultMinor } from './releases.ts'

export type Labels = { readonly [key: string]: string }

export type Requirement =
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | {
      readonly key: string
      readonly operator: 'in' | 'notin'
      readonly values: ReadonlySet<string>
    }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly bound: bigint }

/**
 * Parses a label selector. An empty or blank selector has no requirements and selects everything.
 * Fails with a BadRequest if the string is not a label selector. The error has the text of the
 * release.
 */
export function parseLabelSelector(
  text: string,
  release: number = defaultMinor,
): readonly Requirement[] {
  return new Parser(text, release).parse()
}

export function matchesLabels(
  requirements: readonly Requirement[],
  labels: Labels | undefined,
): boolean {
  return requirements.every((requirement) =>
    matchesRequirement(
      requirement,
      labels !== undefined && Object.hasOwn(labels, requirement.key)
        ? labels[requirement.key]
        : undefined,
    ),
  )
}

/**
 * Returns whether a requirement is met. `value` is the value of the required label, or undefined if
 * the object does not have that label.
 */
export function matchesRequirement(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'in':
      return value !== undefined && requirement.values.has(value)
    case 'notin':
      return value === undefined || !requirement.values.has(value)
    case 'gt':
      return value !== undefined && integer.test(value) && BigInt(value) > requirement.bound
    case 'lt':
      return value !== undefined && integer.test(value) && BigInt(value) < requirement.bound
  }
}

const integer = /^[0-9]{1,18}$/
/**
 * Maximum number of requirements. Each requirement is evaluated for each object, and real selectors
 * have far fewer.
 */
export const REQUIREMENTS_MAX = 1000
/** Maximum number of values in all requirements together. */
export const VALUES_MAX = 10_000
const tokenPattern = /\s*(==|!=|[()!,=<>]|[^\s()!,=<>]+)/y
const marks: ReadonlySet<string> = new Set(['(', ')', '!', ',', '=', '==', '!=', '<', '>'])

/**
 * Parses a selector. Each token is read only when it is needed, so that parsing stops at the first
 * error.
 */
class Parser {
  readonly #text: string
  readonly #release: number
  /** Current token. Empty at the end of the selector. */
  #token = ''
  #at = 0
  #values = 0

  constructor(text: string, release: number) {
    this.#text = text
    this.#release = release
    this.#advance()
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    while (this.#token !== '') {
      const first = this.#token
      if (first !== '!' && !isWord(first))
        refuse(`found '${first}', expected: !, identifier, or 'end of string'`)
      if (requirements.length === REQUIREMENTS_MAX) {
        refuse(`a label selector may have at most ${REQUIREMENTS_MAX} requirements`)
      }
      requirements.push(this.#requirement())
      const next = this.#token
      if (next === '') break
      if (next !== ',') refuse(`found '${next}', expected: ',' or 'end of string'`)
      const after = this.#advance()
      if (after !== '!' && !isWord(after))
        refuse(`found '${after}', expected: identifier after ','`)
    }
    return requirements
  }

  #requirement(): Requirement {
    const isNegated = this.#token === '!'
    if (isNegated) this.#advance()
    const key = this.#word('identifier')
    const keyFaults = checkQualifiedName(key)
    if (keyFaults.length > 0)
      refuse(`${unparsable}<nil>: Invalid value: ${quote(key)}: ${this.#joined(keyFaults)}`)
    if (isNegated) return { key, operator: 'absent' }
    const operator = this.#token
    if (operator === '' || operator === ',') return { key, operator: 'exists' }
    this.#advance()
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'in', values: this.#checked(key, [this.#value()]) }
      case '!=':
        return { key, operator: 'notin', values: this.#checked(key, [this.#value()]) }
      case 'in':
      case 'notin':
        return { key, operator, values: this.#checked(key, this.#set()) }
      case '>':
        return { key, operator: 'gt', bound: this.#bound(key) }
      case '<':
        return { key, operator: 'lt', bound: this.#bound(key) }
      default:
        return refuse(`${unparsable}found '${operator}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  #checked(key: string, values: readonly string[]): ReadonlySet<string> {
    for (const [index, value] of values.entries()) {
      const faults = checkLabelValue(value)
      if (faults.length > 0) {
        refuse(
          `${unparsable}values[${index}][${key}]: Invalid value: ${quote(value)}: ${this.#joined(faults)}`,
        )
      }
    }
    return new Set(values)
  }

  #bound(key: string): bigint {
    const value = this.#value()
    this.#checked(key, [value])
    if (integer.test(value)) return BigInt(value)
    const rule = "for 'Gt', 'Lt' operators, the value must be an integer"
    return refuse(`${unparsable}values[0]: Invalid value: ${quote(value)}: ${rule}`)
  }

  #joined(faults: readonly string[]): string {
    return faults.map((fault) => labelTextOf(fault, this.#release)).join('; ')
  }

  /** Reads the value after an operator. A missing value is treated as an empty string. */
  #value(): string {
    if (this.#token === '' || this.#token === ',') return ''
    return this.#word('identifier')
  }

  #set(): string[] {
    const opening = this.#token
    if (opening !== '(') refuse(`${unparsable}found '${opening}' expected: '('`)
    this.#advance()
    const values: string[] = []
    for (;;) {
      const isValue = isWord(this.#token)
      if (++this.#values > VALUES_MAX)
        refuse(`a label selector may have at most ${VALUES_MAX} values`)
      values.push(isValue ? this.#word('identifier') : '')
      const token = this.#token
      if (token !== ',' && token !== ')') {
        refuse(
          `${unparsable}found '${token}', expected: ${isValue ? "',' or ')'" : "',', ')' or identifier"}`,
        )
      }
      this.#advance()
      if (token === ')') return values
    }
  }

  #word(expected: string): string {
    const token = this.#token
    if (!isWord(token)) refuse(`${unparsable}found '${token}', expected: ${expected}`)
    this.#advance()
    return token
  }

  #advance(): string {
    tokenPattern.lastIndex = this.#at
    const [all = '', token = ''] = tokenPattern.exec(this.#text) ?? []
    this.#at += all.length
    this.#token = token
    return token
  }
}

const unparsable = 'unable to parse requirement: '
const isWord = (token: string): boolean => token !== '' && !marks.has(token)

function refuse(why: string): never {
  throw badRequest(cutText(why))
}
