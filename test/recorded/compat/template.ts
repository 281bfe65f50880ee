/** Replaces $ns and ${stepId.json.path} in the paths, queries, headers and bodies of steps. */
import type { HeaderValue } from './client.ts'
import type { Variables } from './steps.ts'

/**
 * Returns a copy with all references replaced. A string that consists of a single ${…} is replaced
 * by the value itself, which keeps its type.
 */
export function fill(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fillText(value, variables)
  if (Buffer.isBuffer(value)) return value
  if (Array.isArray(value)) return value.map((entry) => fill(entry, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(fillEntries(value, variables))
}

/** Replaces the references in the entries of an object. In keys, only $ns is replaced. */
const fillEntries = (value: object, variables: Variables): [string, unknown][] =>
  Object.entries(value).map(([key, entry]) => [
    key.replaceAll('$ns', String(variables['$ns'])),
    fill(entry, variables),
  ])

function fillText(text: string, variables: Variables): unknown {
  const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1]
  if (whole !== undefined) return lookUp(whole, variables)
  return text
    .replace(/\$\{([^}]+)\}/g, (_, path: string) => String(lookUp(path, variables)))
    .replaceAll('$ns', String(variables['$ns']))
}

const lookUp = (path: string, variables: Variables): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) => (value === null || value === undefined ? undefined : at(value, key)),
      variables,
    )

const at = (value: unknown, key: string): unknown => Reflect.get(Object(value), key)

/**
 * Returns a step's path and query with all references replaced. A query value of null results in a
 * key without a value.
 */
export function fillTarget(
  step: { readonly path: string; readonly query?: Readonly<Record<string, unknown>> },
  variables: Variables,
): string {
  const path = String(fill(step.path, variables))
  const query = fillEntries(step.query ?? {}, variables)
    .map(([key, value]) => (value === null ? encode(key) : `${encode(key)}=${encode(value)}`))
    .join('&')
  if (query === '') return path
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

const encode = (value: unknown): string => encodeURIComponent(String(value))

export function fillHeaders(
  headers: Readonly<Record<string, unknown>>,
  variables: Variables,
): Record<string, HeaderValue> {
  return Object.fromEntries(
    fillEntries(headers, variables).map(([name, value]) => [name, headerValue(name, value)]),
  )
}

function headerValue(name: string, value: unknown): HeaderValue {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
  throw new Error(
    `the header ${name} became ${typeof value}: check that the step to which it refers has an id`,
  )
}
