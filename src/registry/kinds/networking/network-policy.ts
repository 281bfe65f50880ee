import {
  checked,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidShown,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goStrings } from '../../../api/go-value.ts'
import { contains, parseCidr } from '../../../api/ip.ts'
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type Json,
  type KubeObject,
  numberOf,
  textOf,
  textsOf,
} from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkCidr, warnOfCidr } from '../../rules/addresses.ts'
import { validateLabelSelector } from '../../rules/label-selector.ts'
import { checkPortName, checkPortNumber } from '../../rules/ports.ts'
import { warningsOfEach } from '../../rules/warnings.ts'

const protocols = ['TCP', 'UDP', 'SCTP'] as const
const policyTypes = ['Ingress', 'Egress'] as const

export const networkPolicyRules: KindRules = {
  strategy: {
    updateChecks: ['metadata', 'change', 'rules'],
    generation: { fields: ['spec'], equality: 'exact' },
  },
  validate,
  // As in kube-apiserver, an update is validated twice, so each error is reported twice.
  validateUpdate: (object) => [...validate(object), ...validate(object)],
  warnings,
}

function validate(object: KubeObject): FieldFault[] {
  const spec = fieldsOf(object['spec'])
  return [
    ...validateLabelSelector(fieldsOf(spec['podSelector']), 'spec.podSelector'),
    ...faultsOfEach(directions, ({ rules, peers }) =>
      faultsOfEach(itemsOf(spec[rules]), (rule, at) =>
        validateRule(rule, `spec.${rules}[${at}]`, peers),
      ),
    ),
    ...validateTypes(spec['policyTypes']),
  ]
}

/**
 * The directions of traffic. Each has the name of the field for its rules, and the name of the
 * field for the peers in a rule.
 */
const directions = [
  { rules: 'ingress', peers: 'from' },
  { rules: 'egress', peers: 'to' },
] as const

function validateRule(rule: Fields, path: string, peers: 'from' | 'to'): FieldFault[] {
  return [
    ...faultsOfEach(itemsOf(rule['ports']), (port, at) =>
      validatePort(`${path}.ports[${at}]`, port),
    ),
    ...faultsOfEach(itemsOf(rule[peers]), (peer, at) =>
      validatePeer(`${path}.${peers}[${at}]`, peer),
    ),
  ]
}

function validatePort(path: string, { protocol, port, endPort }: Fields): FieldFault[] {
  const faults: FieldFault[] = []
  if (typeof protocol === 'string' && !protocols.some((known) => known === protocol)) {
    faults.push(notSupported(`${path}.protocol`, protocol, protocols))
  }
  const hasEnd = endPort !== undefined && endPort !== null
  const end = numberOf(endPort)
  if (typeof port === 'string') {
    const why = 'may not be specified when `port` is non-numeric'
    if (hasEnd) faults.push(invalidValue(`${path}.endPort`, end, why))
    return [...faults, ...checked(`${path}.port`, port, checkPortName)]
  }
  if (port === undefined || port === null) {
    const why = 'may not be specified when `port` is not specified'
    return hasEnd ? [...faults, invalidValue(`${path}.endPort`, end, why)] : faults
  }
  const start = numberOf(port)
  faults.push(...checkPortNumber(start).map((why) => invalidValue(`${path}.port`, start, why)))
  if (!hasEnd) return faults
  // As in kube-apiserver, the error shows the value of `port` instead of `endPort`.
  if (end < start)
    faults.push(invalidValue(`${path}.endPort`, start, 'must be greater than or equal to `port`'))
  return [
    ...faults,
    ...checkPortNumber(end).map((why) => invalidValue(`${path}.endPort`, end, why)),
  ]
}

function validatePeer(path: string, peer: Fields): FieldFault[] {
  const given = ['podSelector', 'namespaceSelector', 'ipBlock'].filter(
    (name) => (peer[name] ?? null) !== null,
  )
  const faults = faultsOfEach(given, (name) =>
    name === 'ipBlock'
      ? validateBlock(`${path}.ipBlock`, fieldsOf(peer[name]))
      : validateLabelSelector(fieldsOf(peer[name]), `${path}.${name}`),
  )
  if (given.length === 0) return [...faults, required(path, 'must specify a peer')]
  if (given.length === 1 || !given.includes('ipBlock')) return faults
  return [...faults, forbiddenField(path, 'may not specify both ipBlock and another peer')]
}

function validateBlock(path: string, block: Fields): FieldFault[] {
  const cidr = textOf(block['cidr'])
  if (cidr === '') return [required(`${path}.cidr`)]
  const range = parseCidr(cidr)
  if (range === undefined) return checked(`${path}.cidr`, cidr, checkCidr)
  return faultsOfEach(textsOf(block['except']), (text, at) => {
    const inner = parseCidr(text)
    if (inner === undefined) return checked(`${path}.except[${at}]`, text, checkCidr)
    const isInside = contains(range, inner.address) && inner.prefixBits > range.prefixBits
    return isInside
      ? []
      : [invalidValue(`${path}.except[${at}]`, text, 'must be a strict subset of `cidr`')]
  })
}

function validateTypes(types: Json | undefined): FieldFault[] {
  const given = textsOf(types)
  if (given.length > policyTypes.length) {
    const shown = goStrings(given, 'networking.PolicyType')
    return [invalidShown('spec.policyTypes', shown, 'may not specify more than two policyTypes')]
  }
  return faultsOfEach(given, (type, at) =>
    policyTypes.some((known) => known === type)
      ? []
      : [notSupported(`spec.policyTypes[${at}]`, type, policyTypes)],
  )
}

function warnings(object: KubeObject): string[] {
  const spec = fieldsOf(object['spec'])
  return warningsOfEach(directions, ({ rules, peers }) =>
    warningsOfEach(itemsOf(spec[rules]), (rule, at) =>
      peerWarnings(itemsOf(rule[peers]), `spec.${rules}[${at}].${peers}`),
    ),
  )
}

function peerWarnings(peers: readonly Fields[], path: string): string[] {
  return warningsOfEach(peers, ({ ipBlock }, at) =>
    blockWarnings(`${path}[${at}].ipBlock`, fieldsOf(ipBlock)),
  )
}

function blockWarnings(path: string, block: Fields): string[] {
  const except = warningsOfEach(textsOf(block['except']), (text, at) =>
    warnOfCidr(`${path}.except[${at}]`, text),
  )
  return [...warnOfCidr(`${path}.cidr`, textOf(block['cidr'])), ...except]
}
