/** Label selectors: `a=b,c!=d,e in (f,g),!h,i>3`. The grammar and the words of its errors are kube-apiserver's. */
import { badRequest } from './errors.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'
import { quote } from './quote.ts'

export type Labels = { readonly [key: string]: string }

export type Requirement =
  | { readonly key: string; readonly operator: 'exists' | 'absent' }
  | { readonly key: string; readonly operator: 'in' | 'notin'; readonly values: ReadonlySet<string> }
  | { readonly key: string; readonly operator: 'gt' | 'lt'; readonly bound: bigint }

/** Refuses with a BadRequest what is no selector. An empty or blank one selects everything: no requirements. */
export function parseLabelSelector(text: string): readonly Requirement[] {
  return new Parser(text).parse()
}

export function matchesLabels(requirements: readonly Requirement[], labels: Labels | undefined): boolean {
  return requirements.every((requirement) =>
    matchesRequirement(
      requirement,
      labels !== undefined && Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined,
    ),
  )
}

/** `value`: of the label that the requirement names; undefined where there is none. */
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
const tokenPattern = /\s*(==|!=|[()!,=<>]|[^\s()!,=<>]+)/y
const marks: ReadonlySet<string> = new Set(['(', ')', '!', ',', '=', '==', '!=', '<', '>'])

class Parser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(text: string) {
    const tokens: string[] = []
    tokenPattern.lastIndex = 0
    for (let match = tokenPattern.exec(text); match !== null; match = tokenPattern.exec(text))
      tokens.push(match[1] ?? '')
    this.#tokens = tokens
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    while (this.#at < this.#tokens.length) {
      const token = this.#peek()
      if (token !== '!' && !isWord(token)) refuse(`found '${token}', expected: !, identifier, or 'end of string'`)
      requirements.push(this.#requirement())
      const next = this.#peek()
      if (next === '') break
      if (next !== ',') refuse(`found '${next}', expected: ',' or 'end of string'`)
      this.#at++
      const after = this.#peek()
      if (after !== '!' && !isWord(after)) refuse(`found '${after}', expected: identifier after ','`)
    }
    return requirements
  }

  #requirement(): Requirement {
    const isNegated = this.#peek() === '!'
    if (isNegated) this.#at++
    const key = this.#word('identifier')
    const keyFaults = checkQualifiedName(key)
    if (keyFaults.length > 0) refuse(`${unparsable}<nil>: Invalid value: ${quote(key)}: ${keyFaults.join('; ')}`)
    if (isNegated) return { key, operator: 'absent' }
    const operator = this.#peek()
    if (operator === '' || operator === ',') return { key, operator: 'exists' }
    this.#at++
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'in', values: checkValues(key, [this.#value()]) }
      case '!=':
        return { key, operator: 'notin', values: checkValues(key, [this.#value()]) }
      case 'in':
      case 'notin':
        return { key, operator, values: checkValues(key, this.#set()) }
      case '>':
        return { key, operator: 'gt', bound: bound(key, this.#value()) }
      case '<':
        return { key, operator: 'lt', bound: bound(key, this.#value()) }
      default:
        return refuse(`${unparsable}found '${operator}', expected: in, notin, =, ==, !=, gt, lt`)
    }
  }

  /** What stands after an operator; nothing means the empty value. */
  #value(): string {
    const token = this.#peek()
    if (token === '' || token === ',') return ''
    return this.#word('identifier')
  }

  #set(): string[] {
    if (this.#peek() !== '(') refuse(`${unparsable}found '${this.#peek()}' expected: '('`)
    this.#at++
    const values: string[] = []
    for (;;) {
      const isValue = isWord(this.#peek())
      values.push(isValue ? this.#word('identifier') : '')
      const token = this.#peek()
      if (token !== ',' && token !== ')') {
        refuse(`${unparsable}found '${token}', expected: ${isValue ? "',' or ')'" : "',', ')' or identifier"}`)
      }
      this.#at++
      if (token === ')') return values
    }
  }

  #word(expected: string): string {
    const token = this.#peek()
    if (!isWord(token)) refuse(`${unparsable}found '${token}', expected: ${expected}`)
    this.#at++
    return token
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }
}

const unparsable = 'unable to parse requirement: '
const isWord = (token: string): boolean => token !== '' && !marks.has(token)

function refuse(why: string): never {
  throw badRequest(why)
}

function checkValues(key: string, values: readonly string[]): ReadonlySet<string> {
  for (const [index, value] of values.entries()) {
    const faults = checkLabelValue(value)
    if (faults.length > 0) {
      refuse(`${unparsable}values[${index}][${key}]: Invalid value: ${quote(value)}: ${faults.join('; ')}`)
    }
  }
  return new Set(values)
}

function bound(key: string, value: string): bigint {
  checkValues(key, [value])
  if (integer.test(value)) return BigInt(value)
  const rule = "for 'Gt', 'Lt' operators, the value must be an integer"
  return refuse(`${unparsable}values[0]: Invalid value: ${quote(value)}: ${rule}`)
}
