/**
 * Properties in which a kind differs from most others: names, generation, updates and deletes. An
 * absent field means the usual behavior.
 */
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkDns1035Label,
  checkPathSegment,
} from '../api/names.ts'
import type { Equality } from '../objects/schema/equal.ts'
import type { MetadataRules, UpdateCheck } from './resource.ts'
import { checkCanonicalIp } from './rules/addresses.ts'

export type Strategy = {
  /** Feature gate without which the kind is not served. */
  readonly gate?: string
  /** Feature gates without which subresources are not served. */
  readonly subresourceGates?: { readonly [subresource: string]: string }
  /** Group in validation errors, if it differs from that of the kind. */
  readonly faultGroup?: string
  /**
   * Rule for names. If it is absent, names are DNS subdomains. `path` allows any path segment. With
   * `any`, only the kind's own rules validate names, if it has such rules.
   */
  readonly names?: 'label' | 'dns1035' | 'path' | 'ip' | 'any'
  /** Whether the kind's own validation skips metadata. */
  readonly ignoresMetadata?: true
  readonly finalizersNeedNoDomain?: true
  /**
   * Parts of the validation of an update, in this order, in addition to the rules for all objects.
   * Defaults to `change`, `rules`. The recordings meta-by-kind-* show how often each kind validates
   * metadata.
   */
  readonly updateChecks?: readonly UpdateCheck[]
  /** Whether an update must have a resourceVersion. */
  readonly needsResourceVersion?: true
  /** Whether an update of an object that does not exist creates it. */
  readonly createsOnUpdate?: true
  /** Whether the response to a delete is the object. */
  readonly returnsDeleted?: true
  /** Whether a delete orphans dependents by default. */
  readonly orphansDependents?: true
  /** Whether the status in the body of a create, or also of an update, is kept. */
  readonly takesStatus?: 'create' | 'create and update'
  /** Metadata that a write through /status does not change: all of it, or these fields. */
  readonly statusKeeps?: 'metadata' | readonly string[]
  /**
   * Fields that a write does not change, and therefore does not own, by subresource. An empty
   * subresource stands for the object itself. Derived from the fields above if absent.
   */
  readonly resetPaths?: { readonly [subresource: string]: readonly string[] }
  /** Warning that is sent with every response, or with those of some versions. */
  readonly deprecation?: string | { readonly [version: string]: string }
  readonly generation?: Generation
}

/**
 * Changes that increment the generation: those of one of `fields` (`metadata.labels`: the labels).
 * With `kept`, the client sets the first generation; otherwise it is 1. `equality` is how
 * kube-apiserver compares the fields.
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

export const nameRuleOf = ({ names }: Strategy): ((name: string) => string[]) =>
  names === undefined ? checkDnsSubdomain : nameRules[names]

export const metadataRulesOf = ({
  ignoresMetadata,
  finalizersNeedNoDomain,
  updateChecks,
}: Strategy): Omit<MetadataRules, 'checkName'> => ({
  isChecked: ignoresMetadata !== true,
  needsDomains: finalizersNeedNoDomain !== true,
  updateChecks: updateChecks ?? ['change', 'rules'],
})

export const deprecationOf = ({ deprecation }: Strategy, version: string): string | undefined =>
  typeof deprecation === 'object' ? deprecation[version] : deprecation

/**
 * Returns the paths of fields that a write through a subresource does not change. An empty
 * subresource stands for the object itself.
 */
export function resetPathsOf(
  { resetPaths = {}, statusKeeps = [] }: Strategy,
  hasStatus: boolean,
): (subresource: string) => readonly string[] {
  const kept =
    statusKeeps === 'metadata' ? ['metadata'] : statusKeeps.map((name) => `metadata.${name}`)
  return (subresource) => {
    if (Object.hasOwn(resetPaths, subresource)) return resetPaths[subresource] ?? []
    if (subresource === 'status') return ['spec', ...kept]
    return hasStatus ? ['status'] : []
  }
}
