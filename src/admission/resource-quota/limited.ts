/**
 * Resources that are limited by default in the configuration. A write can use such a resource only
 * if a quota of its namespace covers the resource.
 */
import { type ApiError, unclassified } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import type { ResourceList } from '../../api/resource-list.ts'
import type { LimitedResource } from '../../config/files/resource-quota.ts'
import { type Attributes, refusal } from '../admission.ts'
import { type Charge, isAbout, limitedIn } from './charge.ts'
import { type Scope, scopesOf } from './scopes.ts'

export class LimitedResources {
  readonly #limited: readonly LimitedResource[]
  /**
   * The scopes in the configuration. As in kube-apiserver, they apply to all kinds that have such
   * scopes, even if the configuration specifies them for another resource.
   */
  readonly #scopes: readonly Scope[]

  constructor(limited: readonly LimitedResource[]) {
    this.#limited = limited
    this.#scopes = limited
      .flatMap(({ matchScopes }) => matchScopes)
      .filter(({ operator }) => operators.has(operator))
  }

  /**
   * Returns whether writes to this resource can be rejected because their namespace has no quota.
   */
  concern(attributes: Attributes): boolean {
    if (this.#limited.length === 0) return false
    return this.#scopes.length > 0 || this.#textsOf(attributes).length > 0
  }

  /**
   * Returns an error if the configuration requires a quota for the write, but no quota of the
   * namespace covers it. Otherwise returns undefined.
   */
  uncoveredOf(quotas: readonly KubeObject[], charge: Charge): ApiError | undefined {
    const { attributes, evaluator, object } = charge
    if (!this.concern(attributes) || !usesMore(quotas, charge)) return undefined
    const texts = this.#textsOf(attributes)
    const covered = new Set(quotas.flatMap((quota) => limitedIn(quota, object, evaluator)))
    const names = [...evaluator.usageOf(object)]
      // Bounded: `texts` has only the few entries of the configuration file.
      .filter(
        ([name, { nanos }]) =>
          nanos > 0n && texts.some((text) => name.includes(text)) && !covered.has(name),
      )
      .map(([name]) => name)
    if (names.length > 0)
      return refusal(attributes, `insufficient quota to consume: ${names.toSorted().join(',')}`)
    const matched = quotas.flatMap(scopesOf).filter((scope) => evaluator.isInScope(object, scope))
    const uncovered = this.#scopes
      .filter((scope) => evaluator.isInScope(object, scope))
      // Bounded: both lists contain only the few scopes of the configuration file and the quotas.
      .filter(({ name }) => !matched.some((scope) => scope.name === name))
    if (uncovered.length === 0) return undefined
    return unclassified(
      `insufficient quota to match these scopes: [${uncovered.map(printScope).join(' ')}]`,
    )
  }

  #textsOf({ resource: { group, plural } }: Attributes): readonly string[] {
    return this.#limited
      .filter((one) => one.group === group && one.plural === plural)
      .flatMap(({ matchContains }) => matchContains)
  }
}

/**
 * Known operators of scopes. As in kube-apiserver, a configuration can contain unknown operators.
 * Here such an operator matches no object; in kube-apiserver it stops the enforcement of quotas.
 */
const operators: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

const printScope = ({ name, operator, values }: Scope): string =>
  `{${name} ${operator} [${values.join(' ')}]}`

/**
 * Returns whether the write increases the usage. Only such writes can be rejected. If a quota did
 * not apply to the old object, the whole usage of the new object is an increase.
 */
function usesMore(
  quotas: readonly KubeObject[],
  { attributes: { oldObject }, evaluator, object }: Charge,
): boolean {
  const usage = evaluator.usageOf(object)
  if (oldObject === undefined) return addsTo(nothing, usage)
  const before = evaluator.usageOf(oldObject)
  const concerned = quotas.filter((quota) => limitedIn(quota, object, evaluator).length > 0)
  if (concerned.length === 0) return addsTo(before, usage)
  return concerned.some((quota) =>
    addsTo(isAbout(quota, oldObject, evaluator) ? before : nothing, usage),
  )
}

const nothing: ResourceList = new Map()

const addsTo = (before: ResourceList, usage: ResourceList): boolean =>
  [...usage].some(([name, { nanos }]) => nanos > (before.get(name)?.nanos ?? 0n))
