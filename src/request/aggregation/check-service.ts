/** Checks whether the Service and its endpoints allow requests to reach a remote server. */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { ServiceReference } from '../../net/outbound/service-address.ts'
import type { ServiceEndpoints } from '../../net/outbound/service-endpoints.ts'
import type { Condition } from './api-service.ts'

/**
 * Returns the condition for the first problem with the Service or its endpoints, or undefined if
 * there is no problem. `endpoints` is called only if the Service has the type ClusterIP and the
 * right port.
 */
export async function serviceFault(
  { namespace, name, port }: ServiceReference,
  service: KubeObject | undefined,
  endpoints: () => MaybePromise<ServiceEndpoints>,
): Promise<Condition | undefined> {
  const place = `service/${name} in ${quote(namespace)}`
  if (service === undefined) return failed('ServiceNotFound', `${place} is not present`)
  const spec = fieldsOf(service['spec'])
  if (textOf(spec['type']) !== 'ClusterIP') return undefined
  const found = itemsOf(spec['ports']).find((one) => one['port'] === port)
  if (found === undefined)
    return failed('ServicePortError', `${place} is not listening on port ${port}`)
  const { source, subsets } = await endpoints()
  if (subsets === undefined)
    return failed('EndpointsNotFound', `cannot find ${source} for ${place}`)
  const portName = textOf(found['name'])
  const isServed = subsets.some(
    ({ ready, ports }) => ready.length > 0 && ports.some(({ name: own }) => own === portName),
  )
  if (isServed) return undefined
  return failed(
    'MissingEndpoints',
    `${source} for ${place} have no addresses with port name ${quote(portName)}`,
  )
}

const failed = (reason: string, message: string): Condition => ({
  status: 'False',
  reason,
  message,
})
