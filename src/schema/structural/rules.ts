/**
 * The rules of a schema (x-kubernetes-validations), compiled: a tree that has only the parts of the schema with rules in them or
 * below. A schema is compiled once, when an object is first written.
 */
import { type Compiled, compile, type Program } from '../../cel/compile.ts'
import { withVariables } from '../../cel/environment.ts'
import { kubernetesEnvironment } from '../../cel/kubernetes.ts'
import { typeOfSchema } from '../../cel/schema-type.ts'
import { optional, type Type } from '../../cel/types.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../../api/object.ts'
import { readList, readRule } from './read-structural.ts'
import { readRulePath } from './rule-path.ts'
import type { ListKind, ValidationRule } from './structural.ts'

export type RuleNode = {
  /** What faults show instead of the value. */
  readonly shown: string
  readonly type: Type | undefined
  readonly rules: readonly CompiledRule[]
  readonly list: ListKind | undefined
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly additional: RuleNode | undefined
  readonly items: RuleNode | undefined
}

export type CompiledRule = {
  readonly rule: ValidationRule
  readonly program: Program | undefined
  /** Why there is no program. */
  readonly fault: string
  readonly usesOldSelf: boolean
  readonly message: Program | undefined
  readonly messageFault: string
  /** After the path of the value. */
  readonly path: string
}

/** Undefined: there are no rules. */
export function compileRules(schema: Fields, { isRoot }: { readonly isRoot: boolean }): RuleNode | undefined {
  const properties = new Map<string, RuleNode>()
  for (const [name, property] of Object.entries(fieldsOf(schema['properties']))) {
    const node = compileRules(fieldsOf(property), { isRoot: false })
    if (node !== undefined) properties.set(name, node)
  }
  const below = (part: Fields[string]): RuleNode | undefined =>
    isFields(part) ? compileRules(part, { isRoot: false }) : undefined
  const additional = below(schema['additionalProperties'])
  const items = below(schema['items'])
  const rules = itemsOf(schema['x-kubernetes-validations'])
  if (rules.length === 0 && additional === undefined && items === undefined && properties.size === 0) return undefined
  const type = rules.length === 0 ? undefined : ruleTypeOf(schema, isRoot)
  return {
    shown: textOf(schema['type']),
    type,
    rules: type === undefined ? [] : rules.map((rule) => compileRule(rule, schema, { type, isStored: () => true })),
    list: readList(schema),
    properties,
    additional,
    items,
  }
}

/** Undefined: nothing is known of the values, so there can be no rules. */
export const ruleTypeOf = (schema: Fields, isRoot: boolean): Type | undefined =>
  typeOfSchema(schema, { name: 'selfType1', isRoot })

type Typed = {
  readonly type: Type
  /** New expressions may use what the version before this one has too; those that were accepted may use everything. */
  readonly isStored: (expression: string) => boolean
}

export function compileRule(given: Fields, schema: Fields, { type, isStored }: Typed): CompiledRule {
  const rule = readRule(given)
  const oldSelf = rule.optionalOldSelf ? optional(type) : type
  const compileText = (text: string): Compiled =>
    compile(text, withVariables(kubernetesEnvironment(isStored(text) ? '1.33' : '1.32'), { self: type, oldSelf }))
  const compiled = compileText(rule.rule)
  const fault = faultOf(compiled, 'bool', 'cel expression must evaluate to a bool')
  const program = 'program' in compiled && fault === '' ? compiled.program : undefined
  const message = rule.messageExpression.trim() === '' ? undefined : compileText(rule.messageExpression)
  const wrongMessage = message && faultOf(message, 'string', 'messageExpression must evaluate to a string')
  return {
    rule,
    program,
    fault,
    usesOldSelf: program?.uses('oldSelf') === true,
    message: message !== undefined && 'program' in message && wrongMessage === '' ? message.program : undefined,
    messageFault: wrongMessage ?? '',
    path: rule.fieldPath === '' ? '' : (readRulePath(rule.fieldPath, schema) ?? ''),
  }
}

function faultOf(compiled: Compiled, wanted: Type['kind'], other: string): string {
  if (!('type' in compiled)) return `compilation failed: ${compiled.fault}`
  if (compiled.type.kind !== wanted) return other
  return 'fault' in compiled ? `program instantiation failed: ${compiled.fault}` : ''
}
