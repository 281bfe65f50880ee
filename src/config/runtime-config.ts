/**
 * Reads `--runtime-config`, which enables and disables API versions and resources. Error messages
 * are those of kube-apiserver.
 */
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import { suggestValue } from '../lib/text/suggest.ts'
import { type Emulation, introductionOf, noEmulation, versionIntroductionOf } from './emulation.ts'

/**
 * The API groups of kube-apiserver, with all versions that its scheme contains. By default, stable
 * versions are served and other versions are not. Some versions contain no kinds any more, so
 * enabling them has no effect. `v1beta1@35-` means that the releases since 1.35 have the version,
 * and `v1alpha1@-33` that the releases up to 1.33 have it.
 */
const versionTable: { readonly [group: string]: readonly string[] } = {
  '': ['v1'],
  'admissionregistration.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'apiextensions.k8s.io': ['v1', 'v1beta1'],
  'apiregistration.k8s.io': ['v1', 'v1beta1'],
  apps: ['v1', 'v1beta2', 'v1beta1'],
  'authentication.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'authorization.k8s.io': ['v1', 'v1beta1'],
  autoscaling: ['v1', 'v2', 'v2beta1@-35', 'v2beta2@-35'],
  batch: ['v1', 'v1beta1'],
  'certificates.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'coordination.k8s.io': ['v1', 'v1beta1', 'v1alpha2'],
  'discovery.k8s.io': ['v1', 'v1beta1'],
  'events.k8s.io': ['v1', 'v1beta1'],
  extensions: ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1', 'v1beta3', 'v1beta2', 'v1beta1'],
  'internal.apiserver.k8s.io': ['v1alpha1'],
  'lifecycle.k8s.io': ['v1alpha1@37-'],
  'networking.k8s.io': ['v1', 'v1beta1', 'v1alpha1@-33'],
  'node.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  policy: ['v1', 'v1beta1'],
  'rbac.authorization.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'resource.k8s.io': ['v1@34-', 'v1beta1', 'v1beta2', 'v1alpha3'],
  'scheduling.k8s.io': ['v1', 'v1beta1', 'v1alpha1@-35', 'v1alpha2@36-36', 'v1alpha3@37-'],
  'storage.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'storagemigration.k8s.io': ['v1@37-', 'v1beta1@35-', 'v1alpha1@-34'],
}

/** Returns the versions of a group in a release. A group without versions does not exist. */
function versionsOf(group: string, release: number): readonly string[] {
  const rows = Object.hasOwn(versionTable, group) ? versionTable[group] : undefined
  return (rows ?? []).flatMap((row) => {
    const [version = '', range = '-'] = row.split('@')
    const [first = '', last = ''] = range.split('-')
    return release >= Number(first) && release <= Number(last || Infinity) ? version : []
  })
}

const groupNames = (release: number): string[] =>
  Object.keys(versionTable).filter((group) => group !== '' && versionsOf(group, release).length > 0)

const stageKeys = ['api/all', 'api/ga', 'api/beta', 'api/alpha', 'api/legacy'] as const

type Stage = 'ga' | 'beta' | 'alpha'

type ResourceId = { readonly group: string; readonly version: string; readonly plural: string }

export type RuntimeConfig = { readonly isServed: (resource: ResourceId) => boolean }

export function parseRuntimeConfig(
  entries: readonly string[],
  emulation: Emulation = noEmulation,
): {
  readonly runtime: RuntimeConfig
  readonly faults: readonly string[]
  readonly hints: readonly string[]
} {
  const values = new Map<string, boolean>()
  const faults: string[] = []
  const hints: string[] = []
  for (const entry of entries) {
    const [key = '', value = 'true'] = entry.split('=')
    const fault = faultOf(key, value, emulation.release)
    if (fault === undefined) values.set(key, isTrue(value))
    else {
      faults.push(fault)
      hints.push(...hintsFor(key, emulation.release))
    }
  }
  if (values.get('api/all') === false && values.size === 1)
    faults.push('invalid key with only api/all=false')
  faults.push(...tooNew(values, emulation))
  return {
    runtime: { isServed: (resource) => isServedThen(resource, values, emulation) },
    faults,
    hints,
  }
}

/**
 * Whether the emulated version has a resource. Resources that were introduced later are not served,
 * unless a flag permits them.
 */
