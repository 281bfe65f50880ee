/**
 * Compiles the rules of a schema (x-kubernetes-validations) to a tree. The tree contains only the
 * parts of the schema with rules, and the parts around them. A schema is compiled once, when the
 * first object is written.
 */
import { type CompileResult, compileInTurns, type Program } from '../../cel/compile.ts'
import { withVariables } from '../../cel/environment.ts'
import { escapeName } from '../../cel/escape.ts'
import { type CelVersion, kubernetesEnvironment } from '../../cel/kubernetes.ts'
import { typeOfSchema } from '../../cel/schema-type.ts'
import type { Slice } from '../../cel/run.ts'
import type { Turns } from '../../cel/turns.ts'
import { optional, type Type } from '../../cel/types.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../../api/object.ts'
import { readList, readRule } from './read-structural.ts'
import { readRulePath } from './rule-path.ts'
import type { ListKind, ValidationRule } from './structural.ts'

/** The first minor version of Kubernetes in which errors of rules show scalar values. */
const VALUES_SHOWN_SINCE = 35

export type RuleNode = {
  /** The type in the schema. Errors show it where they do not show the value. */
  readonly shown: string
  /**
   * Whether the error of a rule that returns false shows the value, if it is a scalar. All other
   * errors show the type.
   */
  readonly showsValue: boolean
  readonly type: Type | undefined
  /**
   * Whether there are rules for this value although its type is unknown, because a schema around it
   * does not specify one.
   */
  readonly isUntyped: boolean
  readonly rules: readonly CompiledRule[]
  readonly list: ListKind | undefined
  /**
   * Whether the value is an atomic map, whose entries cannot be matched with those before the
   * update.
   */
  readonly isAtomicMap: boolean
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly additional: RuleNode | undefined
  readonly items: RuleNode | undefined
}

export type CompiledRule = {
  readonly rule: ValidationRule
  readonly program: Program | undefined
  /** The reason why the expression could not be compiled to a program. */
  readonly fault: string
  readonly usesOldSelf: boolean
  readonly message: Program | undefined
  readonly messageFault: string
  /** Path from the value to the field that errors name. */
  readonly path: string
}

/** Compiles the rules of a schema. Returns undefined if the schema has no rules. */
export function* compileRules(
  schema: Fields,
  options: CompileOptions,
): Turns<RuleNode | undefined> {
  if (!(yield* hasRules(schema, options.slice))) return undefined
  return yield* compileNode(
    schema,
    ruleTypeOf(schema, { isRoot: options.isRoot, release: options.version.release }),
    options,
  )
}

/**
 * Whether a schema has rules anywhere. If not, as in most schemas, CEL types need not be created.
 */
function* hasRules(schema: Fields, slice: Slice): Turns<boolean> {
  if (slice.isOver()) yield undefined
  const { additionalProperties, items, properties } = schema
  if (itemsOf(schema['x-kubernetes-validations']).length > 0) return true
  for (const part of [additionalProperties, items])
    if (isFields(part) && (yield* hasRules(part, slice))) return true
  const given = fieldsOf(properties)
  for (const name of Object.keys(given))
    if (yield* hasRules(fieldsOf(given[name]), slice)) return true
  return false
}

export type CompileOptions = {
  readonly isRoot: boolean
  readonly version: CelVersion
  readonly slice: Slice
}

/** Compiles a schema. `type` is the CEL type that the schema around it specifies for the value. */
function* compileNode(
  schema: Fields,
  type: Type | undefined,
  { isRoot, version, slice }: CompileOptions,
): Turns<RuleNode | undefined> {
  const inner = { isRoot: false, version, slice }
  const properties = new Map<string, RuleNode>()
  const given = fieldsOf(schema['properties'])
  for (const name of Object.keys(given)) {
    if (slice.isOver()) yield undefined
    const field = fieldsOf(given[name])
    const own = fieldType(name, field, { holder: type, release: version.release })
    // A field of unknown type cannot have rules.
    const node = own && (yield* compileNode(field, own, inner))
    if (node !== undefined) properties.set(name, node)
  }
  const inside =
    type?.kind === 'list' ? type.element : type?.kind === 'map' ? type.value : undefined
  const { additionalProperties: others, items: all } = schema
  const additional = isFields(others) ? yield* compileNode(others, inside, inner) : undefined
  const items = isFields(all) ? yield* compileNode(all, inside, inner) : undefined
  const rules = itemsOf(schema['x-kubernetes-validations'])
  if (
    rules.length === 0 &&
    additional === undefined &&
    items === undefined &&
    properties.size === 0
  )
    return undefined
  const own =
    rules.length === 0 || type === undefined
      ? undefined
      : ruleTypeOf(schema, { isRoot, release: version.release })
  const compiled: CompiledRule[] = []
  if (own !== undefined) {
    for (const rule of rules) {
      if (slice.isOver()) yield undefined
      compiled.push(
        yield* compileRule(rule, schema, { type: own, versionOf: () => version, slice }),
      )
    }
  }
  return {
    shown: textOf(schema['type']),
    showsValue: version.release >= VALUES_SHOWN_SINCE,
    type: own,
    isUntyped: rules.length > 0 && own === undefined,
    rules: compiled,
    list: readList(schema),
    isAtomicMap: (schema['x-kubernetes-map-type'] ?? 'granular') !== 'granular',
    properties,
    additional,
    items,
  }
}

