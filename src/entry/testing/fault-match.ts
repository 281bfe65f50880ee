/** Which requests a fault concerns. */
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

/** What is absent matches everything. */
export type FaultMatch = {
  readonly verb?: Verb | readonly Verb[]
  /**
   * `configmaps`, or with its group `deployments.apps`. A subresource is another resource:
   * `pods/status`; `pods/*` is all of pods, with the object itself.
   */
  readonly resource?: string
  readonly namespace?: string
  /** Of the object; of a create, the name in its body. */
  readonly name?: string
  /** The first requests that match pass unharmed: so many of them. */
  readonly after?: number
  /** How many requests are then concerned; all of them if it is absent. */
  readonly times?: number
}

/**
 * The name of an object that is created is in the body alone: `readName` is asked for it only where
 * that decides.
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

/** The name in a body of JSON or protobuf; empty if it has none, or is of another form. */
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
    // The server says what is wrong with it.
    return ''
  }
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined

const protobufMagic = Buffer.from('k8s\0')

/**
 * The envelope has the object in its second field, objects have their metadata in the first, and
 * metadata the name in the first.
 */
const namePath = [2, 1, 1] as const

function nameInProtobuf(body: Buffer): string {
  let bytes: Buffer | undefined = body.subarray(protobufMagic.length)
  for (const field of namePath) bytes = bytes && fieldOf(bytes, field)
  return bytes?.toString() ?? ''
}

/** A field of bytes; all fields before it must be such, too, as they are here. */
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
/** Lengths of bodies take no more. */
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
