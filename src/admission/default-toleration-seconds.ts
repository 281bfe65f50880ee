/**
 * Makes pods tolerate a node that is not ready or unreachable for some minutes, unless they have
 * their own toleration for that.
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
      // limit: two tolerations
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
 * Returns whether a toleration is about the taint, whatever its operator and value. An empty key
 * means all keys, an empty effect all effects.
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
