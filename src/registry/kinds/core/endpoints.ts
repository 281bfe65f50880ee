import {
  checked,
  faultsOfEach,
  type FieldFault,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../../api/names.ts'
import { type Fields, itemsOf, numberOf, textOf } from '../../../api/object.ts'
import type { KindRules } from '../../kind-rules.ts'
import { checkIp, validateTarget, warnOfIp } from '../../rules/addresses.ts'
import { checkPortNumber, protocols } from '../../rules/ports.ts'
import { warningsOfEach } from '../../rules/warnings.ts'

const addressLists = ['addresses', 'notReadyAddresses'] as const

export const endpointsRules: KindRules = {
  strategy: {
    updateChecks: ['change', 'rules', 'metadata'],
    createsOnUpdate: true,
  },
  validate: ({ subsets }) => [
    ...faultsOfEach(itemsOf(subsets), (subset, at) => validateSubset(`subsets[${at}]`, subset)),
  ],
  warnings: ({ subsets }) =>
    warningsOfEach(itemsOf(subsets), (subset, at) =>
      addressLists.flatMap((list) =>
        warningsOfEach(itemsOf(subset[list]), ({ ip }, index) =>
          warnOfIp(`subsets[${at}].${list}[${index}].ip`, textOf(ip)),
        ),
      ),
    ),
}

function validateSubset(path: string, subset: Fields): FieldFault[] {
  const ports = itemsOf(subset['ports'])
  const isEmpty = addressLists.every((list) => itemsOf(subset[list]).length === 0)
  return [
    ...(isEmpty ? [required(path, 'must specify `addresses` or `notReadyAddresses`')] : []),
    ...addressLists.flatMap((list) =>
      faultsOfEach(itemsOf(subset[list]), (address, at) =>
        validateAddress(`${path}.${list}[${at}]`, address),
      ),
    ),
    ...faultsOfEach(ports, (port, at) =>
      validatePort(`${path}.ports[${at}]`, port, ports.length > 1),
    ),
  ]
}

function validateAddress(path: string, address: Fields): FieldFault[] {
  const ip = textOf(address['ip'])
  const hostname = textOf(address['hostname'])
  const { nodeName } = address
  return [
    ...checked(`${path}.ip`, ip, checkIp),
    ...(hostname === '' ? [] : checked(`${path}.hostname`, hostname, checkDnsLabel)),
    ...(typeof nodeName === 'string'
      ? checked(`${path}.nodeName`, nodeName, checkDnsSubdomain)
      : []),
    ...validateTarget(`${path}.ip`, ip),
  ]
}

function validatePort(path: string, port: Fields, needsName: boolean): FieldFault[] {
  const name = textOf(port['name'])
  const number = numberOf(port['port'])
  const protocol = textOf(port['protocol'])
  const { appProtocol } = port
  return [
    ...(name === ''
      ? needsName
        ? [required(`${path}.name`)]
        : []
      : checked(`${path}.name`, name, checkDnsLabel)),
    ...checkPortNumber(number).map((why) => invalidValue(`${path}.port`, number, why)),
    ...validateProtocol(`${path}.protocol`, protocol),
    ...(typeof appProtocol === 'string'
      ? checked(`${path}.appProtocol`, appProtocol, checkQualifiedName)
      : []),
  ]
}

function validateProtocol(path: string, protocol: string): FieldFault[] {
  if (protocol === '') return [required(path)]
  return protocols.some((known) => known === protocol)
    ? []
    : [notSupported(path, protocol, protocols)]
}
