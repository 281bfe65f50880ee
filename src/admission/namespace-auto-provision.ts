/**
 * Creates the namespace of a new object if it does not exist. The server creates the namespace with
 * its own identity, so the client needs no permission to create namespaces.
 */
import { type ApiError, passedOn } from '../api/errors.ts'
import { fieldsOf, type KubeObject, textOf } from '../api/object.ts'
import { objectOf, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { type Attributes, type Plugin, refusal } from './admission.ts'
import { isOfNamespaces } from './match/namespaces.ts'
import type { Objects } from '../api/object-access.ts'

const namespaces = { group: '', version: 'v1', plural: 'namespaces' } as const

/**
 * Creates a namespace. Resolves to the error, or to undefined if the namespace exists afterward.
 */
export type CreateNamespace = (name: string, signal: AbortSignal) => Promise<ApiError | undefined>

export function createNamespaceAutoProvision(
  objects: Pick<Objects, 'get'>,
  createNamespace: CreateNamespace,
): Plugin {
  const provide = async (attributes: Attributes): Promise<KubeObject | undefined> => {
    const { namespace, object, context } = attributes
    const known = await objects.get(namespaces, { namespace: '', name: namespace }, 'any')
    if (known !== undefined) return object
    const refused = await createNamespace(namespace, context.signal)
    if (refused === undefined) return object
    throw refused.reason === 'Forbidden' ? refused : refusal(attributes, refused.message)
  }
  return {
    name: 'NamespaceAutoProvision',
    mutate: (attributes) => {
      const { operation, namespace, isDryRun, object } = attributes
      const isNeeded =
        operation === 'CREATE' && !isDryRun && namespace !== '' && !isOfNamespaces(attributes)
      return isNeeded ? provide(attributes) : object
    },
  }
}

const CREATED = 201
const CONFLICT = 409

/**
 * Creates namespaces by requests that the server sends to itself, so that the namespaces also pass
 * admission. A conflict means that another request has created the namespace first.
 */
export function createNamespaceBy(handle: Handler): CreateNamespace {
  return async (name, signal) => {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const response = await request(handle, {
      method: 'POST',
      path: '/api/v1/namespaces',
      body,
      signal,
    })
    if (response.status === CREATED || response.status === CONFLICT) return undefined
    const status = fieldsOf(objectOf(response))
    return passedOn(status, textOf(status['message']))
  }
}
