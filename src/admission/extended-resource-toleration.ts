/**
 * Makes pods tolerate the taints of the extended resources that they request. Administrators can
 * thus reserve nodes with special hardware: they taint the nodes with the name of the extended
 * resource, and only pods that request the resource get the toleration.
 */
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { isExtended } from '../registry/rules/resources.ts'
import { type Plugin, targetOf } from './admission.ts'

export const extendedResourceToleration: Plugin = {
  name: 'ExtendedResourceToleration',
  resources: new Set(['pods']),
  mutate: (attributes) => {
    const { object } = attributes
    if (object === undefined || targetOf(attributes) !== 'pods') return object
    const spec = fieldsOf(object['spec'])
    const wanted = extendedResources(spec)
    if (wanted.length === 0) return object
    return {
      ...object,
      spec: { ...spec, tolerations: tolerating(itemsOf(spec['tolerations']), wanted) },
    }
  },
}

/**
 * Returns the names of the requested extended resources. Ephemeral containers cannot have requests.
 */
function extendedResources(spec: Fields): readonly string[] {
  const requested = ['containers', 'initContainers'].flatMap((list) =>
    itemsOf(spec[list]).flatMap(({ resources }) =>
      Object.keys(fieldsOf(fieldsOf(resources)['requests'])),
    ),
  )
  return [...new Set(requested)].filter(isExtended).toSorted()
}

/**
 * Adds tolerations for the extended resources. An existing toleration for the same taint loses its
 * tolerationSeconds, which have no meaning for the effect NoSchedule.
 */
function tolerating(given: readonly Fields[], resources: readonly string[]): Fields[] {
  const wanted = new Map(
    resources.map((key) => [key, { key, operator: 'Exists', effect: 'NoSchedule' }]),
  )
  const found = new Set<string>()
  const kept = given.map((toleration) => {
    const { key, operator, effect, value = '' } = toleration
    const same =
      operator === 'Exists' && effect === 'NoSchedule' && value === ''
        ? wanted.get(textOf(key))
        : undefined
    if (same !== undefined) found.add(same.key)
    return same ?? toleration
  })
  return [...kept, ...[...wanted.values()].filter(({ key }) => !found.has(key))]
}
