/** `--runtime-config`: which versions and resources are served. Errors have upstream's texts. */
import { parseGoBoolean } from '../lib/go-boolean.ts'

/**
 * The groups, with all versions that upstream's scheme has for them. Stable versions are served by default, others only if the flag enables
 * them; some versions have no kinds any more, and enabling them serves nothing.
 */
const versionsOf: { readonly [group: string]: readonly string[] } = {
  '': ['v1'],
  'admissionregistration.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'apiextensions.k8s.io': ['v1', 'v1beta1'],
  'apiregistration.k8s.io': ['v1', 'v1beta1'],
  apps: ['v1', 'v1beta2', 'v1beta1'],
  'authentication.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'authorization.k8s.io': ['v1', 'v1beta1'],
  autoscaling: ['v1', 'v2', 'v2beta1', 'v2beta2'],
  batch: ['v1', 'v1beta1'],
  'certificates.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'coordination.k8s.io': ['v1', 'v1beta1', 'v1alpha2'],
  'discovery.k8s.io': ['v1', 'v1beta1'],
  'events.k8s.io': ['v1', 'v1beta1'],
  extensions: ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1', 'v1beta3', 'v1beta2', 'v1beta1'],
  'internal.apiserver.k8s.io': ['v1alpha1'],
  'networking.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'node.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  policy: ['v1', 'v1beta1'],
  'rbac.authorization.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'resource.k8s.io': ['v1beta1', 'v1beta2', 'v1alpha3'],
  'scheduling.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'storage.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'storagemigration.k8s.io': ['v1alpha1'],
}

const stageKeys = ['api/all', 'api/ga', 'api/beta', 'api/alpha', 'api/legacy'] as const

type Stage = 'ga' | 'beta' | 'alpha'

type ResourceId = { readonly group: string; readonly version: string; readonly plural: string }

export type RuntimeConfig = { readonly isServed: (resource: ResourceId) => boolean }

export function parseRuntimeConfig(entries: readonly string[]): {
  readonly runtime: RuntimeConfig
  readonly faults: readonly string[]
} {
  const values = new Map<string, boolean>()
  const faults: string[] = []
  for (const entry of entries) {
    const [key = '', value = 'true'] = entry.split('=')
    const fault = faultOf(key, value)
    if (fault === undefined) values.set(key, isTrue(value))
    else faults.push(fault)
  }
  if (values.get('api/all') === false && values.size === 1) faults.push('invalid key with only api/all=false')
  return { runtime: { isServed: (resource) => isServed(resource, values) }, faults }
}

/** The most specific key takes precedence. */
function isServed({ group, version, plural }: ResourceId, values: ReadonlyMap<string, boolean>): boolean {
  const groupVersion = group === '' ? version : `${group}/${version}`
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

function faultOf(key: string, value: string): string | undefined {
  if (value !== '' && parseGoBoolean(value) === undefined) {
    return `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  }
  if (stageKeys.some((stage) => stage === key)) return undefined
  const words = key.split('/')
  if (words.length > 3) return `runtime-config invalid key ${key}`
  const [group = '', version = '', plural] = words[0] === 'v1' ? ['', ...words] : words
  const versions = Object.hasOwn(versionsOf, group) ? versionsOf[group] : undefined
  if (versions === undefined) return `unknown api groups ${group}`
  const groupVersion = group === '' ? version : `${group}/${version}`
  if (!versions.includes(version)) return `group version ${groupVersion} that has not been registered`
  if (plural !== undefined && plural !== plural.toLowerCase()) {
    return `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(plural)}`
  }
  return undefined
}

const isTrue = (value: string): boolean => value === '' || parseGoBoolean(value) === true
