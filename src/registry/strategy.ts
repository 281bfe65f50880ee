/**
 * How a kind differs from most others in names, generation, updates and deletes. An absent field
 * means the usual behaviour.
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
  /** The feature gate without which the kind is not served. */
  readonly gate?: string
  /** The feature gates without which subresources are not served. */
  readonly subresourceGates?: { readonly [subresource: string]: string }
  /** The group in validation errors, if it is not that of the kind. */
  readonly faultGroup?: string
  /**
   * Absent: names are DNS subdomains. `path`: any path segment; `any`: the kind's own rules
   * validate names, or nothing does.
   */
  readonly names?: 'label' | 'dns1035' | 'path' | 'ip' | 'any'
  /** The kind's own validation skips metadata. */
  readonly ignoresMetadata?: true
  readonly finalizersNeedNoDomain?: true
  /**
   * What an update validates, in this order, besides the rules for all objects; absent: `change`,
   * `rules`. The recordings meta-by-kind-* show how often each kind validates metadata.
   */
  readonly updateChecks?: readonly UpdateCheck[]
  /** An update must have a resourceVersion. */
  readonly needsResourceVersion?: true
  /** An update of an object that does not exist creates it. */
  readonly createsOnUpdate?: true
  /** The response to a delete is the object. */
  readonly returnsDeleted?: true
  /** By default, a delete orphans dependents. */
  readonly orphansDependents?: true
  /** Whether the status in the body of a create, or also of an update, is kept. */
  readonly takesStatus?: 'create' | 'create and update'
  /** The metadata that a write through /status does not change: all of it, or these fields. */
  readonly statusKeeps?: 'metadata' | readonly string[]
  /**
   * By subresource (empty: the object itself): the fields that such a write does not change, and so
   * does not own. Absent: derived from the above.
   */
  readonly resetPaths?: { readonly [subresource: string]: readonly string[] }
  /** A warning that is sent with every response, or with those of some versions. */
  readonly deprecation?: string | { readonly [version: string]: string }
  readonly generation?: Generation
}

/**
 * The generation is incremented when one of these fields changes (`metadata.labels`: the labels).
 * With `kept` the client sets the first one; otherwise it is 1. `equality` is how upstream compares
 * them.
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
 * The paths of fields that a write through a subresource (empty: the object itself) does not
 * change.
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