/**
 * Returns the CEL type of a field. The field has a type even if expressions cannot use its name.
 */
function fieldType(
  name: string,
  schema: Fields,
  { holder, release }: { readonly holder: Type | undefined; readonly release: number },
): Type | undefined {
  const escaped = escapeName(name)
  if (escaped === undefined) return ruleTypeOf(schema, { isRoot: false, release })
  return holder?.kind === 'struct' ? holder.field(escaped)?.type : undefined
}

/**
 * Returns the type of a map's values. Undefined if it is unknown, in which case the values cannot
 * have rules.
 */
export const ruleTypeOf = (
  schema: Fields,
  options: { readonly isRoot: boolean; readonly release: number },
): Type | undefined => typeOfSchema(schema, { name: 'selfType1', ...options })

type RuleTypeOptions = {
  readonly type: Type
  /**
   * Returns the CEL version for an expression. A new expression can use only features that the
   * previous Kubernetes version also supports. An expression that is already stored can use all
   * features.
   */
  readonly versionOf: (expression: string) => CelVersion
  readonly slice: Slice
}

export function* compileRule(
  given: Fields,
  schema: Fields,
  { type, versionOf, slice }: RuleTypeOptions,
): Turns<CompiledRule> {
  const rule = readRule(given)
  const oldSelf = rule.optionalOldSelf ? optional(type) : type
  const compileText = (text: string): Turns<CompileResult> => {
    const environment = kubernetesEnvironment(versionOf(text))
    return compileInTurns(text, withVariables(environment, { self: type, oldSelf }), slice)
  }
  const compiled = yield* compileText(rule.rule)
  const fault = faultOf(compiled, { wanted: 'bool', what: 'cel expression', program: 'program' })
  const program = 'program' in compiled && fault === '' ? compiled.program : undefined
  // If the rule itself is invalid, its message expression is not compiled.
  const hasMessage = program !== undefined && rule.messageExpression !== ''
  const message = hasMessage ? yield* compileText(rule.messageExpression) : undefined
  const wrongMessage = message && faultOf(message, messageWords)
  // kube-apiserver validates `fieldPath` last, and only if the rest of the rule is valid.
  const isGood = program !== undefined && (wrongMessage ?? '') === ''
  return {
    rule,
    program,
    fault,
    usesOldSelf: program?.uses('oldSelf') ?? usesOldSelf(compiled),
    message:
      message !== undefined && 'program' in message && wrongMessage === ''
        ? message.program
        : undefined,
    messageFault: wrongMessage ?? '',
    path: rule.fieldPath === '' || !isGood ? '' : (readRulePath(rule.fieldPath, schema) ?? ''),
  }
}

/**
 * Whether a rule that could not be converted to a program uses oldSelf. Only its types are valid.
 */
const usesOldSelf = (compiled: CompileResult): boolean =>
  'variables' in compiled && compiled.type.kind === 'bool' && compiled.variables.has('oldSelf')

type Words = {
  readonly wanted: 'bool' | 'string'
  /** Name that error messages use for the expression. */
  readonly what: string
  /** Name that error messages use for the compiled expression. */
  readonly program: string
}

const messageWords: Words = {
  wanted: 'string',
  what: 'messageExpression',
  program: 'messageExpression',
}

function faultOf(compiled: CompileResult, { wanted, what, program }: Words): string {
  if (!('type' in compiled))
    return `${program === what ? `${what} ` : ''}compilation failed: ${compiled.fault}`
  if (compiled.type.kind !== wanted) return `${what} must evaluate to a ${wanted}`
  return 'fault' in compiled ? `${program} instantiation failed: ${compiled.fault}` : ''
}
