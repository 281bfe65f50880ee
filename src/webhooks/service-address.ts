/** The address of a webhook that is given as a Service: its cluster IP, which is upstream's default, without a DNS lookup. */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../api/object.ts'
import { quote } from '../api/quote.ts'

export type ServicePlace = { readonly namespace: string; readonly name: string; readonly port: number }
export type Address = { readonly host: string; readonly port: number }

/** A string: why the Service cannot be reached. */
export function addressOf(service: KubeObject | undefined, { name, port }: ServicePlace): Address | string {
  if (service === undefined) return `service ${quote(name)} not found`
  const spec = fieldsOf(service['spec'])
  const type = textOf(spec['type'])
  if (type === 'ExternalName') return { host: textOf(spec['externalName']), port }
  const host = textOf(spec['clusterIP'])
  if (type === 'ClusterIP' && host === 'None') return 'cannot route to service with ClusterIP "None"'
  if (!clusterTypes.has(type)) return `unsupported service type ${quote(type)}`
  const isOpen = itemsOf(spec['ports']).some((one) => one['port'] === port)
  return isOpen ? { host, port } : `no service port ${port} found for service ${quote(name)}`
}

const clusterTypes: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer'])
