/** Validates requests and users that a program in another language passes to a cluster. */
import type { TestUser } from './credentials.ts'
import type { TestRequest } from './own-client.ts'

const methods: readonly unknown[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Validates a request. If a field is invalid, throws a TypeError that names the field. */
export function checkRequest(given: unknown): asserts given is TestRequest {
  const { method, path, body: _, contentType, user, ...others } = fieldsOf(given, 'the body')
  refuseOthers(others, 'the body')
  if (method !== undefined && !methods.includes(method))
    throw new TypeError(`method must be one of: ${methods.join(', ')}`)
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new TypeError('path must be a string that starts with /')
  if (contentType !== undefined && typeof contentType !== 'string')
    throw new TypeError('contentType is not a string')
  if (user !== undefined) checkUser(user, 'user')
}

/** Validates a user, like `checkRequest`. `what` is the name of the value for errors. */
export function checkUser(given: unknown, what: string): asserts given is TestUser {
  const { name, groups = [], ...others } = fieldsOf(given, what)
  refuseOthers(others, what)
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`${what}: name must be the name of the user`)
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string'))
    throw new TypeError(`${what}: groups is not a list of strings`)
}

function fieldsOf(given: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError(`${what} is not an object`)
  return Object.fromEntries(Object.entries(given))
}

function refuseOthers(others: object, what: string): void {
  const [name] = Object.keys(others)
  if (name !== undefined) throw new TypeError(`${what}: unknown field ${JSON.stringify(name)}`)
}
