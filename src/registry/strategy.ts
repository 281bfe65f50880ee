/** How a kind differs in what all kinds have: names, generation, what an update may do, what a delete answers. What is absent is as for most. */
import { checkDnsLabel, checkDnsSubdomain, checkDns1035Label, checkPathSegment } from '../api/names.ts'
import type { Equality } from '../schema/equal.ts'
import type { MetadataRules, UpdateCheck } from './resource.ts'
import { checkCanonicalIp } from './rules/addresses.ts'

export type Strategy = {
  /** The kind is served only while this feature gate is on. */
  readonly gate?: string
  /** Those subresources that are served only while a gate is on, with its name. */
  readonly subresourceGates?: { readonly [subresource: string]: string }
  /** The group in faults of validation, where it is not that of the kind. */
  readonly faultGroup?: string
  /** Absent: names are DNS subdomains. `path`: what a path can hold; `any`: the kind's own rules say it, or nothing does. */
  readonly names?: 'label' | 'dns1035' | 'path' | 'ip' | 'any'
  /** The kind's rules say nothing of metadata. */
  readonly ignoresMetadata?: true
  readonly finalizersNeedNoDomain?: true
  /**
   * What an update checks, in this order, besides what all objects must pass; absent: `change`, `rules`. The recordings meta-by-kind-*
   * show how often each kind looks at metadata.
   */
  readonly updateChecks?: readonly UpdateCheck[]
  /** An update must name the version that it is made from. */
  readonly needsResourceVersion?: true
  /** An update of what does not exist creates it. */
  readonly createsOnUpdate?: true
  /** A delete answers with the object. */
  readonly returnsDeleted?: true
  /** A delete that says nothing else leaves dependents alone. */
  readonly orphansDependents?: true
  /** The status is taken from whoever creates, or updates, the object. */
  readonly takesStatus?: 'create' | 'create and update'
  /** What of metadata a write through /status does not change: all of it, or these fields. */
  readonly statusKeeps?: 'metadata' | readonly string[]
  /** By subresource (empty: the object itself): what such a write leaves as it is, and nobody owns through it. Absent: what follows from the above. */
  readonly resetPaths?: { readonly [subresource: string]: readonly string[] }
  /** Told with every answer, or with those of some versions. */
  readonly deprecation?: string | { readonly [version: string]: string }
  readonly generation?: Generation
}

/**
 * The generation counts the changes of these fields (`metadata.labels`: of the labels). With `kept` the client sets the first one;
 * otherwise it is 1. `equality` is how upstream compares them.
 */
export type Generation = { readonly fields: readonly string[]; readonly kept?: true; readonly equality?: Equality }

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
}: Strategy): MetadataRules => ({
  isChecked: ignoresMetadata !== true,
  needsDomains: finalizersNeedNoDomain !== true,
  updateChecks: updateChecks ?? ['change', 'rules'],
})

export const deprecationOf = ({ deprecation }: Strategy, version: string): string | undefined =>
  typeof deprecation === 'object' ? deprecation[version] : deprecation

/** The paths of fields that a write through a subresource (empty: the object itself) leaves as they are. */
export function resetPathsOf(
  { resetPaths = {}, statusKeeps = [] }: Strategy,
  hasStatus: boolean,
): (subresource: string) => readonly string[] {
  const kept = statusKeeps === 'metadata' ? ['metadata'] : statusKeeps.map((name) => `metadata.${name}`)
  return (subresource) => {
    if (Object.hasOwn(resetPaths, subresource)) return resetPaths[subresource] ?? []
    if (subresource === 'status') return ['spec', ...kept]
    return hasStatus ? ['status'] : []
  }
}
