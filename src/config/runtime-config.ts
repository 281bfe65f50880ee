/** `--runtime-config`: which versions and resources are served. Faults are in upstream's words. */

/** The groups that are there, with the versions that are served unless turned off. */
const servedVersions: { readonly [group: string]: readonly string[] } = {
  '': ['v1'],
  'admissionregistration.k8s.io': ['v1'],
  'apiextensions.k8s.io': ['v1'],
  'apiregistration.k8s.io': ['v1'],
  apps: ['v1'],
  'authentication.k8s.io': ['v1'],
  'authorization.k8s.io': ['v1'],
  autoscaling: ['v1', 'v2'],
  batch: ['v1'],
  'certificates.k8s.io': ['v1'],
  'coordination.k8s.io': ['v1'],
  'discovery.k8s.io': ['v1'],
  'events.k8s.io': ['v1'],
  'flowcontrol.apiserver.k8s.io': ['v1'],
  'networking.k8s.io': ['v1'],
  'node.k8s.io': ['v1'],
  policy: ['v1'],
  'rbac.authorization.k8s.io': ['v1'],
  'scheduling.k8s.io': ['v1'],
  'storage.k8s.io': ['v1'],
}

/** Known, but only with versions or kinds that are off by default. */
const otherGroups: ReadonlySet<string> = new Set([
  'extensions',
  'internal.apiserver.k8s.io',
  'resource.k8s.io',
  'storagemigration.k8s.io',
])

const stageKeys = ['api/all', 'api/ga', 'api/beta', 'api/alpha', 'api/legacy'] as const

export type RuntimeConfig = {
  readonly isServed: (resource: {
    readonly group: string
    readonly version: string
    readonly plural: string
  }) => boolean
}

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

/** The most exact key that says something counts. */
function isServed(
  { group, version, plural }: { readonly group: string; readonly version: string; readonly plural: string },
  values: ReadonlyMap<string, boolean>,
): boolean {
  const groupVersion = group === '' ? version : `${group}/${version}`
  return (
    values.get(`${groupVersion}/${plural}`) ??
    values.get(groupVersion) ??
    values.get('api/ga') ??
    values.get('api/all') ??
    true
  )
}

function faultOf(key: string, value: string): string | undefined {
  if (!/^(1|t|T|true|TRUE|True|0|f|F|false|FALSE|False|)$/.test(value)) {
    return `invalid value of ${key}: ${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`
  }
  if (stageKeys.some((stage) => stage === key)) {
    const asksForMore = isTrue(value) && (key === 'api/alpha' || key === 'api/beta' || key === 'api/all')
    return asksForMore
      ? `--runtime-config: ${key}=true is not supported yet: there are only stable versions`
      : undefined
  }
  const words = key.split('/')
  if (words.length > 3) return `runtime-config invalid key ${key}`
  const [group = '', version = '', plural] = words[0] === 'v1' ? ['', ...words] : words
  const versions = servedVersions[group]
  if (versions === undefined && !otherGroups.has(group)) return `unknown api groups ${group}`
  if (versions?.includes(version)) return undefined
  if (/^v\d+((alpha|beta)\d+)$/.test(version)) {
    const what = plural === undefined ? `${group}/${version}` : key
    return isTrue(value) ? `--runtime-config: ${what} is not supported yet: leave it out` : undefined
  }
  return `group version ${group === '' ? version : `${group}/${version}`} that has not been registered`
}

const isTrue = (value: string): boolean => value === '' || /^(1|t|T|true|TRUE|True)$/.test(value)
