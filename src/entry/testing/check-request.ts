/** Validates requests, users and manifests that a program in another language sends. */
import { isAbsolute } from 'node:path'
import type { ApplySource } from './apply.ts'
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

/**
 * Validates a user. If a field is invalid, throws a TypeError. Error messages contain `what`, the
 * name of the validated value.
 */
export function checkUser(given: unknown, what: string): asserts given is TestUser {
  const { name, groups = [], ...others } = fieldsOf(given, what)
  refuseOthers(others, what)
  if (typeof name !== 'string' || name === '')
    throw new TypeError(`${what}: name must be the name of the user`)
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string'))
    throw new TypeError(`${what}: groups is not a list of strings`)
}

/**
 * Validates the manifests to apply, like `checkRequest`, and returns them. A path must be absolute,
 * because the program and the server may have different current folders.
 */
export function sourceOf(given: unknown): ApplySource {
  const { path, text, objects, ...others } = fieldsOf(given, 'the body')
  refuseOthers(others, 'the body')
  if ([path, text, objects].filter((one) => one !== undefined).length !== 1)
    throw new TypeError('the body must have exactly one of: path, text, objects')
  if (Array.isArray(objects)) {
    const all: readonly unknown[] = objects
    return all.map((one, at) => fieldsOf(one, `objects[${at}]`))
  }
  if (objects !== undefined) throw new TypeError('objects is not a list')
  // Add a line break, so that `apply` treats the string as the text of manifests and not as a path.
  if (typeof text === 'string') return `${text}\n`
  if (text !== undefined) throw new TypeError('text is not a string')
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\n'))
    throw new TypeError('path must be an absolute path')
  return path
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
