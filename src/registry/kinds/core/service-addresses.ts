/**
 * Rules for the cluster IPs and IP families of a Service. They apply both before and after
 * addresses are allocated.
 */
import {
  checked,
  duplicate,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { parseIp } from '../../../api/ip.ts'
import { type Fields, textOf, textsOf } from '../../../api/object.ts'
import { repeatsIn } from '../../../lib/scheduling/long-lists.ts'
import { checkIp } from '../../rules/addresses.ts'
import { isHeadless, NO_ADDRESS, typeOf } from './service-needs.ts'

const families = ['IPv4', 'IPv6'] as const
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'] as const
/** Maximum number of cluster IPs: one for each IP family. */
const IPS_MAX = 2
/**
 * Maximum number of addresses that are validated one by one. A longer list is refused because of
 * its length.
 */
const CHECKED_IPS_MAX = 1_000

export function validateAddresses(spec: Fields, before?: Fields): FieldFault[] {
  if (typeOf(spec) === 'ExternalName') return []
  const ips = textsOf(spec['clusterIPs'])
  const shape = validateIps(ips, textsOf(before?.['clusterIPs']))
  const faults = [...validatePair(spec, ips), ...validateFamilies(spec), ...shape]
  // Return early, because the other rules compare IP families, and an invalid address has no
  // family.
  if (shape.length > 0) return faults
  return [...faults, ...validateDual(ips), ...(isHeadless(spec) ? [] : validateMatch(spec, ips))]
}

/** Requires that clusterIP equals the first item of clusterIPs. */
function validatePair(spec: Fields, ips: readonly string[]): FieldFault[] {
  const ip = textOf(spec['clusterIP'])
  const path = 'spec.clusterIPs'
  if (ips.length === 0) return ip === '' ? [] : [required(path)]
  if (ip === '')
    return [invalidShown(path, goStrings(ips), 'must be empty when `clusterIP` is not specified')]
  return ips[0] === ip
    ? []
    : [invalidShown(path, goStrings(ips), 'first value must match `clusterIP`')]
}

function validateFamilies(spec: Fields): FieldFault[] {
  const given = textsOf(spec['ipFamilies'])
  const policy = spec['ipFamilyPolicy']
  const repeats = repeatsIn(given)
  const faults = faultsOfEach(given, (family, at) => {
    const path = `spec.ipFamilies[${at}]`
    return [
      ...(families.some((known) => known === family) ? [] : [notSupported(path, family, families)]),
      ...(repeats.has(at) ? [duplicate(path, family)] : []),
    ]
  })
  if (typeof policy !== 'string' || policies.some((known) => known === policy)) return faults
  return [...faults, notSupported('spec.ipFamilyPolicy', policy, policies)]
}

/** Validates each address. An update can keep or repeat values of the stored object. */
function validateIps(ips: readonly string[], stored: readonly string[]): FieldFault[] {
  const path = 'spec.clusterIPs'
  const shown = ips.slice(0, CHECKED_IPS_MAX)
  const kept = new Set(stored)
  const faults = faultsOfEach(shown, (ip, at) => {
    if (at > 0 || ip !== NO_ADDRESS)
      return kept.has(ip) ? [] : checked(`${path}[${at}]`, ip, checkIp)
    const why = "'None' must be the first and only value"
    return ips.length > 1 ? [invalidShown(path, goStrings(ips), why)] : []
  })
  if (ips.length > IPS_MAX)
    faults.push(invalidShown(path, goStrings(ips), `may only hold up to ${IPS_MAX} values`))
  return faults
}

function validateDual(ips: readonly string[]): FieldFault[] {
  if (ips.length < IPS_MAX || ips[0] === NO_ADDRESS) return []
  const found = new Set(ips.map((ip) => parseIp(ip)?.family))
  const why = 'may specify no more than one IP for each IP family'
  return found.size === IPS_MAX ? [] : [invalidShown('spec.clusterIPs', goStrings(ips), why)]
}

function validateMatch(spec: Fields, ips: readonly string[]): FieldFault[] {
  return faultsOfEach(textsOf(spec['ipFamilies']), (family, at) => {
    const ip = ips[at] ?? ''
    const found = parseIp(ip)?.family ?? family
    if (found === family || !families.some((known) => known === family)) return []
    const why = `expected an ${family} value as indicated by \`ipFamilies[${at}]\``
    return [invalidValue(`spec.clusterIPs[${at}]`, ip, why)]
  })
}
