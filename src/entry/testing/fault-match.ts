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

/** Selects requests. An absent field matches all requests. */
export type FaultMatch = {
  readonly verb?: Verb | readonly Verb[]
  /**
   * A resource, such as `configmaps` or, with its group, `deployments.apps`. A subresource is a
   * separate resource, such as `pods/status`. `pods/*` matches pods and all of their subresources.
   */
  readonly resource?: string
  readonly namespace?: string
  /** The name of the object. For a create, this is the name in the request body. */
  readonly name?: string
  /** The number of matching requests that are served normally before the fault applies. */
  readonly after?: number
  /**
   * The number of requests to which the fault applies. If absent, it applies to all further
   * requests.
   */
  readonly times?: number
}

/**
 * Whether a fault matches a request. The name in a create is only in the body. If the result
 * depends on this name, `readName` is called.
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
 * Returns the object name in a JSON or protobuf body. Returns an empty string if the body has no
 * name or has another format.
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
    // The body is malformed, which the server reports when it handles the request.
    return ''
  }
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined

const protobufMagic = Buffer.from('k8s\0')

/**
 * The protobuf field numbers on the path to the name of the object: the object in the envelope (2),
 * its metadata (1), and the name in the metadata (1).
 */
const namePath = [2, 1, 1] as const

function nameInProtobuf(body: Buffer): string {
  let bytes: Buffer | undefined = body.subarray(protobufMagic.length)
  for (const field of namePath) bytes = bytes && fieldOf(bytes, field)
  return bytes?.toString() ?? ''
}

/**
 * Returns the content of a length-delimited protobuf field. Only fields of this type may precede
 * it, which is the case in the messages that are read here.
 */
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
/** Maximum size of a varint in bytes, which is enough for the lengths of request bodies. */
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
