/** What a Pod gets that a template for Pods does not. Its rules come later. */
import { type FieldFault, forbiddenField } from '../../../api/field-fault.ts'
import { type Fields, fieldsOf, isFields, itemsOf, type Json, type KubeObject } from '../../../api/object.ts'
import { isSame } from '../../../schema/equal.ts'
import type { KindRules } from '../../kind-rules.ts'
import { validatePodAnnotations, validateSaidTwice } from './pod/annotations.ts'
import { validatePodSpec } from './pod/spec.ts'
import { podFields } from '../selectable.ts'

export const podRules: KindRules = {
  selectableFields: podFields,
  setDefaults,
  validate,
  prepareCreate: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: qosClassOf(fieldsOf(pod['spec'])) } }),
}

function validate(pod: KubeObject): FieldFault[] {
  const { metadata, spec } = pod
  return [
    ...validatePodAnnotations(pod, 'metadata.annotations'),
    ...validatePodSpec(fieldsOf(spec), 'spec', { podName: metadata.name ?? '' }),
    ...validateSaidTwice(pod),
    ...(itemsOf(fieldsOf(spec)['ephemeralContainers']).length > 0
      ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
  ]
}

function setDefaults(pod: KubeObject): KubeObject {
  const spec = fieldsOf(pod['spec'])
  const lists = ['initContainers', 'containers'].flatMap((name): [string, Json][] => {
    const containers = spec[name]
    return Array.isArray(containers) ? [[name, containers.map((one: Json) => withRequests(fieldsOf(one)))]] : []
  })
  return { ...pod, spec: { enableServiceLinks: true, ...spec, ...Object.fromEntries(lists) } }
}

/** Who limits an amount asks for it, unless he says otherwise. */
function withRequests(container: Fields): Fields {
  const resources = fieldsOf(container['resources'])
  const { limits, requests } = resources
  if (!isFields(limits)) return container
  return { ...container, resources: { ...resources, requests: { ...limits, ...fieldsOf(requests) } } }
}

/** Guaranteed: each container is limited to what it asks for, in both amounts. BestEffort: none asks for anything. */
function qosClassOf(spec: Fields): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const containers = ['initContainers', 'containers'].flatMap((name) => {
    const list = spec[name]
    return Array.isArray(list) ? list.map((one: Json) => fieldsOf(fieldsOf(one)['resources'])) : []
  })
  const amounts = containers.map(({ limits, requests }) => [computeOf(limits), computeOf(requests)] as const)
  if (amounts.every(([limits, requests]) => isSame(limits, {}) && isSame(requests, {}))) return 'BestEffort'
  const isGuaranteed = amounts.every(
    ([limits, requests]) => limits['cpu'] !== undefined && limits['memory'] !== undefined && isSame(limits, requests),
  )
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** Only these two count, and zero does not. */
function computeOf(list: Json | undefined): Fields {
  const entries = Object.entries(fieldsOf(list)).filter(
    ([name, amount]) => (name === 'cpu' || name === 'memory') && amount !== '0',
  )
  return Object.fromEntries(entries)
}
