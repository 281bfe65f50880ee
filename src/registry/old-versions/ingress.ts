/**
 * Conversion of Ingresses from extensions/v1beta1 and networking.k8s.io/v1beta1. In these versions,
 * a backend consists of serviceName and servicePort.
 */
import {
  type Fields,
  fieldsOf,
  isFields,
  itemsOf,
  type Json,
  type KubeObject,
  present,
  textOf,
} from '../../api/object.ts'

export function ingress(object: KubeObject): KubeObject {
  const { backend, rules, ...spec } = fieldsOf(object['spec'])
  return {
    ...object,
    spec: present({
      ...spec,
      defaultBackend: isFields(backend) ? newBackend(backend) : undefined,
      rules: Array.isArray(rules) ? itemsOf(rules).map(newRule) : undefined,
    }),
  }
}

function newRule(rule: Fields): Fields {
  const { http } = rule
  if (!isFields(http)) return rule
  const paths = itemsOf(http['paths']).map(({ backend, pathType, ...path }) => ({
    ...path,
    pathType: pathType ?? 'ImplementationSpecific',
    backend: newBackend(fieldsOf(backend)),
  }))
  return { ...rule, http: { ...http, paths } }
}

function newBackend({ serviceName, servicePort, resource }: Fields): Fields {
  const port = portOf(servicePort)
  const hasService = textOf(serviceName) !== '' || port !== undefined
  const service = { name: textOf(serviceName), port: port ?? {} }
  return present({ service: hasService ? service : undefined, resource })
}

/** Returns the port of a backend, or undefined if it has no port. */
function portOf(port: Json | undefined): Fields | undefined {
  if (typeof port === 'string') return { name: port }
  return port === undefined || port === 0 ? undefined : { number: port }
}
