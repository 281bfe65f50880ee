import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidShown,
  invalidValue,
  required,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { parseCidr } from '../../../api/ip.ts'
import { fieldsOf, type Json, type KubeObject, textsOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkCanonicalCidr } from '../../rules/addresses.ts'

const path = 'spec.cidrs'
/** Maximum number of CIDRs: one for each IP family. */
const CIDRS_MAX = 2
const immutable = 'field is immutable'

/** Rules for ServiceCIDR. Cluster IPs of Services are allocated from its CIDRs. */
export const serviceCidrRules: KindRules = {
  strategy: {
    takesStatus: 'create and update',
    statusKeeps: 'metadata',
    resetPaths: { '': [], status: [] },
  },
  validate,
  validateUpdate,
}

const cidrsOf = (object: KubeObject): Json | undefined => fieldsOf(object['spec'])['cidrs']

function validate(object: KubeObject): FieldFault[] {
  const cidrs = textsOf(cidrsOf(object))
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')]
  if (cidrs.length > CIDRS_MAX) {
    const shown = `networking.ServiceCIDRSpec{CIDRs:${goStrings(cidrs)}}`
    return [invalidShown(path, shown, `may only hold up to ${CIDRS_MAX} values`)]
  }
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family)
  const isDoubled =
    cidrs.length === CIDRS_MAX && families[0] !== undefined && families[0] === families[1]
  const why =
    'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
  return [
    ...(isDoubled ? [invalidShown(path, goStrings(cidrs), why)] : []),
    ...faultsOfEach(cidrs, (cidr, at) => checked(`${path}[${at}]`, cidr, checkCanonicalCidr)),
  ]
}

/** Validates an update. The only permitted change is to add the CIDR of a second IP family. */
function validateUpdate(object: KubeObject, current: KubeObject): FieldFault[] {
  const given = cidrsOf(object)
  const cidrs = textsOf(given)
  const before = textsOf(cidrsOf(current))
  const shown = Array.isArray(given) && cidrs.length === 0 ? '[]string{}' : goStrings(cidrs)
  if (cidrs.length < before.length || cidrs.length > CIDRS_MAX)
    return [invalidShown(path, shown, immutable)]
  const faults = faultsOfEach(before, (cidr, at) =>
    cidr === cidrs[at] ? [] : [invalidValue(`${path}[${at}]`, cidrs[at] ?? '', immutable)],
  )
  return faults.length > 0 || cidrs.length === before.length ? faults : validate(object)
}
