/** Selectable fields of kinds whose fields cannot be described by a path alone. */
import { fieldsOf, type Json, type KubeObject } from '../../api/object.ts'
import type { KindRules } from '../kind-rules.ts'

const at = (object: KubeObject, part: string, field: string): Json | undefined =>
  fieldsOf(object[part])[field]

const text = (part: string, field: string) => (object: KubeObject) => {
  const value = at(object, part, field)
  return typeof value === 'string' ? value : ''
}
const flag = (part: string, field: string) => (object: KubeObject) =>
  `${at(object, part, field) === true}`
const count = (part: string, field: string) => (object: KubeObject) => {
  const value = at(object, part, field)
  return typeof value === 'number' ? `${value}` : '0'
}

/** Returns the first of podIPs, or podIP if the list is empty. */
function podIp(pod: KubeObject): string {
  const addresses = at(pod, 'status', 'podIPs')
  const first = Array.isArray(addresses) ? fieldsOf(addresses[0])['ip'] : undefined
  return typeof first === 'string' ? first : text('status', 'podIP')(pod)
}

export const podFields: NonNullable<KindRules['selectableFields']> = {
  'spec.nodeName': text('spec', 'nodeName'),
  'spec.host': text('spec', 'nodeName'),
  'spec.restartPolicy': text('spec', 'restartPolicy'),
  'spec.schedulerName': text('spec', 'schedulerName'),
  'spec.serviceAccountName': text('spec', 'serviceAccountName'),
  'spec.hostNetwork': flag('spec', 'hostNetwork'),
  'status.phase': text('status', 'phase'),
  'status.podIP': podIp,
  // Field selectors can contain status.podIPs, but kube-apiserver treats its value as empty.
  'status.podIPs': () => '',
  'status.nominatedNodeName': text('status', 'nominatedNodeName'),
}

export const nodeFields: NonNullable<KindRules['selectableFields']> = {
  'spec.unschedulable': flag('spec', 'unschedulable'),
}

/** Selectable fields of a Job. `status.successful` selects by the value of `status.succeeded`. */
export const jobFields: NonNullable<KindRules['selectableFields']> = {
  'status.successful': count('status', 'succeeded'),
}
