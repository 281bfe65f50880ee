/**
 * Computes the apiVersion in which kube-apiserver stores each resource. kube-apiserver overrides
 * the version of some resources. For all others, it uses the first version in its order of
 * preference that the previous release already had.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindsOf } from '../../src/api/lifecycle.ts'
import { packageOfGroup } from '../../src/registry/scheme.ts'

/**
 * Exceptions to the rule at the top of this file. Events are stored in another group.
 * CustomResourceDefinitions and APIServices have their own servers inside kube-apiserver.
 */
const fixed: Readonly<Record<string, string>> = {
  'events.k8s.io events': 'v1',
  'apiextensions.k8s.io customresourcedefinitions': 'apiextensions.k8s.io/v1beta1',
  'apiregistration.k8s.io apiservices': 'apiregistration.k8s.io/v1',
}

export type StorageFacts = { readonly release: number; readonly folder: string }

/** Returns a function that returns the apiVersion in which a resource is stored. */
export function storedVersions({
  release,
  folder,
}: StorageFacts): (group: string, plural: string, kind: string) => string {
  const overrides = readOverrides(folder)
  const priorities = readPriorities(folder)
  return (group, plural, kind) => {
    const known = fixed[`${group} ${plural}`]
    if (known !== undefined) return known
    const packageName = packageOfGroup(group) ?? ''
    const override = overrides.get(`${packageName} ${plural}`)
    const toApiVersion = (version: string): string =>
      group === '' ? version : `${group}/${version}`
    if (override !== undefined) return toApiVersion(override)
    const versions = priorities.get(packageName) ?? []
    const best = versions.find((version) => {
      const lifecycle = kindsOf(release, toApiVersion(version)).get(kind)
      return (
        lifecycle !== undefined &&
        lifecycle.replacement === undefined &&
        lifecycle.introduced < release
      )
    })
    return toApiVersion(best ?? versions[0] ?? '')
  }
}

/**
 * Reads the versions that kube-apiserver overrides. A key consists of the package and the resource,
 * such as `networking ipaddresses`.
 */
function readOverrides(folder: string): ReadonlyMap<string, string> {
  const path = join(folder, 'pkg', 'kubeapiserver', 'default_storage_factory_builder.go')
  return new Map(
    [
      ...readFileSync(path, 'utf8').matchAll(
        /^\t\t(\w+)\.Resource\("(\w+)"\)\.WithVersion\("(\w+)"\)/gm,
      ),
    ].map(([, name, plural, version = '']) => [`${name} ${plural}`, version]),
  )
}

/** Reads the versions of each package in the order of preference. */
function readPriorities(folder: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    globSync(join(folder, 'pkg', 'apis', '*', 'install', 'install.go')).map((path) => {
      const [, list = ''] = /SetVersionPriority\(([^()]*)\)/.exec(readFileSync(path, 'utf8')) ?? []
      const versions = [...list.matchAll(/(v\w+)\.SchemeGroupVersion/g)]
      return [
        path.split('/').at(-3) ?? '',
        versions.map(([, name = '']) => name.slice(name.search(/v\d/))),
      ]
    }),
  )
}
