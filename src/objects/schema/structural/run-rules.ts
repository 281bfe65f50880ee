/**
 * Evaluates the rules of a schema for an object. Both the cost of each rule and the total cost are
 * limited. On an update, a rule that fails for an unchanged value causes only a warning, unless it
 * uses oldSelf.
 */
import { CelError, Optional, type Result } from '../../cel/values.ts'
import { valueOf } from '../../cel/json-values.ts'
import type { Program } from '../../cel/compile.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import {
  duplicateShown,
  FAULTS_CHARACTERS_MAX,
  FAULTS_MAX,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  required,
  duplicateWithoutValue,
  invalidWithoutValue,
} from '../../../api/field-fault.ts'
import { goShown } from '../../../api/go-value.ts'
import { isFields, type Json } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { correlatedItems, isUnchanged } from './correlate.ts'
import type { CompiledRule, RuleNode } from './rules.ts'
import type { Structural } from './structural.ts'

/** Maximum cost of one rule in CEL cost units. */
const RULE_COST_MAX = 1_000_000
/** Maximum total cost of all rules for one object. */
const OBJECT_COST_MAX = 10_000_000
const MESSAGE_BYTES_MAX = 5120
/** Maximum number of warnings. Response headers have room for even fewer. */
const WARNINGS_MAX = 1_000

export type RulesResult = {
  readonly faults: readonly FieldFault[]
  readonly warnings: readonly string[]
}

export type RunOptions = {
  /** Path of the value. By default, the value is the root. */
  readonly path?: string
  /** The old value, or undefined if the value is new. */
  readonly old?: Json | undefined
  /** The schema by which the value is compared with its old value. */
  readonly schema: Structural
  readonly slice: Slice
}

/**
 * Evaluates the rules of a value and of its parts in time slices. Each rule can also be
 * interrupted.
 */
export function* runRules(value: Json, node: RuleNode, options: RunOptions): Turns<RulesResult> {
  const run = newRun(options.slice)
  yield* turns(value, node, { ...options, run })
  return run
}

/**
 * Evaluates the rules for a default value twice: as an unchanged value, and then, if there are no
 * errors, as a new value.
 */
export function* checkDefault(
  value: Json,
  node: RuleNode,
  { path, slice }: { readonly path: string; readonly slice: Slice },
): Turns<readonly FieldFault[]> {
  const run = newRun(slice)
  yield* turns(value, node, { path, old: value, run, isStrict: true })
  if (run.faults.length === 0) yield* turns(value, node, { path, run })
  return run.faults
}

type Run = {
  readonly faults: FieldFault[]
  readonly warnings: string[]
  /** Total length of the errors so far. */
  characters: number
  budget: number
  readonly slice: Slice
}

const newRun = (slice: Slice): Run => ({
  faults: [],
  warnings: [],
  characters: 0,
  budget: OBJECT_COST_MAX,
  slice,
})

type TurnOptions = Omit<RunOptions, 'slice' | 'schema'> & {
  readonly schema?: Structural
  readonly run: Run
  /** Whether rules that fail for unchanged values cause errors instead of warnings. */
  readonly isStrict?: boolean
}

function* turns(value: Json, node: RuleNode, options: TurnOptions): Turns<void> {
  const { path = '', old, schema, run, isStrict = false } = options
  yield* visit(value, node, { path, old, schema, wasSame: undefined, run, isStrict })
}

type RuleContext = {
  readonly path: string
  readonly old: Json | undefined
  /**
   * The schema by which the value is compared with its old value. It can be undefined if `isStrict`
   * is true.
   */
  readonly schema: Structural | undefined
  /**
   * Determines whether the value around this one is unchanged. Needed if this value has no old
   * value to compare with, such as an item of a list without keys. Undefined at the root.
   */
  readonly wasSame: (() => Turns<boolean>) | undefined
  readonly run: Run
  readonly isStrict: boolean
}

