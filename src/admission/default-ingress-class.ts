/** Sets the default class on a new Ingress that does not specify a class. */
import { fieldsOf } from '../api/object.ts'
import { type Plugin, targetOf } from './admission.ts'
import { defaultClass } from './default-class.ts'
import type { Objects } from '../api/object-access.ts'

const ingressClasses = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'ingressclasses',
} as const
const defaultAnnotation = 'ingressclass.kubernetes.io/is-default-class'
/** Annotation that specified the class before the field ingressClassName existed. */
const oldClassAnnotation = 'kubernetes.io/ingress.class'

export function createDefaultIngressClass(objects: Pick<Objects, 'list'>): Plugin {
  return {
    name: 'DefaultIngressClass',
    resources: new Set(['ingresses.networking.k8s.io']),
    mutate: async (attributes) => {
      const { operation, object } = attributes
      if (object === undefined || operation !== 'CREATE') return object
      if (targetOf(attributes) !== 'ingresses.networking.k8s.io') return object
      const spec = fieldsOf(object['spec'])
      if (spec['ingressClassName'] !== undefined) return object
      if (object.metadata.annotations?.[oldClassAnnotation] !== undefined) return object
      const found = defaultClass(await objects.list(ingressClasses, '', 'any'), [defaultAnnotation])
      return found === undefined
        ? object
        : { ...object, spec: { ...spec, ingressClassName: found.metadata.name } }
    },
  }
}
