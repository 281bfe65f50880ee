/**
 * Rules for writes through pods/ephemeralcontainers. Such writes can only add containers for
 * debugging.
 */
import { isEqual } from '../../../../objects/schema/equal.ts'
import { faultsOfEach, type FieldFault, forbiddenField } from '../../../../api/field-fault.ts'
import type { Gates } from '../../../../api/gates.ts'
import { fieldsOf, itemsOf, type KubeObject, omit, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { firstBy } from '../../../../lib/scheduling/long-lists.ts'
import { typeOf } from '../../../types.ts'
import { validatePodSpec } from './spec.ts'

/**
 * Returns the stored object with the resourceVersion from the request, so that conflicts are
 * detected.
 */
export function currentWithVersion(
  { metadata: { resourceVersion } }: KubeObject,
  current: KubeObject,
): KubeObject {
  return resourceVersion === undefined
    ? current
    : { ...current, metadata: { ...current.metadata, resourceVersion } }
}

export function prepareEphemeral(pod: KubeObject, current: KubeObject): KubeObject {
  const was = omit(fieldsOf(current['spec']), 'ephemeralContainers')
  const { ephemeralContainers } = fieldsOf(pod['spec'])
  return {
    ...currentWithVersion(pod, current),
    spec: ephemeralContainers === undefined ? was : { ...was, ephemeralContainers },
  }
}

export function validateEphemeral(
  pod: KubeObject,
  current: KubeObject,
  gates: Gates,
): FieldFault[] {
  const spec = fieldsOf(pod['spec'])
  const now = firstBy(itemsOf(spec['ephemeralContainers']), ({ name }) => name)
  const path = 'spec.ephemeralContainers'
  return [
    ...validatePodSpec(spec, 'spec', { pod: pod.metadata, gates }),
    ...faultsOfEach(itemsOf(fieldsOf(current['spec'])['ephemeralContainers']), (old) => {
      const name = quote(textOf(old['name']))
      const one = now.get(old['name'])
      if (one === undefined)
        return [forbiddenField(path, `existing ephemeral containers ${name} may not be removed\n`)]
      return isEqual(typeOf('core/v1', 'EphemeralContainer', gates.release), one, old)
        ? []
        : [forbiddenField(path, `existing ephemeral containers ${name} may not be changed\n`)]
    }),
  ]
}
