/** Checks whether the Service and its endpoints allow requests to reach a remote server. */
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'
import type { ServiceReference } from '../../net/outbound/service-address.ts'
import type { Condition } from './api-service.ts'

/**
 * Returns the condition for the first problem with the Service or its endpoints, or undefined if
 * there is no problem. `endpoints` is called only if the Service has the type ClusterIP and the
 * right port.
 */
export async function serviceFault(
  { namespace, name, port }: ServiceReference,
  service: KubeObject | undefined,
  endpoints: () => MaybePromise<KubeObject | undefined>,
): Promise<Condition | undefined> {
  const place = `service/${name} in ${quote(namespace)}`
  if (service === undefined) return failed('ServiceNotFound', `${place} is not present`)
  const spec = fieldsOf(service['spec'])
  if (textOf(spec['type']) !== 'ClusterIP') return undefined
  const found = itemsOf(spec['ports']).find((one) => one['port'] === port)
  if (found === undefined)
    return failed('ServicePortError', `${place} is not listening on port ${port}`)
  const known = await endpoints()
  if (known === undefined) return failed('EndpointsNotFound', `cannot find endpoints for ${place}`)
  const portName = textOf(found['name'])
  const isServed = itemsOf(known['subsets']).some(
    ({ addresses, ports }) =>
      itemsOf(addresses).length > 0 &&
      itemsOf(ports).some((one) => textOf(one['name']) === portName),
  )
  if (isServed) return undefined
  return failed(
    'MissingEndpoints',
    `endpoints for ${place} have no addresses with port name ${quote(portName)}`,
  )
}

const failed = (reason: string, message: string): Condition => ({
  status: 'False',
  reason,
  message,
})
