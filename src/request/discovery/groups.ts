/**
 * The discovery documents: groups, versions and resources. Clients usually request them before
 * anything else.
 */
import { hash } from 'node:crypto'
import type { Gates } from '../../api/gates.ts'
import type { Fields } from '../../api/object.ts'
import type { Registry } from '../../registry/registry.ts'
import { apiVersionOf, type Resource, type Subresource } from '../../registry/resource.ts'
import { compareVersions } from '../../registry/priorities.ts'
import type { ListedGroup, ListedGroups } from './listed-groups.ts'

/** A document. Its fields have the order in which kube-apiserver serializes them. */
export type Document = Fields

/**
 * Returns the versions of the core group. `serverAddress` is the address at which external clients
 * can reach the server.
 */
export function coreVersions(serverAddress: string): Document {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress }]
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs }
}

export function groupList(listed: ListedGroups): Document {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: Array.from(listed.all, groupFields) }
}

export const groupDocument = (group: ListedGroup): Document => ({
  kind: 'APIGroup',
  apiVersion: 'v1',
  ...groupFields(group),
})

/**
 * Returns the resources of a version, or undefined if the version does not exist. The document of
 * the core group has no apiVersion.
 */
export function resourceList(
  registry: Registry,
  { group: groupName, version }: { readonly group: string; readonly version: string },
  gates: Gates,
): Document | undefined {
  const resources = registry.inGroupVersion(groupName, version)
  if (resources.length === 0) return undefined
  return {
    kind: 'APIResourceList',
    ...(groupName === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group: groupName, version }),
    resources: resources.flatMap((resource) => [
      resourceFields(resource, gates),
      ...resource.subresources.map((subresource) => subresourceFields(resource, subresource)),
    ]),
  }
}

/** Returns the versions of a group, beginning with the preferred version. */
export function versionsOf(registry: Registry, group: string): string[] {
  return [...new Set(registry.inGroup(group).map(({ version }) => version))].toSorted(
    compareVersions,
  )
}

function groupFields({ name, versions }: ListedGroup): Document {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

function resourceFields(resource: Resource, gates: Gates): Document {
  const isHashed = resource.isStored && gates.isOn('StorageVersionHash')
  const { plural, isNamespaced, kind, verbs } = resource
  const { singular, shortNames, categories } = resource.discovery
  return {
    name: plural,
    singularName: singular,
    namespaced: isNamespaced,
    kind,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(isHashed ? { storageVersionHash: storageVersionHash(resource) } : {}),
  }
}

function subresourceFields(
  resource: Resource,
  { name, kind, group, version, verbs }: Subresource,
): Document {
  const isOwn = group === resource.group && version === resource.version
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.isNamespaced,
    ...(isOwn ? {} : { group, version }),
    kind,
    verbs,
  }
}

/**
 * Returns a hash of the version in which a kind is stored. A storage migrator compares hashes to
 * detect that this version has changed.
 */
function storageVersionHash({ group, version, kind, versions }: Resource): string {
  const { storageVersion } = versions
  const stored = storageVersion === undefined ? `${group}/${version}` : withGroup(storageVersion)
  return hash('sha256', `${stored}/${kind}`, 'buffer').subarray(0, 8).toString('base64')
}

/**
 * Converts an apiVersion of the core group, such as `v1`, to the form `/v1`. The input of the hash
 * always contains a slash after the group.
 */
const withGroup = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion : `/${apiVersion}`
