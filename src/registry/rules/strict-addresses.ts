/**
 * Rules of the StrictIPCIDRValidation gate. Fields that accept any address format without the gate
 * refuse ambiguous formats. Except in Pods, addresses that are already stored are accepted.
 */
import { faultsOfEach, type FieldFault, invalidValue } from '../../api/field-fault.ts'
import { type Fields, isFields, type Json, type KubeObject } from '../../api/object.ts'
import { podSpecOf } from '../pod-specs.ts'
import { checkStrictCidr, checkStrictIp } from './addresses.ts'

type Check = (text: string) => string[]
/**
 * A field that contains addresses. In `path`, `[]` stands for all items of a list. If the path in
 * errors differs from the path of the value, `shown` converts the path.
 */
type AddressField = {
  readonly path: string
  readonly check: Check
  readonly shown?: (path: string) => string
}

const ip = (path: string, shown?: AddressField['shown']): AddressField => ({
  path,
  check: checkStrictIp,
  ...(shown && { shown }),
})
const cidr = (path: string, shown?: AddressField['shown']): AddressField => ({
  path,
  check: checkStrictCidr,
  ...(shown && { shown }),
})

const points = ip('status.loadBalancer.ingress[].ip')
const withoutField = (path: string): string => path.replace(/\.ip$/, '')
const peers = ['spec.ingress[].from[].ipBlock', 'spec.egress[].to[].ipBlock']

/** Fields with addresses, keyed by kind in the form used in errors. */
const places: ReadonlyMap<string, readonly AddressField[]> = new Map([
  ['Endpoints', ['addresses', 'notReadyAddresses'].map((list) => ip(`subsets[].${list}[].ip`))],
  ['EndpointSlice.discovery.k8s.io', [ip('endpoints[].addresses[]')]],
  ['Ingress.networking.k8s.io', [points]],
  [
    'NetworkPolicy.networking.k8s.io',
    peers.flatMap((path) => [cidr(`${path}.cidr`), cidr(`${path}.except[]`)]),
  ],
  ['Node', [cidr('spec.podCIDRs[]')]],
  ['Pod', [ip('status.podIPs[].ip', withoutField), ip('status.hostIPs[].ip', withoutField)]],
  [
    'Service',
    [
      ip('spec.clusterIPs[]'),
      ip('spec.externalIPs[]'),
      cidr('spec.loadBalancerSourceRanges[]', (path) => path.replace('.load', '.Load')),
      points,
    ],
  ],
])

/**
 * The first release that validates the Pod template of a StatefulSet. Before, kube-apiserver does
 * not apply the strict rules for addresses to it.
 */
const STATEFUL_SETS_SINCE = 34
const ofPods = [ip('dnsConfig.nameservers[]'), ip('hostAliases[].ip')]

/**
 * Validates the addresses in an object. `current` is the stored object, or undefined for a new
 * object.
 */
export function strictAddressFaults(
  object: KubeObject,
  current: KubeObject | undefined,
  kind: string,
): FieldFault[] {
  // EndpointSlices with an address type other than IPv4 have their own rules.
  const isOther = kind.startsWith('EndpointSlice') && object['addressType'] !== 'IPv4'
  const own = isOther ? [] : (places.get(kind) ?? [])
  return faultsOfEach(own, (place) => faultsAt(object, place, { current, prefix: '' }))
}

/** Validates the addresses in a Pod or a Pod template. */
export function strictPodFaults(
  object: KubeObject,
  current: KubeObject | undefined,
  { kind, release }: { readonly kind: string; readonly release: number },
): FieldFault[] {
  const isSkipped = kind === 'StatefulSet.apps' && release < STATEFUL_SETS_SINCE
  const pods = isSkipped ? undefined : podSpecOf(object, kind)
  if (pods === undefined) return []
  const before =
    kind === 'Pod' || current === undefined ? undefined : podSpecOf(current, kind)?.spec
  return faultsOfEach(ofPods, (place) =>
    faultsAt(pods.spec, place, { current: before, prefix: `${pods.path}.` }),
  )
}

type AddressContext = { readonly current: Fields | undefined; readonly prefix: string }

function faultsAt(
  value: Fields,
  { path, check, shown = same }: AddressField,
  { current, prefix }: AddressContext,
): FieldFault[] {
  const segments = path.split('.')
  const found = [...textsAt(value, segments, '')]
  if (found.length === 0) return []
  const known = new Set([...textsAt(current, segments, '')].map(([, text]) => text))
  return faultsOfEach(found, ([at, text]) =>
    known.has(text)
      ? []
      : check(text.trim()).map((why) => invalidValue(`${prefix}${shown(at)}`, text.trim(), why)),
  )
}

const same = (path: string): string => path

function* textsAt(
  value: Json | undefined,
  [segment, ...rest]: readonly string[],
  path: string,
): Generator<[string, string]> {
  if (segment === undefined) {
    if (typeof value === 'string' && value !== '' && value !== 'None') yield [path, value]
    return
  }
  if (!isFields(value)) return
  const name = segment.replace('[]', '')
  const field = value[name]
  const at = path === '' ? name : `${path}.${name}`
  if (name === segment) yield* textsAt(field, rest, at)
  else if (Array.isArray(field))
    for (const [index, item] of field.entries()) yield* textsAt(item, rest, `${at}[${index}]`)
}
