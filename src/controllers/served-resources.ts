/**
 * The resources whose objects controllers watch and delete. Each resource is listed once, even if
 * several versions of it are served.
 */
import { compareVersions } from '../registry/priorities.ts'
import type { Registry } from '../registry/registry.ts'
import type { Resource, Verb } from '../registry/resource.ts'

/**
 * Returns each resource in its preferred version. For a custom resource with a conversion webhook,
 * returns the storage version if it is served. Its objects can then be deleted even if the webhook
 * does not exist any more.
 */
export function servedResources(registry: Registry, verbs: readonly Verb[]): Resource[] {
  const chosen = new Map<string, Resource>()
  for (const resource of registry.all()) {
    // Bounded: `verbs` has only a few entries, so each resource is searched only a few times
    if (!resource.isStored || verbs.some((verb) => !resource.verbs.includes(verb))) continue
    const id = `${resource.plural}.${resource.group}`
    const other = chosen.get(id)
    if (other === undefined || isBetter(resource, other)) chosen.set(id, resource)
  }
  return [...chosen.values()]
}

function isBetter(one: Resource, other: Resource): boolean {
  const [isConverted, wasConverted] = [isConvertedByWebhook(one), isConvertedByWebhook(other)]
  if (isConverted !== wasConverted) return wasConverted
  return compareVersions(one.version, other.version) < 0
}

const isConvertedByWebhook = ({ versions }: Resource): boolean =>
  versions.converted?.() !== undefined

type ResourceName = Pick<Resource, 'group' | 'version' | 'plural'>

/** Returns the path of a collection, in the namespace if a namespace is given. */
export function collectionPath(
  { group, version, plural }: ResourceName,
  namespace: string | undefined,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return namespace === undefined || namespace === ''
    ? `${root}/${plural}`
    : `${root}/namespaces/${namespace}/${plural}`
}

/** Returns the path of an object. */
export const objectPath = (
  resource: ResourceName,
  namespace: string | undefined,
  name: string,
): string => `${collectionPath(resource, namespace)}/${name}`
