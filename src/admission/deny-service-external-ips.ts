/**
 * Rejects new external IPs of Services, because a user who can set them can intercept the traffic
 * to any address (CVE-2020-8554). Existing external IPs are allowed.
 */
import { fieldsOf, type KubeObject } from '../api/object.ts'
import { type Plugin, refusal, targetOf } from './admission.ts'

export const denyServiceExternalIps: Plugin = {
  name: 'DenyServiceExternalIPs',
  resources: new Set(['services']),
  validate: (attributes) => {
    const { object, oldObject } = attributes
    if (object === undefined || targetOf(attributes) !== 'services') return
    const known = new Set(externalIpsOf(oldObject))
    if (externalIpsOf(object).every((ip) => known.has(ip))) return
    throw refusal(attributes, 'Use of external IPs is denied by admission control')
  },
}

function externalIpsOf(service: KubeObject | undefined): readonly unknown[] {
  const { externalIPs } = fieldsOf(service?.['spec'])
  return Array.isArray(externalIPs) ? externalIPs : []
}
