/**
 * Compiles the CEL expressions of policies. If an expression cannot be compiled, each evaluation
 * fails with the compilation error.
 */
import { type Fields, fieldsOf, itemsOf, textOf } from '../../api/object.ts'
import {
  type AdmissionNames,
  admissionEnvironment,
  PolicyVariables,
} from '../../objects/cel/admission.ts'
import { compileInTurns, type Program } from '../../objects/cel/compile.ts'
import type { CelVersion } from '../../objects/cel/kubernetes.ts'
import type { Slice } from '../../objects/cel/run.ts'
import type { Turns } from '../../objects/cel/turns.ts'
import type { Type } from '../../objects/cel/types.ts'

export type Expression = { readonly text: string } & (
  | { readonly program: Program; readonly fault?: undefined }
  | { readonly program?: undefined; readonly fault: string }
)

/** The match conditions and variables of a policy. All types of policies have them. */
export type Conditional = {
  readonly conditions: readonly Expression[]
  /** Variables by name, in the order of declaration. A variable can refer to earlier variables. */
  readonly variables: ReadonlyMap<string, Expression>
}

/**
 * The variables that expressions of a policy can use, and the version of Kubernetes whose CEL
 * features they can use.
 */
export type PolicyNames = AdmissionNames & { readonly version: CelVersion }

/**
 * Compiles the match conditions and variables of a policy. In the result, `names` describes what
 * the other expressions of the policy can use.
 */
export function* compileConditional(
  spec: Fields,
  version: CelVersion,
  slice: Slice,
): Turns<Conditional & { readonly names: PolicyNames }> {
  const declared = new PolicyVariables()
  const variables = new Map<string, Expression>()
  const names: PolicyNames = {
    version,
    hasParams: isParameterized(spec),
    hasAuthorizer: true,
    variables: declared.type,
  }
  for (const { name, expression } of itemsOf(spec['variables'])) {
    const { compiled, type } = yield* compileOne(textOf(expression), names, slice)
    declared.declare(textOf(name), type)
    variables.set(textOf(name), compiled)
  }
  const texts = itemsOf(spec['matchConditions']).map(({ expression }) => textOf(expression))
  const conditions = yield* compileAll(texts, { ...names, variables: undefined }, slice)
  return { conditions, variables, names }
}

export function* compileAll(
  texts: readonly string[],
  names: PolicyNames,
  slice: Slice,
): Turns<Expression[]> {
  const all: Expression[] = []
  for (const text of texts) all.push((yield* compileOne(text, names, slice)).compiled)
  return all
}

/** Returns whether the expressions of the policy can use `params`. */
export const isParameterized = (spec: Fields): boolean =>
  Object.keys(fieldsOf(spec['paramKind'])).length > 0

/**
 * Compiles one expression of a stored policy. The expression can use every CEL feature that this
 * version of Kubernetes knows, even those that it does not yet accept in a new policy.
 */
function* compileOne(
  text: string,
  names: PolicyNames,
  slice: Slice,
): Turns<{ readonly compiled: Expression; readonly type: Type | undefined }> {
  const compiled = yield* compileInTurns(text, admissionEnvironment(names.version, names), slice)
  if ('program' in compiled)
    return { compiled: { text, program: compiled.program }, type: compiled.type }
  return {
    compiled: { text, fault: compiled.fault },
    type: 'type' in compiled ? compiled.type : undefined,
  }
}