function isServedThen(
  resource: ResourceId,
  values: ReadonlyMap<string, boolean>,
  emulation: Emulation,
): boolean {
  if (!isServed(resource, values)) return false
  const groupVersion = groupVersionOf(resource)
  if (introductionOf(emulation.release, groupVersion, resource.plural) <= emulation.minor)
    return true
  const isNamed = values.get(`${groupVersion}/${resource.plural}`) ?? values.get(groupVersion)
  if (emulation.isRuntimeConfigForwardCompatible && isNamed === true) return true
  if (!emulation.isForwardCompatible || stageOf(resource.version) === 'alpha') return false
  // A newer version of a resource is served if an older or less stable version is served. Alpha
  // versions neither cause this nor are served because of it.
  const older = versionsOf(resource.group, emulation.release).filter((version) =>
    isLess(version, resource.version),
  )
  return older.some((version) => {
    const stage = stageOf(version)
    return stage !== 'alpha' && isServedThen({ ...resource, version }, values, emulation)
  })
}

/** Returns errors about APIs that the flag enables but that the emulated version does not have. */
function tooNew(values: ReadonlyMap<string, boolean>, emulation: Emulation): string[] {
  if (emulation.isRuntimeConfigForwardCompatible) return []
  const hint = 'Consider setting --runtime-config-emulation-forward-compatible=true'
  const current = `the current version 1.${emulation.minor}. ${hint}`
  return [...values].flatMap(([key, isOn]) => {
    const [group = '', version = '', plural] = key.split('/')
    if (!isOn || group === 'api') return []
    const groupVersion = `${group}/${version}`
    if (plural === undefined) {
      if (versionIntroductionOf(emulation.release, groupVersion) <= emulation.minor) return []
      const why = 'all the resources have been introduced after'
      return [`cannot enable version ${groupVersion} in runtime-config because ${why} ${current}`]
    }
    const introduced = introductionOf(emulation.release, groupVersion, plural)
    if (introduced <= emulation.minor) return []
    const why = `it is introduced at 1.${introduced} after`
    return [
      `cannot enable resource ${groupVersion}, Resource=${plural} in runtime-config because ${why} ${current}`,
    ]
  })
}

const groupVersionOf = ({ group, version }: ResourceId): string =>
  group === '' ? version : `${group}/${version}`

const stages: readonly Stage[] = ['alpha', 'beta', 'ga']

/** Compares versions, first by stability and then by number. */
function isLess(one: string, other: string): boolean {
  const [a, b] = [stages.indexOf(stageOf(one)), stages.indexOf(stageOf(other))]
  return a === b ? one < other : a < b
}

/**
 * Whether a resource is enabled, by the flag or by default. If several keys of the flag match, the
 * most specific key is used.
 */
function isServed(
  { group, version, plural }: ResourceId,
  values: ReadonlyMap<string, boolean>,
): boolean {
  const groupVersion = groupVersionOf({ group, version, plural })
  const stage = stageOf(version)
  return (
    values.get(`${groupVersion}/${plural}`) ??
    values.get(groupVersion) ??
    values.get(`api/${stage}`) ??
    values.get('api/all') ??
    stage === 'ga'
  )
}

function stageOf(version: string): Stage {
  if (version.includes('alpha')) return 'alpha'
  return version.includes('beta') ? 'beta' : 'ga'
}

function faultOf(key: string, value: string, release: number): string | undefined {
  if (value !== '' && parseGoBoolean(value) === undefined) {
    return `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  }
  if (stageKeys.some((stage) => stage === key)) return undefined
  const words = key.split('/')
  if (words.length > 3) return `runtime-config invalid key ${key}`
  const [group = '', version = '', plural] = words[0] === 'v1' ? ['', ...words] : words
  const versions = versionsOf(group, release)
  if (versions.length === 0) return `unknown api groups ${group}`
  const groupVersion = group === '' ? version : `${group}/${version}`
  if (!versions.includes(version))
    return `group version ${groupVersion} that has not been registered`
  if (plural !== undefined && plural !== plural.toLowerCase()) {
    return `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(plural)}`
  }
  return undefined
}

/** Suggests a group for an unknown group, and lists the versions for an unknown version. */
function hintsFor(key: string, release: number): string[] {
  const [group = '', version = ''] = key.split('/')
  if (group === 'v1') return []
  const versions = versionsOf(group, release)
  if (versions.length > 0 && !versions.includes(version))
    return [`--runtime-config: ${group} has the versions ${versions.join(', ')}`]
  if (group === 'api') return suggestValue('runtime-config', key, stageKeys)
  if (versions.length > 0) return []
  return suggestValue('runtime-config', group, groupNames(release))
}

const isTrue = (value: string): boolean => value === '' || parseGoBoolean(value) === true
