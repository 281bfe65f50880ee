/**
 * Validates the CEL rules in schemas. They must compile, and their estimated cost for the largest
 * possible object is limited.
 */
import {
  FAULTS_CHARACTERS_MAX,
  FAULTS_MAX,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  internalFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goPointer, goStruct } from '../../../api/go-value.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  listOf,
  numberOf,
  textOf,
} from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { roundHalfEven } from '../../../objects/cel/library/format-text.ts'
import { smaller, UNBOUNDED } from '../../../objects/cel/ranges.ts'
import type { CelVersion } from '../../../objects/cel/kubernetes.ts'
import type { Slice } from '../../../objects/cel/run.ts'
import type { Turns } from '../../../objects/cel/turns.ts'
import { bytesMin, REQUEST_BYTES_MAX } from '../../../objects/cel/schema-type.ts'
import type { Type } from '../../../objects/cel/types.ts'
import {
  compileRule,
  type CompiledRule,
  ruleTypeOf,
} from '../../../objects/schema/structural/rules.ts'
import { readRulePath } from '../../../objects/schema/structural/rule-path.ts'
import type { AcceptedSchemas } from './accepted-schemas.ts'

const reasons = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
]

/** Validates all fields of CEL rules except the expressions. */
export function validateRuleFields(schema: Fields, path: string): FieldFault[] {
  return faultsOfEach(itemsOf(schema['x-kubernetes-validations']), (rule, at) => {
    const own = `${path}.x-kubernetes-validations[${at}]`
    return [
      ...validateTexts(rule, own),
      ...validateRulePath(textOf(rule['fieldPath']), schema, `${own}.fieldPath`),
    ]
  })
}

