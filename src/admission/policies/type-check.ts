/**
 * Checks the expressions of a validating policy against the schemas of the kinds that it matches. What it finds are warnings in the status
 * of the policy, which kube-controller-manager writes upstream; the policy is enforced whatever they say.
 */
import { type Fields, fieldsOf, itemsOf, type KubeObject, textOf, textsOf } from '../../api/object.ts'
import { PolicyVariables, typedEnvironment } from '../../cel/admission.ts'
import { compileInTurns } from '../../cel/compile.ts'
import type { Environment } from '../../cel/environment.ts'
import type { Slice } from '../../cel/run.ts'
import { inTurns, type Turns } from '../../cel/turns.ts'
import type { Type } from '../../cel/types.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import { objectTypeOf } from './object-type.ts'

/** Kinds of one rule that are looked at, as upstream; later rules are not looked at then. */
const KINDS_MAX = 10

export type ExpressionWarning = { readonly fieldRef: string; readonly warning: string }

/** `resources`: all that are served. Takes its time in turns of the event loop. */
export const typeCheck = (
  { spec }: Pick<KubeObject, 'spec'>,
  resources: readonly Resource[],
): Promise<readonly ExpressionWarning[]> => inTurns((slice) => check(fieldsOf(spec), resources, slice))

function* check(spec: Fields, resources: readonly Resource[], slice: Slice): Turns<readonly ExpressionWarning[]> {
  const kinds: Kind[] = []
  const params = paramsType(fieldsOf(spec['paramKind']), resources)
  for (const resource of kindsToCheck(spec, resources)) {
    const object = objectTypeOf(resource)
    if (object === undefined) continue
    kinds.push({ shown: gvkOf(resource), environment: yield* environmentOf(spec, { object, params }, slice) })
  }
  const warnings: ExpressionWarning[] = []
  for (const [at, validation] of itemsOf(spec['validations']).entries()) {
    for (const field of ['expression', 'messageExpression']) {
      const text = textOf(validation[field])
      if (text === '' && field !== 'expression') continue
      const warning = yield* warningOf(text, kinds, slice)
      if (warning !== '') warnings.push({ fieldRef: `spec.validations[${at}].${field}`, warning })
    }
  }
  return warnings
}

type Kind = { readonly shown: string; readonly environment: Environment }

/** The variables of the policy have the types that their expressions have for this kind. */
function* environmentOf(
  spec: Fields,
  types: { readonly object: Type; readonly params: Type | undefined },
  slice: Slice,
): Turns<Environment> {
  const variables = new PolicyVariables()
  const environment = typedEnvironment({ ...types, variables: variables.type })
  for (const { name, expression } of itemsOf(spec['variables'])) {
    const compiled = yield* compileInTurns(textOf(expression), environment, slice)
    variables.declare(textOf(name), 'type' in compiled ? compiled.type : undefined)
  }
  return environment
}

function* warningOf(text: string, kinds: readonly Kind[], slice: Slice): Turns<string> {
  const found: string[] = []
  for (const { shown, environment } of kinds) {
    const compiled = yield* compileInTurns(text, environment, slice)
    // What cannot be planned fails only when it is evaluated.
    if ('fault' in compiled && compiled.stage === 'compilation') found.push(`${shown}: ${compiled.fault}\n`)
  }
  return found.join('\n')
}

/** Undefined: there is no such kind, or the policy has none. */
function paramsType({ apiVersion, kind }: Fields, resources: readonly Resource[]): Type | undefined {
  const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion)
  return resource && objectTypeOf(resource)
}

/** Sorted by group, version and kind. Rules with wildcards for groups or versions are passed over, and so are subresources. */
function kindsToCheck(spec: Fields, resources: readonly Resource[]): readonly Resource[] {
  const found = new Map<string, Resource>()
  for (const rule of itemsOf(fieldsOf(spec['matchConstraints'])['resourceRules'])) {
    let count = 0
    for (const resource of resourcesOf(rule, resources)) {
      found.set(gvkOf(resource), resource)
      count++
      if (count === KINDS_MAX) return sorted(found)
    }
  }
  return sorted(found)
}

function* resourcesOf(rule: Fields, resources: readonly Resource[]): Generator<Resource> {
  const [groups, versions] = [textsOf(rule['apiGroups']), textsOf(rule['apiVersions'])]
  if ([...groups, ...versions].some((text) => text.includes('*'))) return
  const plurals = textsOf(rule['resources']).filter((text) => !/[*/]/.test(text))
  for (const group of groups.toSorted()) {
    for (const version of versions.toSorted()) {
      for (const plural of plurals.toSorted()) {
        const wanted = plural.toLowerCase()
        yield* resources.filter(
          (one) =>
            one.version === version &&
            // Upstream's mapper takes an empty group for any.
            (group === '' || one.group === group) &&
            (one.plural === wanted || one.singular === wanted),
        )
      }
    }
  }
}

const sorted = (found: ReadonlyMap<string, Resource>): readonly Resource[] =>
  [...found.values()].toSorted(
    (a, b) => compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind),
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const gvkOf = ({ group, version, kind }: Resource): string => `${group}/${version}, Kind=${kind}`
