/**
 * Determines the IP families of a Service from the fields in the request, its addresses, and the
 * families of the cluster. If this fails, no other errors are reported, because the other rules for
 * Services run only after addresses have been allocated.
 */
import {
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { type IpFamily, parseIp } from '../../../api/ip.ts'
import { type Fields, textOf, textsOf } from '../../../api/object.ts'
import { isSame } from '../../../objects/schema/equal.ts'
import { validateAddresses } from './service-addresses.ts'
import { isHeadless, isSelectorless, typeOf } from './service-needs.ts'

type FamiliesResult = { readonly spec: Fields } | { readonly faults: readonly FieldFault[] }

/**
 * Determines the IP families. `cluster` lists the families of the cluster, with the primary one
 * first.
 */
export function settleFamilies(
  given: Fields,
  before: Fields | undefined,
  cluster: readonly IpFamily[],
): FamiliesResult {
  if (typeOf(given) === 'ExternalName' || isUntouched(given, before)) return { spec: given }
  const spec = trimmed(withPolicyOf(before, given), before)
  const isFree = isHeadless(spec) && isSelectorless(spec)
  const policy = spec['ipFamilyPolicy'] ?? (isFree ? 'RequireDualStack' : 'SingleStack')
  const wrong = validateAddresses(spec, before)
  const faults = wrong.length > 0 ? wrong : refuseLoss(spec, before)
  if (faults.length > 0) return { faults }
  const families = [...textsOf(spec['ipFamilies'])]
  const addressFaults = isHeadless(spec) ? [] : addFamiliesOfAddresses(spec, families, cluster)
  if (addressFaults.length > 0) return { faults: addressFaults }
  const refused = isFree ? [] : refuseFamilies(spec, { policy, families, cluster })
  if (refused.length > 0) return { faults: refused }
  const [primary = 'IPv4'] = cluster
  if (families.length === 0) families.push(primary)
  // A headless Service without a selector can be dual-stack in any cluster, because a client writes
  // its endpoints and knows their families.
  const mayBeDual = isFree || cluster.length > 1
  if (policy !== 'SingleStack' && mayBeDual && families.length === 1)
    families.push(otherFamily(families[0]))
  return { spec: { ...spec, ipFamilies: families, ipFamilyPolicy: policy } }
}

const otherFamily = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

/**
 * Whether the IP families stay unchanged. An existing Service with PreferDualStack does not change
 * when the cluster becomes dual-stack.
 */
function isUntouched(spec: Fields, before: Fields | undefined): boolean {
  if (before === undefined || typeOf(before) === 'ExternalName') return false
  if (
    spec['ipFamilyPolicy'] !== 'PreferDualStack' ||
    before['ipFamilyPolicy'] !== 'PreferDualStack'
  )
    return false
  return (
    isSame(spec['clusterIPs'], before['clusterIPs']) &&
    isSame(spec['ipFamilies'], before['ipFamilies'])
  )
}

/**
 * If an update requests SingleStack but still contains both stored addresses or families, removes
 * the second one.
 */
function trimmed(spec: Fields, before: Fields | undefined): Fields {
  if (before === undefined || spec['ipFamilyPolicy'] !== 'SingleStack') return spec
  const trim = (field: string): Fields => {
    const values = textsOf(spec[field])
    return values.length === 2 && isSame(spec[field], before[field])
      ? { [field]: values.slice(0, 1) }
      : {}
  }
  return { ...spec, ...trim('clusterIPs'), ...trim('ipFamilies') }
}

/**
 * Keeps the stored policy if an update omits it. The families then depend on the addresses, which
 * are also kept.
 */
function withPolicyOf(before: Fields | undefined, spec: Fields): Fields {
  if (before === undefined || typeOf(before) === 'ExternalName') return spec
  const { ipFamilyPolicy = null } = spec
  return ipFamilyPolicy === null ? { ...spec, ipFamilyPolicy: before['ipFamilyPolicy'] } : spec
}

/** Refuses to remove a second family or address unless the policy is SingleStack. */
function refuseLoss(spec: Fields, before: Fields | undefined): FieldFault[] {
  const policy = textOf(spec['ipFamilyPolicy'])
  if (before === undefined || policy === 'SingleStack') return []
  const isLost = (field: string): boolean =>
    textsOf(before[field]).length === 2 && textsOf(spec[field]).length === 1
  const refuse = (what: string): FieldFault =>
    invalidValue(
      'spec.ipFamilyPolicy',
      policy,
      `must be 'SingleStack' to release the secondary ${what}`,
    )
  return [
    ...(isLost('clusterIPs') ? [refuse('cluster IP')] : []),
    ...(isLost('ipFamilies') ? [refuse('IP family')] : []),
  ]
}

function addFamiliesOfAddresses(
  spec: Fields,
  families: string[],
  cluster: readonly IpFamily[],
): FieldFault[] {
  const ips = textsOf(spec['clusterIPs'])
  const faults: FieldFault[] = []
  const shown = goStrings(ips)
  for (let at = families.length; at < ips.length; at++) {
    const family = parseIp(ips[at] ?? '')?.family ?? 'IPv4'
    const why = `${family} is not configured on this cluster`
    // Bounded: a cluster has at most two IP families, so each search is short.
    if (!cluster.includes(family)) faults.push(invalidShown(`spec.clusterIPs[${at}]`, shown, why))
    families.push(family)
  }
  return faults
}

type WantedFamilies = {
  readonly policy: Fields[string]
  readonly families: readonly string[]
  readonly cluster: readonly string[]
}

function refuseFamilies(spec: Fields, { policy, families, cluster }: WantedFamilies): FieldFault[] {
  const path = 'spec.ipFamilyPolicy'
  if (policy === 'SingleStack') {
    const needs = "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
    if (textsOf(spec['clusterIPs']).length > 1)
      return [invalidValue(path, policy, `${needs} cluster IPs are specified`)]
    if (families.length > 1)
      return [invalidValue(path, policy, `${needs} IP families are specified`)]
  }
  const faults = faultsOfEach(families, (family, at) =>
    // Bounded: a cluster has at most two IP families, so each search is short.
    cluster.includes(family)
      ? []
      : [invalidValue(`spec.ipFamilies[${at}]`, family, 'not configured on this cluster')],
  )
  if (policy !== 'RequireDualStack' || cluster.length > 1) return faults
  return [
    invalidValue(path, policy, 'this cluster is not configured for dual-stack services'),
    ...faults,
  ]
}
