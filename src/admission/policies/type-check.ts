/**
 * Checks the expressions of a validating policy against the schemas of the kinds that the policy
 * matches. The results are warnings in the status of the policy, which kube-controller-manager
 * writes in Kubernetes. Policies are enforced even if they have warnings.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { defaultMinor } from '../../api/releases.ts'
import { PolicyVariables, typedEnvironment } from '../../objects/cel/admission.ts'
import { compileInTurns } from '../../objects/cel/compile.ts'
import type { Environment } from '../../objects/cel/environment.ts'
import { type CelVersion, storedVersion } from '../../objects/cel/kubernetes.ts'
import type { Slice } from '../../objects/cel/run.ts'
import { inTurns, type Turns } from '../../objects/cel/turns.ts'
import type { Type } from '../../objects/cel/types.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'
import { objectTypeOf } from './object-type.ts'

/**
 * Maximum number of kinds for which the expressions are checked, as in Kubernetes. After a rule has
 * reached this number, later rules are skipped. A kind that a rule matches twice counts twice.
 */
const KINDS_MAX = 10
/**
 * Maximum size of all warnings together, so that the policy and its warnings fit into etcd.
 * Kubernetes has no limit, so it cannot store the status if there are too many warnings.
 */
const WARNINGS_CHARACTERS_MAX = 128 << 10

export type ExpressionWarning = { readonly fieldRef: string; readonly warning: string }

/**
 * Resolves to the warnings. `resources` are all served resources, and `release` is the release of
 * the server. The work is divided into slices, between which the event loop runs other work.
 */
export const typeCheck = (
  { spec }: Pick<KubeObject, 'spec'>,
  resources: readonly Resource[],
  release = defaultMinor,
): Promise<readonly ExpressionWarning[]> =>
  inTurns((slice) => check(fieldsOf(spec), resources, { version: storedVersion(release), slice }))

function* check(
  spec: Fields,
  resources: readonly Resource[],
  { version, slice }: { readonly version: CelVersion; readonly slice: Slice },
): Turns<readonly ExpressionWarning[]> {
  const kinds: Kind[] = []
  const params = paramsType(fieldsOf(spec['paramKind']), resources)
  for (const resource of yield* kindsToCheck(spec, resources, slice)) {
    const object = objectTypeOf(resource)
    if (object === undefined) continue
    kinds.push({
      shown: gvkOf(resource),
      environment: yield* environmentOf(spec, { version, object, params }, slice),
    })
  }
  const warnings: ExpressionWarning[] = []
  let charactersLeft = WARNINGS_CHARACTERS_MAX
  for (const [at, validation] of itemsOf(spec['validations']).entries()) {
    for (const field of ['expression', 'messageExpression']) {
      const text = textOf(validation[field])
      if (text === '' && field !== 'expression') continue
      const fieldRef = `spec.validations[${at}].${field}`
      const warning = yield* warningOf(text, kinds, {
        slice,
        charactersMax: charactersLeft - fieldRef.length,
      })
      if (warning === '') continue
      warnings.push({ fieldRef, warning })
      charactersLeft -= fieldRef.length + warning.length
    }
  }
  return warnings
}

type Kind = { readonly shown: string; readonly environment: Environment }

/**
 * Returns the environment for one kind. A variable of the policy has the type that its expression
 * has for this kind.
 */
function* environmentOf(
  spec: Fields,
  {
    version,
    ...types
  }: {
    readonly version: CelVersion
    readonly object: Type
    readonly params: Type | undefined
  },
  slice: Slice,
): Turns<Environment> {
  const variables = new PolicyVariables()
  const environment = typedEnvironment(version, { ...types, variables: variables.type })
  for (const { name, expression } of itemsOf(spec['variables'])) {
    const compiled = yield* compileInTurns(textOf(expression), environment, slice)
    variables.declare(textOf(name), 'type' in compiled ? compiled.type : undefined)
  }
  return environment
}