function validateTexts(rule: Fields, path: string): FieldFault[] {
  const [text, message] = [textOf(rule['rule']).trim(), textOf(rule['message'])]
  const [messageExpression, reason] = [textOf(rule['messageExpression']), rule['reason']]
  const faults: FieldFault[] = []
  const at = `${path}.message`
  if (text === '') faults.push(required(`${path}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    faults.push(invalidValue(at, message, 'message must be non-empty if specified'))
  } else if (message.trim().includes('\n'))
    faults.push(invalidValue(at, message, 'message must not contain line breaks'))
  else if (text.includes('\n') && message.trim() === '') {
    faults.push(required(at, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    faults.push(
      required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'),
    )
  }
  if (typeof reason === 'string' && !reasons.includes(reason)) {
    faults.push(notSupported(`${path}.reason`, reason, reasons))
  }
  return faults
}

function validateRulePath(fieldPath: string, schema: Fields, path: string): FieldFault[] {
  if (fieldPath === '') return []
  const refuse = (why: string): FieldFault => invalidValue(path, fieldPath, `fieldPath must ${why}`)
  return [
    ...(fieldPath.trim() === '' ? [refuse('be non-empty if specified')] : []),
    ...(fieldPath.includes('\n') ? [refuse('not contain line breaks')] : []),
    ...(readRulePath(fieldPath, schema) === undefined ? [refuse('be a valid path')] : []),
  ]
}

/**
 * Limits of estimated costs. The first is the maximum cost of one rule for all values to which it
 * applies in an object. The second is the maximum total cost of all rules of a schema.
 */
const RULE_COST_MAX = 10_000_000
const SCHEMA_COST_MAX = 100_000_000
/**
 * Maximum number of rules that are reported if the rules of a schema are too expensive, and the
 * minimum cost of a reported rule.
 */
const WORST_MAX = 4
const WORST_COST_MIN = SCHEMA_COST_MAX / 100

const advice =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared'

type Cost = { readonly path: string; readonly cost: bigint }

/** Position of a schema within the schema of the whole object. */
export type RulePosition = {
  readonly path: string
  readonly isRoot: boolean
  /**
   * Maximum number of values in an object to which the schema applies. Undefined if it is
   * unbounded.
   */
  readonly count: number | undefined
  /**
   * Path of the outermost enclosing list or map whose elements cannot be matched with the elements
   * of the stored object. Rules below it cannot use oldSelf. Empty if there is no such list or map.
   */
  readonly uncorrelated: string
  /**
   * Whether a schema that contains this schema has a CEL rule. kube-apiserver then derives the CEL
   * type of this schema from the type of the outer schema.
   */
  readonly isBelowRule: boolean
  /**
   * Whether a schema of unknown type lies between this schema and the outer schema that has the CEL
   * rule. If so, the CEL type of this schema cannot be derived from that of the outer schema.
   */
  readonly isBelowUnknown: boolean
  /**
   * The parent schema, if its type does not permit the keyword (`items` or `additionalProperties`)
   * that contains this schema. The CEL type that is derived from the parent then differs from the
   * type of this schema. Undefined in all other cases, and if `isBelowRule` is false.
   */
  readonly holder: Fields | undefined
}

type RuleContext = {
  readonly path: string
  /** Type of the value that the rule validates. */
  readonly type: Type
  readonly count: number
  readonly uncorrelated: string
  readonly slice: Slice
}

/**
 * Validates the rules of a schema, and adds up their estimated costs. A request can contain
 * hundreds of thousands of rules. Therefore validation stops when there are too many errors or the
 * errors are too long.
 */
export class RuleChecks {
  readonly faults: FieldFault[] = []
  #faultsCharacters = 0
  #countedFaults = 0
  #totalCost = 0n
  /** The most expensive expressions, in descending order of cost. */
  readonly #worst: Cost[] = []
  readonly #accepted: AcceptedSchemas

  constructor(accepted: AcceptedSchemas) {
    this.#accepted = accepted
  }

  *check(schema: Fields, place: RulePosition & { readonly slice: Slice }): Turns<void> {
    const rules = listOf(schema['x-kubernetes-validations'])
    if (rules.length === 0) return
    const path = `${place.path}.x-kubernetes-validations`
    const typed = place.holder === undefined ? schema : elementsOf(place.holder)
    if (typed === undefined && !place.isBelowUnknown) {
      this.faults.push(
        internalFault(path, 'failed to convert to declType for CEL validation rules'),
      )
      return
    }
    const type =
      typed === undefined || place.isBelowUnknown
        ? undefined
        : ruleTypeOf(typed, { isRoot: place.isRoot, release: this.#accepted.gates.release })
    if (typed === undefined || type === undefined) {
      const why =
        'internal error: failed to construct type information for x-kubernetes-validations rules'
      this.faults.push(
        internalFault(path, `${why}: unable to convert structural schema to CEL declarations`),
      )
      return
    }
    const count = place.count ?? Math.floor(REQUEST_BYTES_MAX / (bytesMin(typed) + 1))
    for (const [at, given] of rules.entries()) {
      if (this.#isFull()) return
      const rule = fieldsOf(given)
      if (place.slice.isOver()) yield undefined
      const { uncorrelated, slice } = place
      const versionOf = (text: string): CelVersion => this.#accepted.celVersionOf(text)
      const compiled = yield* compileRule(rule, schema, { type, versionOf, slice })
      yield* this.#checkRule(rule, compiled, {
        path: `${path}[${at}]`,
        type,
        count,
        uncorrelated,
        slice,
      })
    }
  }

  *#checkRule(given: Fields, compiled: CompiledRule, ruled: RuleContext): Turns<void> {
    const { path, type, count, uncorrelated, slice } = ruled
    const { program, message, fault, messageFault, usesOldSelf, rule } = compiled
    const { faults } = this
    const once = program === undefined ? 0n : (yield* program.estimateCost(type, slice)).max
    // Cap the cost. Otherwise, if several rules have an unbounded cost, the first of them would not
    // be reported.
    const cost = smaller(once * BigInt(Math.min(count, 2 ** 64)), UNBOUNDED)
    // As in kube-apiserver, the cost of a message expression counts once, whatever the number of
    // values.
    const messageCost = message === undefined ? 0n : (yield* message.estimateCost(type, slice)).max
    if (cost > RULE_COST_MAX)
      faults.push(
        forbiddenField(`${path}.rule`, tooCostly('estimated rule cost', cost, RULE_COST_MAX)),
      )
    if (messageCost > RULE_COST_MAX) {
      const why = tooCostly('estimated messageExpression cost', messageCost, RULE_COST_MAX)
      faults.push(forbiddenField(`${path}.messageExpression`, why))
    }
    this.#addCost(`${path}.rule`, cost)
    this.#addCost(`${path}.messageExpression`, messageCost)
    const value = { type: 'apiextensions.ValidationRule', json: given }
    if (fault !== '') faults.push(invalidShown(`${path}.rule`, goRule(given), fault, value))
    if (messageFault !== '')
      faults.push(invalidShown(`${path}.messageExpression`, goRule(given), messageFault, value))
    if (usesOldSelf && uncorrelated !== '') {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`
      faults.push(invalidValue(`${path}.rule`, rule.rule, why))
    } else if (!usesOldSelf && typeof given['optionalOldSelf'] === 'boolean') {
      const why = 'may not be set if oldSelf is not used in rule'
      faults.push(invalidValue(`${path}.optionalOldSelf`, given['optionalOldSelf'], why))
    }
  }

  #isFull(): boolean {
    for (; this.#countedFaults < this.faults.length; this.#countedFaults++) {
      const fault = this.faults[this.#countedFaults]
      if (fault !== undefined) this.#faultsCharacters += fault.path.length + fault.message.length
    }
    return this.faults.length >= FAULTS_MAX || this.#faultsCharacters > FAULTS_CHARACTERS_MAX
  }

  #addCost(path: string, cost: bigint): void {
    this.#totalCost += cost
    if (cost < WORST_COST_MIN) return
    const at = this.#worst.findIndex((other) => other.cost < cost)
    this.#worst.splice(at === -1 ? this.#worst.length : at, 0, { path, cost })
    this.#worst.length = Math.min(this.#worst.length, WORST_MAX)
  }

  /** Returns the errors about the total cost of all rules. */
  total(path: string): FieldFault[] {
    const total = this.#totalCost
    if (total <= SCHEMA_COST_MAX) return []
    const part =
      'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const whole = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#worst.map((cost) => forbiddenField(cost.path, part)),
      forbiddenField(path, tooCostly(whole, total, SCHEMA_COST_MAX)),
    ]
  }
}

