/**
 * Warnings about valid Pods and Pod templates: deprecated fields, and values that are probably
 * mistakes.
 */
import type { Gates } from '../../../../api/gates.ts'
import { checkDnsLabel, checkLabelValue, labelTextOf } from '../../../../api/names.ts'
import {
  entriesOf,
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { addAll, TOLD_MAX } from '../../../../lib/scheduling/long-lists.ts'
import { eachItem, once } from '../../../../lib/scheduling/parts.ts'
import { fractionWarnings } from '../../../rules/resources.ts'
import { claimSpecWarnings } from '../claim-spec.ts'
import { warnOfIp } from '../../../rules/addresses.ts'
import { deprecatedKeyWarnings, deprecatedLabelWarnings } from '../../../rules/deprecated-labels.ts'
import { warningsOfEach } from '../../../rules/warnings.ts'
import { appArmorPrefix, containerSeccomp, podSeccomp } from './annotations.ts'
import { overlapWarnings } from './overlap-warnings.ts'
import { portWarnings } from './port-warnings.ts'
import { containersOf } from './windows.ts'

export const podWarnings = (pod: KubeObject, gates: Gates): string[] => [
  ...nameWarnings(pod, "the Pod's hostname"),
  ...annotationWarnings(pod.metadata.annotations, 'metadata.annotations'),
  ...specWarnings(fieldsOf(pod['spec']), 'spec', gates),
]

/** Warns about a name that becomes a host name but is not a DNS label. */
export function nameWarnings({ metadata: { name = '' } }: KubeObject, usedIn: string): string[] {
  const faults = checkDnsLabel(name)
  if (faults.length === 0) return []
  const why = 'which can result in surprising behavior; a DNS label is recommended'
  return [`metadata.name: this is used in ${usedIn}, ${why}: [${faults.join(' ')}]`]
}

/**
 * Whether the spec has changed. If an update does not change the spec, there are no warnings about
 * the template. Changes of the spec are detected by the generation, which has already been
 * incremented when warnings are computed.
 */
export const isSpecChanged = (object: KubeObject, current: KubeObject | undefined): boolean =>
  current === undefined || object.metadata.generation !== current.metadata.generation

export function podTemplateWarnings(
  template: Json | undefined,
  path: string,
  gates: Gates,
): string[] {
  const { metadata, spec } = fieldsOf(template)
  const { annotations } = fieldsOf(metadata)
  return [
    ...annotationWarnings(annotations, `${path}.metadata.annotations`),
    ...warningsOfEach(entriesOf(annotations), ([key]) =>
      key.startsWith(appArmorPrefix)
        ? [appArmorWarning(`${path}.metadata.annotations[${key}]`)]
        : [],
    ),
    ...specWarnings(fieldsOf(spec), `${path}.spec`, gates),
    ...graceWarnings(fieldsOf(spec), `${path}.spec`),
  ]
}

/**
 * Warns about a negative grace period in a template. In a Pod, a negative grace period was already
 * replaced by one second.
 */
function graceWarnings({ terminationGracePeriodSeconds }: Fields, path: string): string[] {
  const why = 'must be >= 0; negative values are invalid and will be treated as 1'
  const isNegative = numberOf(terminationGracePeriodSeconds) < 0
  return isNegative ? [`${path}.terminationGracePeriodSeconds: ${why}`] : []
}

export const appArmorWarning = (path: string): string =>
  `${path}: deprecated since v1.30; use the "appArmorProfile" field instead`

const goneAnnotations: readonly (readonly [string, string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'v1.16', 'priorityClassName'],
  ['security.alpha.kubernetes.io/sysctls', 'v1.11', 'sysctls'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'v1.11', 'sysctls'],
  [podSeccomp, 'v1.27', 'seccompProfile'],
]

function annotationWarnings(annotations: Json | undefined, path: string): string[] {
  return warningsOfEach(entriesOf(annotations), ([key]) => {
    const own = goneAnnotations.find(([name]) => name === key)
    const [, since, field] =
      own ?? (key.startsWith(containerSeccomp) ? [key, 'v1.27', 'seccompProfile'] : [])
    if (since === undefined) return []
    return [`${path}[${key}]: non-functional in ${since}+; use the "${field}" field instead`]
  })
}

const specWarnings = (spec: Fields, path: string, gates: Gates): string[] => [
  ...warningsOfEach(entriesOf(spec['nodeSelector']), ([key]) =>
    deprecatedLabelWarnings(`${path}.nodeSelector[${key}]`, key),
  ),
  ...affinityWarnings(fieldsOf(spec['affinity']), `${path}.affinity`, gates.release),
  ...spreadWarnings(spec['topologySpreadConstraints'], `${path}.topologySpreadConstraints`),
  ...doubles(spec['hostAliases'], { path: `${path}.hostAliases`, field: 'ip' }),
  ...volumesWarnings(itemsOf(spec['volumes']), `${path}.volumes`, gates),
  ...pullSecretWarnings(spec['imagePullSecrets'], `${path}.imagePullSecrets`),
  ...fractionWarnings(fieldsOf(spec['overhead']), `${path}.overhead`, [
    'memory',
    'ephemeral-storage',
  ]),
  ...warningsOfEach(containersOf(spec), ({ container, at }) =>
    containerWarnings(container, `${path}.${at}`),
  ),
  ...portWarnings(spec, path),
  ...warningsOfEach(textsOf(fieldsOf(spec['dnsConfig'])['nameservers']), (ip, at) =>
    warnOfIp(`${path}.dnsConfig.nameservers[${at}]`, ip),
  ),
  ...warningsOfEach(itemsOf(spec['hostAliases']), ({ ip }, at) =>
    warnOfIp(`${path}.hostAliases[${at}].ip`, textOf(ip)),
  ),
]

function affinityWarnings(affinity: Fields, path: string, release: number): string[] {
  const {
    requiredDuringSchedulingIgnoredDuringExecution: required,
    preferredDuringSchedulingIgnoredDuringExecution: preferred,
  } = fieldsOf(affinity['nodeAffinity'])
  const at = `${path}.nodeAffinity`
  return [
    ...warningsOfEach(itemsOf(fieldsOf(required)['nodeSelectorTerms']), (term, index) =>
      termWarnings(
        term,
        `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`,
      ),
    ),
    ...warningsOfEach(itemsOf(preferred), ({ preference }, index) => {
      const own = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`
      return [
        ...termWarnings(fieldsOf(preference), own),
        ...valueWarnings(fieldsOf(preference), own, release),
      ]
    }),
    ...['podAffinity', 'podAntiAffinity'].flatMap((part) =>
      podAffinityWarnings(fieldsOf(affinity[part]), `${path}.${part}`),
    ),
  ]
}

const termWarnings = ({ matchExpressions }: Fields, path: string): string[] =>
  warningsOfEach(itemsOf(matchExpressions), ({ key }, at) =>
    deprecatedKeyWarnings(`${path}.matchExpressions[${at}].key`, textOf(key)),
  )

/**
 * Warns about values in a preferred term that are not valid label values. The term then matches no
 * node.
 */
const valueWarnings = ({ matchExpressions }: Fields, path: string, release: number): string[] =>
  warningsOfEach(itemsOf(matchExpressions), ({ values }, at) =>
    warningsOfEach(textsOf(values), (value, index) =>
      checkLabelValue(value).map(
        (why) =>
          `${path}.matchExpressions[${at}].values[${index}]: ${value} is invalid, ${labelTextOf(why, release)}`,
      ),
    ),
  )

const nullSelector = 'a null labelSelector results in matching no pod'

function podAffinityWarnings(part: Fields, path: string): string[] {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  return [
    ...warningsOfEach(itemsOf(part[required]), ({ labelSelector }, at) =>
      labelSelector === undefined
        ? [`${path}.${required}[${at}].labelSelector: ${nullSelector}`]
        : [],
    ),
    ...warningsOfEach(itemsOf(part[preferred]), ({ podAffinityTerm }, at) =>
      fieldsOf(podAffinityTerm)['labelSelector'] === undefined
        ? [`${path}.${preferred}[${at}].podAffinityTerm.labelSelector: ${nullSelector}`]
        : [],
    ),
  ]
}

const spreadWarnings = (list: Json | undefined, path: string): string[] =>
  warningsOfEach(itemsOf(list), ({ topologyKey, labelSelector }, at) => [
    ...deprecatedKeyWarnings(`${path}[${at}].topologyKey`, textOf(topologyKey)),
    ...(labelSelector === undefined ? [`${path}[${at}].labelSelector: ${nullSelector}`] : []),
  ])

type Doubles = { readonly seen: Set<string>; readonly warnings: string[] }

const newDoubles = (): Doubles => ({ seen: new Set(), warnings: [] })

function doubles(
  list: Json | undefined,
  { path, field }: { readonly path: string; readonly field: string },
): readonly string[] {
  const { warnings } = eachItem(
    'repeated items of Pod',
    itemsOf(list),
    newDoubles,
    (state, item, at) => {
      const text = textOf(item[field])
      if (state.seen.has(text))
        state.warnings.push(`${path}[${at}].${field}: duplicate ${field} ${quote(text)}`)
      state.seen.add(text)
      return state.warnings.length < TOLD_MAX
    },
  )
  return warnings
}

function pullSecretWarnings(list: Json | undefined, path: string): string[] {
  const empty = warningsOfEach(itemsOf(list), ({ name }, at) =>
    textOf(name) === '' ? [`${path}[${at}].name: invalid empty name ""`] : [],
  )
  return [
    ...empty,
    ...doubles(
      itemsOf(list).filter(({ name }) => textOf(name) !== ''),
      { path, field: 'name' },
    ),
  ]
}

const goneVolumes: readonly (readonly [string, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]

function volumesWarnings(volumes: readonly Fields[], path: string, gates: Gates): string[] {
  return eachItem(
    'volumes that are warned of',
    volumes,
    (): string[] => [],
    (warnings, volume, at) => {
      const own = volumeWarnings(volume, `${path}[${at}]`, gates)
      const overlaps = overlapWarnings(volume, TOLD_MAX - warnings.length - own.length)
      addAll(warnings, own)
      addAll(warnings, overlaps)
      return true
    },
  )
}

function volumeWarnings(volume: Fields, path: string, gates: Gates): string[] {
  const gone = goneVolumes.flatMap(([source, why]) => {
    if (volume[source] === undefined) return []
    const said =
      source === 'gitRepo' && gates.isOn('GitRepoVolumeDriver') ? 'deprecated in v1.11' : why
    return [`${path}.${source === 'storageos' ? 'storageOS' : source}: ${said}`]
  })
  const template = fieldsOf(fieldsOf(fieldsOf(volume['ephemeral'])['volumeClaimTemplate'])['spec'])
  const claim = claimSpecWarnings(template, `${path}.ephemeral.volumeClaimTemplate.spec`)
  return [...gone, ...claim]
}

function containerWarnings(container: Fields, path: string): string[] {
  const { limits, requests } = fieldsOf(container['resources'])
  return [
    ...fractionWarnings(fieldsOf(limits), `${path}.resources.limits`),
    ...fractionWarnings(fieldsOf(requests), `${path}.resources.requests`),
    ...envWarnings(container['env'], `${path}.env`),
  ]
}

/**
 * Warns about repeated environment variables. A repeated variable overrides the earlier one, unless
 * its value refers to the earlier one.
 */
function envWarnings(env: Json | undefined, path: string): string[] {
  const seen = once('variables', () => new Set<string>())
  return warningsOfEach(itemsOf(env), ({ name, value }, at) => {
    const key = textOf(name)
    const own = `$(${key})`
    const isSecond = seen.has(key)
    seen.add(key)
    if (!isSecond || (textOf(value).includes(own) && value !== own)) return []
    return [
      `${path}[${at}]: hides previous definition of ${quote(key)}, which may be dropped when using apply`,
    ]
  })
}
