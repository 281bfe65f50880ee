/**
 * Determines the address of a webhook behind a Service without a DNS lookup. The address is the
 * cluster IP of the Service or one of its endpoints.
 */
import {
  type Fields,
  fieldsOf,
  itemsOf,
  type KubeObject,
  textOf,
  textsOf,
} from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { EndpointSubset, ServiceEndpoints } from './service-endpoints.ts'

export type ServiceReference = {
  readonly namespace: string
  readonly name: string
  readonly port: number
}
export type Address = { readonly host: string; readonly port: number }

/**
 * Returns the cluster IP, or an error message if the Service cannot be reached. kube-apiserver uses
 * the cluster IP by default.
 */
export function addressOf(
  service: KubeObject | undefined,
  { name, port }: ServiceReference,
): Address | string {
  if (service === undefined) return `service ${quote(name)} not found`
  const spec = fieldsOf(service['spec'])
  const type = textOf(spec['type'])
  if (type === 'ExternalName') return { host: textOf(spec['externalName']), port }
  const host = textOf(spec['clusterIP'])
  if (type === 'ClusterIP' && host === 'None')
    return 'cannot route to service with ClusterIP "None"'
  const found = portOf(spec, { name, port })
  return typeof found === 'string' ? found : { host, port }
}

export type Endpoints = {
  readonly endpoints: ServiceEndpoints
  /** Returns a random number that is at least 0 and less than 1. */
  readonly random: () => number
}

/**
 * Returns a ready endpoint, or an error message if the Service cannot be reached. Used with
 * `--enable-aggregator-routing`.
 */
export function endpointOf(
  service: KubeObject | undefined,
  { name, port }: ServiceReference,
  { endpoints, random }: Endpoints,
): Address | string {
  if (service === undefined) return `service ${quote(name)} not found`
  const found = portOf(fieldsOf(service['spec']), { name, port })
  if (typeof found === 'string') return found
  const { source, subsets } = endpoints
  if (subsets === undefined && source === 'endpoints') return `endpoints ${quote(name)} not found`
  const [family] = textsOf(fieldsOf(service['spec'])['ipFamilies'])
  for (const { ready, ports } of inOrder(subsets ?? [], { family, random })) {
    const open = ports.find((one) => one.name === textOf(found['name']))
    const host = ready[Math.floor(random() * ready.length)]
    if (open !== undefined && host !== undefined) return { host, port: open.port }
  }
  return `no endpoints available for service ${quote(name)}`
}

type Preference = Pick<Endpoints, 'random'> & { readonly family: string | undefined }

/** Begins with a random item, and puts the items of the primary IP family of the Service first. */
function inOrder(
  subsets: readonly EndpointSubset[],
  { family, random }: Preference,
): EndpointSubset[] {
  const first = Math.floor(random() * subsets.length)
  const all = [...subsets.slice(first), ...subsets.slice(0, first)]
  const isPreferred = (one: EndpointSubset): boolean => one.family === family
  return [...all.filter(isPreferred), ...all.filter((one) => !isPreferred(one))]
}

function portOf(
  spec: Fields,
  { name, port }: Pick<ServiceReference, 'name' | 'port'>,
): Fields | string {
  const type = textOf(spec['type'])
  if (!clusterTypes.has(type)) return `unsupported service type ${quote(type)}`
  const found = itemsOf(spec['ports']).find((one) => one['port'] === port)
  return found ?? `no service port ${port} found for service ${quote(name)}`
}

const clusterTypes: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer'])
