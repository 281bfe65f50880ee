/** Rules for the ingress points of a load balancer in the status of a Service or Ingress. */
import {
  checked,
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../api/field-fault.ts'
import { parseIp } from '../../api/ip.ts'
import { checkDnsSubdomain } from '../../api/names.ts'
import { type Fields, textOf } from '../../api/object.ts'
import { checkIp } from './addresses.ts'

export const notAName = 'must be a DNS name, not an IP address'

export function validateIngressPoint(path: string, point: Fields): FieldFault[] {
  const ip = textOf(point['ip'])
  const hostname = textOf(point['hostname'])
  return [
    ...(ip === '' ? [] : checked(`${path}.ip`, ip, checkIp)),
    ...validateIpMode(`${path}.ipMode`, point['ipMode'], ip),
    ...(hostname === '' ? [] : checked(`${path}.hostname`, hostname, checkDnsSubdomain)),
    ...(parseIp(hostname) === undefined
      ? []
      : [invalidValue(`${path}.hostname`, hostname, notAName)]),
  ]
}

/** Validates ipMode, which only Services have. */
function validateIpMode(path: string, ipMode: Fields[string], ip: string): FieldFault[] {
  if (ipMode === undefined || ipMode === null) return []
  if (ip === '') return [forbiddenField(path, 'may not be specified when `ip` is not set')]
  return ipMode === 'VIP' || ipMode === 'Proxy'
    ? []
    : [notSupported(path, textOf(ipMode), ['Proxy', 'VIP'])]
}
