/** Pods tolerate a node that is not ready or unreachable for five minutes, unless they have a toleration for that themselves. */
import { type Fields, fieldsOf, itemsOf, textOf } from '../api/object.ts'
import { type Plugin, targetOf } from './admission.ts'

const TOLERATION_SECONDS = 300
const keys = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'] as const

export const defaultTolerationSeconds: Plugin = {
  name: 'DefaultTolerationSeconds',
  resources: new Set(['pods']),
  mutate: (attributes) => {
    const { object } = attributes
    if (object === undefined || targetOf(attributes) !== 'pods') return object
    const spec = fieldsOf(object['spec'])
    const given = itemsOf(spec['tolerations'])
    const added = keys.filter((key) => !given.some((toleration) => isAbout(toleration, key))).map(tolerationOf)
    return added.length === 0 ? object : { ...object, spec: { ...spec, tolerations: [...given, ...added] } }
  },
}

/** Operator and value do not matter. An empty key means all keys, an empty effect all effects. */
function isAbout(toleration: Fields, wanted: string): boolean {
  const [key, effect] = [textOf(toleration['key']), textOf(toleration['effect'])]
  return (key === '' || key === wanted) && (effect === '' || effect === 'NoExecute')
}

const tolerationOf = (key: string): Fields => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: TOLERATION_SECONDS,
})
