/** Decides which requests a fault matches. */
import type { ResourceInfo } from '../../api/context.ts'

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'

/** Selects requests. An absent field matches everything. */
export type FaultMatch = {
  readonly verb?: Verb | readonly Verb[]
  /**
   * A resource, such as `configmaps` or, with its group, `deployments.apps`. A subresource is a
   * separate resource, such as `pods/status`. `pods/*` matches pods and all of their subresources.
   */
  readonly resource?: string
  readonly namespace?: string
  /** The name of the object. For a create, this is the name in its body. */
  readonly name?: string
  /** The number of matching requests that are first served normally. */
  readonly after?: number
  /** The number of requests that the fault then applies to; all of them if it is absent. */
  readonly times?: number
}

/**
 * Whether a fault matches a request. An object that is created has its name only in the body, so
 * `readName` is called only if the name decides.
 */
export async function isMatch(
  match: FaultMatch,
  info: ResourceInfo,
  readName: () => Promise<string>,
): Promise<boolean> {
  if (!isMatchButName(match, info)) return false
  if (match.name === undefined || match.name === info.name) return true
  return info.name === '' && info.verb === 'create' && (await readName()) === match.name
}

export function isMatchButName(
  { verb, resource, namespace }: FaultMatch,
  info: ResourceInfo,
): boolean {
  const verbs: readonly string[] | undefined = typeof verb === 'string' ? [verb] : verb
  if (verbs !== undefined && !verbs.includes(info.verb)) return false
  if (namespace !== undefined && namespace !== info.namespace) return false
  return resource === undefined || isResource(resource, info)
}

function isResource(wanted: string, { plural, group, subresource }: ResourceInfo): boolean {
  const [named = '', ofObject = ''] = wanted.split('/', 2)
  if (ofObject !== '*' && ofObject !== subresource) return false
  return named === '*' || named === plural || named === `${plural}.${group}`
}

/**
 * Returns the name in a body of JSON or protobuf. Empty if the body has no name, or another format.
 */
export function nameInBody(body: Buffer): string {
  return body.subarray(0, protobufMagic.length).equals(protobufMagic)
    ? nameInProtobuf(body)
    : nameInJson(body)
}

function nameInJson(body: Buffer): string {
  try {
    const parsed: unknown = JSON.parse(body.toString())
    const name = memberOf(memberOf(parsed, 'metadata'), 'name')
    return typeof name === 'string' ? name : ''
  } catch {
    // The server reports what is wrong with the body.
    return ''
  }
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined

const protobufMagic = Buffer.from('k8s\0')

/**
 * The field numbers that lead to the name: the envelope has the object in its second field, the
 * object has its metadata in the first, and the metadata has the name in the first.
 */
const namePath = [2, 1, 1] as const

function nameInProtobuf(body: Buffer): string {
  let bytes: Buffer | undefined = body.subarray(protobufMagic.length)
  for (const field of namePath) bytes = bytes && fieldOf(bytes, field)
  return bytes?.toString() ?? ''
}

/** Returns a field of bytes. All fields before it must also be of bytes, as they are here. */
function fieldOf(message: Buffer, wanted: number): Buffer | undefined {
  let at = 0
  while (at < message.length) {
    const tag = varint(message, at)
    const length = tag && varint(message, tag.end)
    if (tag === undefined || length === undefined || (tag.value & 7) !== BYTES_TYPE)
      return undefined
    const end = length.end + length.value
    if (tag.value >> 3 === wanted) return message.subarray(length.end, end)
    at = end
  }
  return undefined
}

const BYTES_TYPE = 2
/** Maximum size of a varint. The lengths of bodies take no more. */
const VARINT_BYTES_MAX = 4

function varint(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let i = 0; i < VARINT_BYTES_MAX; i++) {
    const byte = bytes[from + i]
    if (byte === undefined) return undefined
    value |= (byte & 0x7f) << (7 * i)
    if (byte < 0x80) return { value, end: from + i + 1 }
  }
  return undefined
}
