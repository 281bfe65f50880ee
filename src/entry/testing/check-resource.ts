/** Checks that the resource of a fault exists. Otherwise the fault would never apply. */
import { type ResourceRow, resourcesOf } from '../../registry/read-resources.ts'
import { didYouMean } from '../../lib/text/suggest.ts'

/**
 * The names of the CustomResourceDefinitions and APIServices of a cluster. They define the
 * resources that are not built in.
 */
export type AddedResources = {
  /** Names of CustomResourceDefinitions, such as `teas.example.com`. */
  readonly definitions: readonly string[]
  /** Names of APIServices, such as `v1.apps` or, of an aggregated server, `v1.metrics.k8s.io`. */
  readonly apiServices: readonly string[]
}

/**
 * Throws a RangeError with advice if a cluster of a release has no matching resource, as for `podz`
 * or `pods/statsu`.
 */
export function checkResource(wanted: string, added: AddedResources, release: number): void {
  const [named = '', ofObject] = wanted.split('/', 2)
  if (named === '*') return
  const rows = resourcesOf(release)
  const found = rows.filter(({ plural, group }) => [plural, `${plural}.${group}`].includes(named))
  if (found.length === 0) {
    if (isCustom(named, added) || isAggregated(named, added, rows)) return
    throw new RangeError(unknownResource(named, added, rows))
  }
  const subresources = found.flatMap((row) => row.subresources.map(({ name }) => name))
  if (ofObject === undefined || ofObject === '*' || subresources.includes(ofObject)) return
  const question = didYouMean(ofObject, subresources, (name) => `${named}/${name}`)
  const advice = question ?? `it has ${[...new Set(subresources)].join(', ') || 'none'}`
  throw new RangeError(`match.resource: ${named} has no subresource ${ofObject}; ${advice}`)
}

const isCustom = (named: string, { definitions }: AddedResources): boolean =>
  definitions.some((name) => name === named || name.startsWith(`${named}.`))

/**
 * Whether the resource might belong to an aggregated API server, whose resources are not known. A
 * name without a group might belong to any of them.
 */
function isAggregated(
  named: string,
  { definitions, apiServices }: AddedResources,
  rows: readonly ResourceRow[],
): boolean {
  const own = new Set([...rows.map(({ group }) => group), ...definitions.map(groupOf)])
  const groups = apiServices.map(groupOf).filter((group) => !own.has(group))
  return groups.some((group) => !named.includes('.') || groupOf(named) === group)
}

/**
 * Returns the group in the name of a definition or APIService: the part after the first dot, for
 * example of `teas.example.com` or `v1.apps`.
 */
const groupOf = (name: string): string => /\.(.*)/.exec(name)?.[1] ?? ''

function unknownResource(
  named: string,
  { definitions }: AddedResources,
  rows: readonly ResourceRow[],
): string {
  const meant = rows.find(
    ({ kind, shortNames }) =>
      kind.toLowerCase() === named.toLowerCase() || shortNames.includes(named),
  )
  const names = new Set([...rows.map(({ plural }) => plural), ...definitions])
  const question = meant === undefined ? didYouMean(named, names) : `did you mean ${meant.plural}?`
  const advice = question ?? 'use its plural name, and create its CustomResourceDefinition first'
  return `match.resource: the server has no resource ${named}; ${advice}`
}