function tooCostly(what: string, cost: bigint, costMax: number): string {
  const factor = Number(cost) / costMax
  const shown =
    factor > 100
      ? 'more than 100x'
      : factor < 1.5
        ? `${roundHalfEven(factor, 6)}x`
        : `${roundHalfEven(factor, 1)}x`
  return `${what} exceeds budget by factor of ${shown} (${advice})`
}

function goRule(rule: Fields): string {
  return goStruct('apiextensions.ValidationRule', {
    Rule: quote(textOf(rule['rule'])),
    Message: quote(textOf(rule['message'])),
    MessageExpression: quote(textOf(rule['messageExpression'])),
    Reason: goPointer('apiextensions.FieldValueErrorReason', rule['reason'] !== undefined),
    FieldPath: quote(textOf(rule['fieldPath'])),
    OptionalOldSelf: goPointer('bool', rule['optionalOldSelf'] !== undefined),
  })
}

/** Returns the schema of the elements of a list or map, or undefined for other types. */
export function elementsOf({ type, items, additionalProperties }: Fields): Fields | undefined {
  const elements = type === 'array' ? items : type === 'object' ? additionalProperties : undefined
  return isFields(elements) ? elements : undefined
}

/**
 * Returns the maximum total number of elements in `count` lists or maps with at most `limit`
 * elements each. Returns undefined if the number is unbounded.
 */
export const countBelow = (count: number | undefined, limit: Fields[string]): number | undefined =>
  count === undefined || limit === undefined || limit === null
    ? undefined
    : count * Math.max(0, numberOf(limit))