/** Evaluates the rules of a value, and then the rules of its parts. */
function* visit(value: Json, node: RuleNode, place: RuleContext): Turns<void> {
  const { path, old, schema, run, isStrict } = place
  if (value === null || isAtEnd(run)) return
  if (run.slice.isOver()) yield undefined
  let same: boolean | undefined
  const wasSame = function* (): Turns<boolean> {
    if (old !== undefined && schema !== undefined) {
      return (same ??= yield* isUnchanged(value, old, { schema, slice: run.slice }))
    }
    return place.wasSame !== undefined && (yield* place.wasSame())
  }
  if (node.rules.length > 0 || node.isUntyped) {
    yield* runOwn({ value, node, path, old, wasSame: isStrict ? undefined : wasSame }, run)
  }
  const below = { wasSame, run, isStrict }
  if (Array.isArray(value) && node.items !== undefined) {
    const olds = yield* correlatedItems(value, old, { list: node.list, slice: run.slice })
    for (const [at, item] of value.entries()) {
      yield* visit(item, node.items, {
        ...below,
        path: `${path}[${at}]`,
        old: olds?.[at],
        schema: schema?.items,
      })
    }
  } else if (isFields(value) && (node.additional !== undefined || node.properties.size > 0)) {
    const olds = isFields(old) && !(isStrict && node.isAtomicMap) ? old : {}
    for (const name of Object.keys(value)) {
      const own = node.properties.get(name)
      const nodeBelow = own ?? node.additional
      if (nodeBelow === undefined) continue
      const inner = own === undefined ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      yield* visit(value[name] ?? null, nodeBelow, {
        ...below,
        path: inner,
        old: Object.hasOwn(olds, name) ? olds[name] : undefined,
        schema: schemaOfField(schema, name),
      })
    }
  }
}

function schemaOfField(schema: Structural | undefined, name: string): Structural | undefined {
  const own = schema?.properties?.get(name) ?? schema?.additional
  return typeof own === 'object' ? own : undefined
}

const isAtEnd = ({ budget, faults, characters }: Run): boolean =>
  budget < 0 || faults.length >= FAULTS_MAX || characters > FAULTS_CHARACTERS_MAX

type RuleTarget = Omit<RuleContext, 'run' | 'schema' | 'isStrict'> & {
  readonly value: Json
  readonly node: RuleNode
}

function* runOwn({ value, node, path, old, wasSame }: RuleTarget, run: Run): Turns<void> {
  const { type, rules, shown } = node
  const at = path === '' ? '<nil>' : path
  if (type === undefined) {
    run.faults.push(invalidValue(at, shown, untyped))
    return
  }
  const [self, was] = [
    valueOf(value, type),
    old === undefined || old === null ? undefined : valueOf(old, type),
  ]
  const isOldKnown = was !== undefined && rules.some(({ usesOldSelf }) => usesOldSelf)
  for (const rule of rules) {
    if (isAtEnd(run)) return
    const { optionalOldSelf } = rule.rule
    if (rule.fault === '' && rule.usesOldSelf && was === undefined && !optionalOldSelf) continue
    const oldSelf = optionalOldSelf ? optionalOf(was) : was
    const refuse = (why: string): undefined => void run.faults.push(invalidValue(at, shown, why))
    const variables = { self, oldSelf }
    const result = yield* evaluate(rule, variables, { run, refuse })
    if (run.budget < 0) return
    if (result !== false) continue
    // A messageExpression can use `oldSelf` only if there is an old value and the rules of this
    // value use it. Otherwise it is not defined, not even as an empty optional.
    const text = yield* messageOf(
      rule,
      { ...variables, oldSelf: isOldKnown ? oldSelf : undefined },
      run,
    )
    const fault = faultOf(rule, {
      at: joined(path, rule.path.replace(/^\./, '')) || '<nil>',
      shown: node.showsValue ? shownOf(node, value) : quote(shown),
      text,
    })
    const isWarning = !rule.usesOldSelf && wasSame !== undefined && (yield* wasSame())
    if (isWarning && run.warnings.length >= WARNINGS_MAX) continue
    if (isWarning) run.warnings.push(`${fault.path}: ${fault.message}`)
    else {
      run.faults.push(fault)
      run.characters += fault.path.length + fault.message.length
    }
  }
}

/**
 * Returns the value of `oldSelf` for a rule with optionalOldSelf. An old value that was written
 * under another schema may be invalid now. Rules that use it then fail.
 */
