/**
 * Adds tolerations to pods, so that they can stay for a few minutes on a node that is unreachable
 * or not ready. A pod that has its own toleration for the taint of such a node keeps this
 * toleration.
 */
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import type { TolerationSeconds } from '../config/admission.ts'
import { type Plugin, targetOf } from './admission.ts'

export function createDefaultTolerationSeconds({
  notReady,
  unreachable,
}: TolerationSeconds): Plugin {
  const tolerations = [
    tolerationOf('node.kubernetes.io/not-ready', notReady),
    tolerationOf('node.kubernetes.io/unreachable', unreachable),
  ]
  return {
    name: 'DefaultTolerationSeconds',
    resources: new Set(['pods']),
    mutate: (attributes) => {
      const { object } = attributes
      if (object === undefined || targetOf(attributes) !== 'pods') return object
      const spec = fieldsOf(object['spec'])
      const given = itemsOf(spec['tolerations'])
      // Bounded: `tolerations` has only two entries, so `given` is searched only twice.
      const added = tolerations.filter(
        ({ key }) => !given.some((toleration) => isAbout(toleration, key)),
      )
      return added.length === 0
        ? object
        : { ...object, spec: { ...spec, tolerations: [...given, ...added] } }
    },
  }
}

/**
 * Whether a toleration applies to the taint, whatever the operator and value. An empty key means
 * all keys, and an empty effect means all effects.
 */
function isAbout(toleration: Fields, wanted: string): boolean {
  const [key, effect] = [textOf(toleration['key']), textOf(toleration['effect'])]
  return (key === '' || key === wanted) && (effect === '' || effect === 'NoExecute')
}

const tolerationOf = (
  key: string,
  tolerationSeconds: number,
): Fields & { readonly key: string } => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
})
