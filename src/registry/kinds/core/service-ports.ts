import {
  checked,
  duplicate,
  duplicateShown,
  faultsOfEach,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../api/field-fault.ts'
import { goIntOrString, goPointer, goStruct } from '../../../api/go-value.ts'
import { checkDnsLabel, checkQualifiedName } from '../../../api/names.ts'
import { type Fields, itemsOf, numberOf, textOf } from '../../../api/object.ts'
import { quote } from '../../../api/quote.ts'
import { once } from '../../../lib/scheduling/parts.ts'
import { checkPortName, checkPortNumber, protocols } from '../../rules/ports.ts'
import { typeOf } from './service-needs.ts'

export function validatePorts(spec: Fields): FieldFault[] {
  const ports = itemsOf(spec['ports'])
  return [
    ...validateEach(ports),
    ...(typeOf(spec) === 'ClusterIP' ? faultsOfEach(ports, validateNoNodePort) : []),
    ...validateDistinct(ports),
  ]
}

function validateEach(ports: readonly Fields[]): FieldFault[] {
  const names = once('names of ports', () => new Set<string>())
  return faultsOfEach(ports, (port, at) => {
    const path = `spec.ports[${at}]`
    const name = textOf(port['name'])
    const isSecond = name !== '' && names.has(name)
    names.add(name)
    return [
      ...(name === '' && ports.length > 1 ? [required(`${path}.name`)] : []),
      ...(name === '' ? [] : checked(`${path}.name`, name, checkDnsLabel)),
      ...(isSecond ? [duplicate(`${path}.name`, name)] : []),
      ...validateOne(path, port),
    ]
  })
}

function validateOne(path: string, port: Fields): FieldFault[] {
  const number = numberOf(port['port'])
  const protocol = textOf(port['protocol'])
  const { targetPort, appProtocol } = port
  const isKnown = protocols.some((known) => known === protocol)
  return [
    ...checkPortNumber(number).map((why) => invalidValue(`${path}.port`, number, why)),
    ...(isKnown ? [] : [notSupported(`${path}.protocol`, protocol, protocols)]),
    ...validateTarget(`${path}.targetPort`, targetPort),
    ...(typeof appProtocol === 'string'
      ? checked(`${path}.appProtocol`, appProtocol, checkQualifiedName)
      : []),
  ]
}

function validateTarget(path: string, target: Fields[string]): FieldFault[] {
  if (typeof target === 'string') return checked(path, target, checkPortName)
  const number = numberOf(target)
  return checkPortNumber(number).map((why) => invalidValue(path, number, why))
}

function validateNoNodePort({ nodePort }: Fields, at: number): FieldFault[] {
  if (numberOf(nodePort) === 0) return []
  return [
    forbiddenField(`spec.ports[${at}].nodePort`, "may not be used when `type` is 'ClusterIP'"),
  ]
}

/** Refuses duplicate ports and duplicate node ports. A number can be used once per protocol. */
function validateDistinct(ports: readonly Fields[]): FieldFault[] {
  const nodePorts = once('node ports', () => new Set<string>())
  const ofNodePorts = faultsOfEach(ports, ({ nodePort, protocol }, at) => {
    const number = numberOf(nodePort)
    if (number === 0) return []
    const key = `${textOf(protocol)} ${number}`
    const isSecond = nodePorts.has(key)
    nodePorts.add(key)
    return isSecond ? [duplicate(`spec.ports[${at}].nodePort`, number)] : []
  })
  const numbers = once('numbers of ports', () => new Set<string>())
  const ofNumbers = faultsOfEach(ports, ({ port, protocol }, at) => {
    const key = `${textOf(protocol)} ${numberOf(port)}`
    const isSecond = numbers.has(key)
    numbers.add(key)
    return isSecond ? [repeatedPort(`spec.ports[${at}]`, textOf(protocol), numberOf(port))] : []
  })
  return [...ofNodePorts, ...ofNumbers]
}

function repeatedPort(path: string, protocol: string, port: number): FieldFault {
  const shown = goStruct('core.ServicePort', {
    Name: '""',
    Protocol: quote(protocol),
    AppProtocol: goPointer('string', false),
    Port: `${port}`,
    TargetPort: goIntOrString(0),
    NodePort: '0',
  })
  return duplicateShown(path, shown)
}
