/**
 * The options of a CONNECT request, from its query and path. Admission receives them as the object
 * of the request.
 */
import { type Fields, type KubeObject, present } from '../../../api/object.ts'
import { schemeOf } from '../../../registry/scheme.ts'
import { typeOf } from '../../../registry/types.ts'
import type { ResourceRequest } from '../../resource-request.ts'
import { type ObjectSchema, plainSchema } from '../../../objects/schema/object-schema.ts'
import type { WriteAccess } from '../access.ts'
import { mutate } from './handler.ts'

/** Runs admission, which can reject the request or change its options. Returns the options. */
export async function admitConnect(
  request: ResourceRequest,
  given: Fields,
  access: Pick<WriteAccess, 'admission'>,
): Promise<Fields> {
  const kind =
    request.resource.subresources.find(({ name }) => name === request.subresource)?.kind ?? ''
  const object: KubeObject = { ...present(given), kind, apiVersion: 'v1', metadata: {} }
  const { release } = request.resource
  const shape: ObjectSchema = {
    ...plainSchema(typeOf('core/v1', kind, release)),
    scheme: schemeOf('', release),
  }
  const { object: mutated, validate } = await mutate(request, object, {
    operation: 'CONNECT',
    isDryRun: false,
    access,
    shape,
  })
  await validate(mutated)
  return mutated
}

/** Returns the options of exec and attach. Flags that are not set are absent. */
export const streamOptions = (query: URLSearchParams): Fields => ({
  ...Object.fromEntries(
    streamFlags.map((name) => [name, isSet(query.get(name)) ? true : undefined]),
  ),
  container: query.get('container') || undefined,
  command: query.has('command') ? query.getAll('command') : undefined,
})

const streamFlags = ['stdin', 'stdout', 'stderr', 'tty'] as const

const isSet = (text: string | null): boolean => text === 'true' || text === '1'

export const portForwardOptions = (query: URLSearchParams): Fields => {
  const ports = query
    .getAll('ports')
    .flatMap((text) => text.split(','))
    .filter((text) => /^\d{1,9}$/.test(text))
  return { ports: ports.length === 0 ? undefined : ports.map(Number) }
}

/** Returns the options of a proxy request. `rest` is the path after `/proxy`. */
export const proxyOptions = (rest: string): Fields => ({ path: rest === '' ? undefined : rest })