/**
 * Returns the compilation errors of an expression, with a line for each kind. Returns an empty
 * string if the expression compiles. The text is truncated to `charactersMax`.
 */
function* warningOf(
  text: string,
  kinds: readonly Kind[],
  { slice, charactersMax }: { readonly slice: Slice; readonly charactersMax: number },
): Turns<string> {
  const found: string[] = []
  let left = charactersMax
  for (const { shown, environment } of kinds) {
    if (left <= 0) break
    const compiled = yield* compileInTurns(text, environment, slice)
    // Report only errors of the compilation. An expression that compiles but cannot be executed
    // fails when it is evaluated.
    if (!('fault' in compiled) || compiled.stage !== 'compilation') continue
    const warning = `${shown}: ${compiled.fault}\n`.slice(0, left)
    found.push(warning.toWellFormed())
    left -= warning.length + 1
  }
  return found.join('\n')
}

/**
 * Returns the type of `params`. Returns undefined if the kind is unknown or the policy has no
 * paramKind.
 */
function paramsType(
  { apiVersion, kind }: Fields,
  resources: readonly Resource[],
): Type | undefined {
  const resource = resources.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion)
  return resource && objectTypeOf(resource)
}

/**
 * Returns the kinds to check, sorted by group, version and kind. Leaves out rules with a wildcard
 * for the group or version, and subresources.
 */
function* kindsToCheck(
  spec: Fields,
  resources: readonly Resource[],
  slice: Slice,
): Turns<readonly Resource[]> {
  const found = new Map<string, Resource>()
  for (const rule of itemsOf(fieldsOf(spec['matchConstraints'])['resourceRules'])) {
    if (slice.isOver()) yield undefined
    let count = 0
    for (const { resource, times } of namedBy(rule, resources)) {
      found.set(gvkOf(resource), resource)
      count += times
      if (count >= KINDS_MAX) return sorted(found)
    }
  }
  return sorted(found)
}

/**
 * A resource, and the strings in a rule that match its group, version and name. `times` is how
 * often the rule lists the name.
 */
type NamedResource = {
  readonly resource: Resource
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly times: number
}

/**
 * Returns the resources that a rule matches, in the order in which Kubernetes finds them: sorted by
 * group, then version, then resource name. A rule can list thousands of groups, versions and
 * resources that do not exist, so this function iterates over the existing resources.
 */
function namedBy(rule: Fields, resources: readonly Resource[]): readonly NamedResource[] {
  const groups = new Set(textsOf(rule['apiGroups']))
  const versions = new Set(textsOf(rule['apiVersions']))
  if ([...groups, ...versions].some((text) => text.includes('*'))) return []
  const plurals = timesOf(textsOf(rule['resources']).filter((text) => !/[*/]/.test(text)))
  const byName = Map.groupBy(plurals.keys(), (text) => text.toLowerCase())
  const found = resources.flatMap((resource) => {
    const { version } = resource
    if (!versions.has(version)) return []
    // Kubernetes looks up resources with a REST mapper, in which an empty group matches any group.
    const inGroups = [...new Set(['', resource.group])].filter((group) => groups.has(group))
    const names = [...new Set([resource.plural, resource.discovery.singular])].flatMap(
      (name) => byName.get(name) ?? [],
    )
    return inGroups.flatMap((group) =>
      names.map((plural) => ({
        resource,
        group,
        version,
        plural,
        times: plurals.get(plural) ?? 0,
      })),
    )
  })
  return found.toSorted(
    (a, b) =>
      compare(a.group, b.group) || compare(a.version, b.version) || compare(a.plural, b.plural),
  )
}

function timesOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1)
  return times
}

const sorted = (found: ReadonlyMap<string, Resource>): readonly Resource[] =>
  [...found.values()].toSorted(
    (a, b) => compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind),
  )

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const gvkOf = ({ group, version, kind }: Resource): string => `${group}/${version}, Kind=${kind}`
