/** Which groups, versions and resources there are: what a client asks for first. */
import { createHash } from 'node:crypto'
import type { Fields } from '../api/object.ts'
import type { Registry } from '../registry/registry.ts'
import { apiVersionOf, type Resource } from '../registry/resource.ts'

/** Documents keep their fields in the order in which kube-apiserver writes them. */
export type Document = Fields

/** The versions of the core group. `serverAddress` is where clients outside reach the server. */
export function coreVersions(serverAddress: string): Document {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress }]
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs }
}

export function groupList(registry: Registry): Document {
  const names = new Set(registry.all().map((resource) => resource.group))
  names.delete('')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: [...names].map((name) => groupFields(registry, name)) }
}

/** Undefined when there is no such group. */
export function groupDocument(registry: Registry, name: string): Document | undefined {
  if (name === '' || !registry.all().some((resource) => resource.group === name)) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupFields(registry, name) }
}

/** Undefined when there is no such version. The document of the core group has no apiVersion. */
export function resourceList(registry: Registry, groupName: string, version: string): Document | undefined {
  const resources = registry.inGroupVersion(groupName, version)
  if (resources.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    ...(groupName === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group: groupName, version }),
    resources: resources.map(resourceFields),
  }
}

function groupFields(registry: Registry, name: string): Document {
  const versions = new Set(
    registry
      .all()
      .filter((resource) => resource.group === name)
      .map(({ version }) => version),
  )
  const entries = [...versions].map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

function resourceFields(resource: Resource): Document {
  return {
    name: resource.plural,
    singularName: resource.singular,
    namespaced: resource.isNamespaced,
    kind: resource.kind,
    verbs: resource.verbs,
    ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
    storageVersionHash: storageVersionHash(resource),
  }
}

/** Lets a storage migrator see that a kind is now stored in another version. */
function storageVersionHash({ group: name, version, kind }: Resource): string {
  return createHash('sha256').update(`${name}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