const optionalOf = (was: Result | undefined): Result =>
  was instanceof CelError
    ? new CelError(`unsupported conversion to ref.Val: (*errors.errorString)${was.message}`)
    : new Optional(was)

/**
 * Appends the fieldPath of a rule to a path, after a dot. The dot is added even before a bracket.
 */
const joined = (path: string, below: string): string =>
  [path, below].filter((part) => part !== '').join('.')

const untyped =
  'rule compiler initialization error: failed to convert to declType for CEL validation rules'

type Variables = { readonly self: Result; readonly oldSelf: Result | undefined }

/** Evaluates a rule. Returns undefined if this causes an error, which is reported. */
function* evaluate(
  compiled: CompiledRule,
  variables: Variables,
  { run, refuse }: { readonly run: Run; readonly refuse: (why: string) => undefined },
): Turns<boolean | undefined> {
  const { program, fault, rule } = compiled
  // An empty rule is reported as an error of the CRD, so it is not evaluated.
  if (rule.rule.trim() === '') return undefined
  if (program === undefined) return refuse(`rule compile error: ${fault}`)
  const result = yield* program.inTurns(variables, RULE_COST_MAX, run.slice)
  run.budget -= result.cost
  if (run.budget < 0) {
    return refuse(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    )
  }
  if (!('error' in result)) return result.value === true
  const about = aboutOf(compiled)
  if (result.isOverBudget) {
    run.budget = -1
    const why = 'no further validation rules will be run due to call cost exceeds limit for rule'
    return refuse(`'${result.error}': ${why}: ${about}`)
  }
  if (result.error.startsWith('no such overload')) {
    const why =
      'call arguments did not match a supported operator, function or macro signature for rule'
    return refuse(`'${result.error}': ${why}: ${about}`)
  }
  return refuse(`${result.error} evaluating rule: ${about}`)
}

const aboutOf = ({ rule }: CompiledRule): string => rule.message.trim() || rule.rule.trim()

/**
 * Returns the result of the rule's messageExpression, or its fixed message if there is no result.
 */
function* messageOf(
  { rule, message }: CompiledRule,
  variables: Variables,
  run: Run,
): Turns<string> {
  const computed = message === undefined ? '' : yield* computedMessage(message, variables, run)
  if (computed !== '') return computed
  return rule.message.trim() || `failed rule: ${rule.rule.trim()}`
}

function* computedMessage(message: Program, variables: Variables, run: Run): Turns<string> {
  const result = yield* message.inTurns(variables, RULE_COST_MAX, run.slice)
  run.budget = Math.max(0, run.budget - result.cost)
  if ('error' in result || typeof result.value !== 'string') return ''
  const text = result.value.trim()
  return text.includes('\n') || Buffer.byteLength(text) > MESSAGE_BYTES_MAX ? '' : text
}

/**
 * Returns a value as an error message shows it, or undefined if the message shows no value. The
 * schema decides this, so an object or list is shown if the value has the wrong type.
 */
function shownOf({ shown }: RuleNode, value: Json): string | undefined {
  if (shown === 'object' || shown === 'array') return undefined
  if (typeof value === 'object') return goShown(value)
  return typeof value === 'string' ? quote(value) : `${value}`
}

type ShownFault = {
  readonly at: string
  /** The text of the value. Undefined if the message shows no value. */
  readonly shown: string | undefined
  readonly text: string
}

const faultOf = (rule: CompiledRule, shown: ShownFault): FieldFault => ({
  ...faultOfReason(rule, shown),
  isAuthored: true,
})

function faultOfReason({ rule }: CompiledRule, { at, shown, text }: ShownFault): FieldFault {
  if (rule.reason === 'FieldValueForbidden') return forbiddenField(at, text)
  if (rule.reason === 'FieldValueRequired') return required(at, text)
  if (rule.reason === 'FieldValueDuplicate')
    return shown === undefined ? duplicateWithoutValue(at) : duplicateShown(at, shown)
  return shown === undefined ? invalidWithoutValue(at, text) : invalidShown(at, shown, text)
}
