/**
 * The names of types and operations in OpenAPI documents. Generated clients derive their own names
 * from these names.
 */
import type { Struct } from '../../../objects/schema/schema.ts'

/** The prefixes of packages that are not in `io.k8s.api`. */
const prefixes: ReadonlyMap<string, string> = new Map([
  ['meta', 'io.k8s.apimachinery.pkg.apis.meta'],
  ['apiextensions', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions'],
  ['apiregistration', 'io.k8s.kube-aggregator.pkg.apis.apiregistration'],
])

/**
 * Group names by package name, for groups whose name is not the package name followed by `.k8s.io`.
 */
const groups: ReadonlyMap<string, string> = new Map([
  ['meta', ''],
  ['core', ''],
  ['apps', 'apps'],
  ['apiserverinternal', 'internal.apiserver.k8s.io'],
  ['autoscaling', 'autoscaling'],
  ['batch', 'batch'],
  ['flowcontrol', 'flowcontrol.apiserver.k8s.io'],
  ['policy', 'policy'],
  ['rbac', 'rbac.authorization.k8s.io'],
])

/** Returns the name of a built-in type, such as `io.k8s.api.core.v1.Pod`. */
export function definitionName({
  packageName,
  name,
}: Pick<Struct, 'packageName' | 'name'>): string {
  const { family, version } = split(packageName)
  return `${prefixes.get(family) ?? `io.k8s.api.${family}`}.${version}.${name}`
}

type GroupVersion = { readonly group: string; readonly version: string }
export type GroupVersionKind = GroupVersion & { readonly kind: string }

export function groupVersionOf(packageName: string): GroupVersion {
  const { family, version } = split(packageName)
  return { group: groups.get(family) ?? `${family}.k8s.io`, version }
}

/**
 * Returns the definition name of a custom resource, with the parts of its group reversed:
 * `com.example.stable.v1.CronTab`. Names of built-in types are reserved.
 */
export function customName({ group, version, kind }: GroupVersionKind): string {
  const name = [...group.split('.').toReversed(), version, kind].join('.')
  return builtInName.test(name) ? `${name}_v2` : name
}

const builtInName =
  /^io\.k8s\.(api|apimachinery\.pkg|apiextensions-apiserver\.pkg|kube-aggregator\.pkg)\./

/**
 * Returns the tag of a version, such as `apps_v1` or `rbacAuthorization_v1`. Without a version,
 * returns the tag of the group itself.
 */
export const tagOf = (group: string, version?: string): string =>
  version === undefined ? camelCase(group) : `${camelCase(group)}_${version}`

/**
 * Returns the part of an operation ID that identifies a group and version, such as
 * `RbacAuthorizationV1`.
 */
export const titleOf = (group: string, version = ''): string =>
  capitalize(camelCase(group)) + capitalize(version)

export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

function camelCase(group: string): string {
  if (group === '') return 'core'
  const [first = '', ...others] = group.replace(/\.k8s\.io$/, '').split(/[^A-Za-z0-9]+/)
  return first + others.map(capitalize).join('')
}

function split(packageName: string): { readonly family: string; readonly version: string } {
  const [family = '', version = ''] = packageName.split('/')
  return { family, version }
}

/** Returns the package of a built-in group and version in the catalog of types. */
export function packageOf({ group, version }: GroupVersion): string {
  const named = [...groups].find(([family, name]) => name === group && family !== 'meta')?.[0]
  return `${named ?? group.replace(/\.k8s\.io$/, '')}/${version}`
}
