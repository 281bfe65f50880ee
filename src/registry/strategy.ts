/**
 * Properties in which a kind differs from most other kinds: names, generation, updates and deletes.
 * An absent field means the default behavior.
 */
import {
  checkDnsLabel,
  checkLongName,
  checkDnsSubdomain,
  checkDns1035Label,
  checkPathSegment,
} from '../api/names.ts'
import type { Gates } from '../api/gates.ts'
import type { Equality } from '../objects/schema/equal.ts'
import type { MetadataRules, UpdateCheck } from './resource.ts'
import { checkCanonicalIp } from './rules/addresses.ts'

/**
 * The first release in which updates of most kinds validate the object only once. Before, an error
 * of such a kind is reported twice. Updates of ResourceClaims, whose spec cannot change, do not
 * validate it at all since this release.
 */
export const VALIDATED_ONCE_SINCE = 35

export type Strategy = {
  /** Feature gate that must be on for the kind to be served. */
  readonly gate?: string
  /** Feature gates that must be on for subresources to be served. */
  readonly subresourceGates?: { readonly [subresource: string]: string }
  /** Group in validation errors, if it differs from the group of the kind. */
  readonly faultGroup?: string
  /**
   * Rule for names. By default, names are DNS subdomains. `path` permits any path segment. With
   * `any`, only the rules of the kind itself validate names.
   */
  readonly names?: 'label' | 'dns1035' | 'path' | 'ip' | 'any'
  /** A gate with which names are DNS labels. */
  readonly labelGate?: string
  /**
   * Whether releases since 1.35 validate names by the tags of the type. Such names are DNS
   * subdomains. The error of a long name counts bytes, and generateName is not validated.
   */
  readonly hasTaggedNames?: true
  /** Whether the kind's own validation skips metadata. */
  readonly ignoresMetadata?: true
  readonly finalizersNeedNoDomain?: true
  /**
   * Steps in the validation of an update, in this order, in addition to the rules for all objects.
   * By default, the steps are `change` and `rules`. The recordings meta-by-kind-* show how often
   * each kind validates metadata.
   */
  readonly updateChecks?: readonly UpdateCheck[]
  /** Steps in the validation of an update in the releases from `since` on. */
  readonly laterUpdateChecks?: { readonly since: number; readonly checks: readonly UpdateCheck[] }
  /** Whether an update must have a resourceVersion. */
  readonly needsResourceVersion?: true
  /** Whether an update of a nonexistent object creates it. */
  readonly createsOnUpdate?: true
  /** Whether the response to a delete contains the deleted object. */
  readonly returnsDeleted?: true
  /** Whether a delete orphans dependents by default. */
  readonly orphansDependents?: true
  /**
   * The requests that can set the status of the object without the status subresource. In all other
   * requests for the object itself, the status in the body is ignored.
   */
  readonly takesStatus?: 'create' | 'create and update'
  /**
   * Metadata that a write through /status does not change: either all metadata, or only the listed
   * fields.
   */
  readonly statusKeeps?: 'metadata' | readonly string[]
  /**
   * Fields that a write does not change, keyed by subresource. The client that writes does not own
   * these fields. An empty subresource stands for the object itself. By default, the fields are
   * derived from the other properties.
   */
  readonly resetPaths?: { readonly [subresource: string]: readonly string[] }
  /** The last release in which `resetPaths` apply. */
  readonly resetPathsUntil?: number
  readonly generation?: Generation
}

/**
 * Changes that increment the generation. `fields` lists paths such as `spec` or `metadata.labels`.
 * With `kept`, a create keeps the generation from the request; without `kept`, it sets the
 * generation to 1. `equality` specifies how kube-apiserver compares the fields.
 */
export type Generation = {
  readonly fields: readonly string[]
  readonly kept?: true
  readonly equality?: Equality
}

const nameRules = {
  label: checkDnsLabel,
  dns1035: checkDns1035Label,
  path: checkPathSegment,
  ip: checkCanonicalIp,
  any: (): string[] => [],
} as const

/** The first release that validates names by the tags of types. */
const TAGGED_NAMES_SINCE = 35

type NameRule = Pick<MetadataRules, 'checkName' | 'checkPrefix'>

export function nameRuleOf(
  { names, labelGate, hasTaggedNames }: Strategy,
  { release, isOn }: Gates,
): NameRule {
  if (hasTaggedNames === true && release >= TAGGED_NAMES_SINCE) return taggedNameRule
  if (labelGate !== undefined && isOn(labelGate)) return { checkName: checkDnsLabel }
  return { checkName: names === undefined ? checkDnsSubdomain : nameRules[names] }
}

const taggedNameRule: NameRule = { checkName: checkLongName, checkPrefix: () => [] }

export const metadataRulesOf = (
  strategy: Strategy,
  release: number,
): Omit<MetadataRules, 'checkName' | 'checkPrefix'> => ({
  isChecked: strategy.ignoresMetadata !== true,
  needsDomains: strategy.finalizersNeedNoDomain !== true,
  updateChecks: updateChecksOf(strategy, release),
})

const updateChecksOf = (
  { updateChecks = ['change', 'rules'], laterUpdateChecks: later }: Strategy,
  release: number,
): readonly UpdateCheck[] =>
  later === undefined || release < later.since ? updateChecks : later.checks

/**
 * Returns the paths of fields that a write through a subresource does not change. An empty
 * subresource stands for the object itself.
 */
export function resetPathsOf(
  { resetPaths: own = {}, resetPathsUntil = Infinity, statusKeeps = [] }: Strategy,
  { hasStatus, release }: { readonly hasStatus: boolean; readonly release: number },
): (subresource: string) => readonly string[] {
  const resetPaths = release <= resetPathsUntil ? own : {}
  const kept =
    statusKeeps === 'metadata' ? ['metadata'] : statusKeeps.map((name) => `metadata.${name}`)
  return (subresource) => {
    if (Object.hasOwn(resetPaths, subresource)) return resetPaths[subresource] ?? []
    if (subresource === 'status') return ['spec', ...kept]
    return hasStatus ? ['status'] : []
  }
}
