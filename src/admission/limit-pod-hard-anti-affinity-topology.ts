/**
 * Rejects pods with a required anti-affinity term whose topology is not the node. With a zone or
 * region as topology, one pod could exclude all others from the zone or region.
 */
import { forbidden } from '../api/errors.ts'
import { fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { type Plugin, targetOf } from './admission.ts'

const allowed = 'kubernetes.io/hostname'

export const limitPodHardAntiAffinityTopology: Plugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  resources: new Set(['pods']),
  validate: (attributes) => {
    const { object, resource } = attributes
    if (object === undefined || targetOf(attributes) !== 'pods') return
    const { podAntiAffinity } = fieldsOf(fieldsOf(object['spec'])['affinity'])
    const terms = itemsOf(
      fieldsOf(podAntiAffinity)['requiredDuringSchedulingIgnoredDuringExecution'],
    )
    const other = terms.map(({ topologyKey }) => textOf(topologyKey)).find((key) => key !== allowed)
    if (other === undefined) return
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other} but only key ${allowed} is allowed`
    throw forbidden(resource, object.metadata.name ?? '', why)
  },
}
