/**
 * Reads a configuration file: decodes it by its scheme, then sets defaults, converts it to one
 * internal type, whatever its version, and validates it. A type of file is a ConfigFileType.
 */
import type { Fields } from '../../api/object.ts'
import type { Scheme } from '../../objects/schema/object-schema.ts'
import type { FileFault } from './decode-file.ts'
import { decodeHere, decodeOnThread, type PostedFile } from './decode-thread.ts'

/**
 * As much as a ConfigMap or Secret can hold, from which such a file often comes. What is in it is
 * validated in one turn of the event loop.
 */
export const CONFIG_BYTES_MAX = 1 << 20
/** Larger ones would block the event loop for more than a few milliseconds. */
const INLINE_BYTES_MAX = 64 << 10

export type ConfigFileType<T> = {
  readonly scheme: Scheme
  readonly kind: string
  /** How an empty file is read; absent: like any other. */
  readonly ofEmpty?: FileFault | Fields
  /** Whether unknown and duplicate fields are ignored, as upstream does with some kinds. */
  readonly isLenient?: boolean
  /** What is said about a file of another kind of the scheme. */
  readonly unexpected?: (hubName: string) => string
  /** Work that would block the event loop in `read`, done before it when the file is reloaded. */
  readonly prepare?: (fields: Fields) => Promise<void>
  /** Sets defaults, converts and validates. All errors are joined in one text. */
  readonly read: (fields: Fields) => FileRead<T>
}

/**
 * `stage`: of some files upstream reports decoding and validation errors with different prefixes.
 */
export type FileRead<T> = { readonly value: T } | (FileFault & { readonly stage?: 'decoding' })

/** At startup, when nothing else waits for the event loop. */
export function readConfigFile<T>(bytes: Buffer, type: ConfigFileType<T>): FileRead<T> {
  const opened = open(bytes, type) ?? described(decodeHere(bytes, type.scheme), type)
  return 'fields' in opened ? finish(opened, type) : opened
}

/** The same while the server runs. */
export async function rereadConfigFile<T>(
  bytes: Buffer,
  type: ConfigFileType<T>,
): Promise<FileRead<T>> {
  const opened = open(bytes, type) ?? described(await decodeAnywhere(bytes, type.scheme), type)
  if (!('fields' in opened)) return opened
  await type.prepare?.(opened.fields)
  return finish(opened, type)
}

type ParsedFile = {
  readonly fields: Fields
  readonly strictFault: string | undefined
  /** Set if the file is of another kind. */
  readonly otherKind: string | undefined
}

export const tooLarge = ({ length }: Buffer): string =>
  `the file has ${length} bytes, it may have ${CONFIG_BYTES_MAX}`

/** Files that need not be decoded; undefined: others. */
function open<T>(
  bytes: Buffer,
  { ofEmpty }: ConfigFileType<T>,
): ParsedFile | FileRead<T> | undefined {
  if (bytes.length > CONFIG_BYTES_MAX) {
    return { fault: tooLarge(bytes), stage: 'decoding' }
  }
  if (bytes.length > 0 || ofEmpty === undefined) return undefined
  if (isFault(ofEmpty)) return { fault: ofEmpty.fault, stage: 'decoding' }
  return { fields: ofEmpty, strictFault: undefined, otherKind: undefined }
}

const decodeAnywhere = async (bytes: Buffer, scheme: Scheme): Promise<PostedFile> =>
  bytes.length > INLINE_BYTES_MAX ? decodeOnThread(bytes, scheme) : decodeHere(bytes, scheme)

function described<T>(decoded: PostedFile, { kind }: ConfigFileType<T>): ParsedFile | FileRead<T> {
  if ('fault' in decoded) return { fault: decoded.fault, stage: 'decoding' }
  const { fields, hubName, strictFault } = decoded
  return { fields, strictFault, otherKind: hubName.endsWith(`.${kind}`) ? undefined : hubName }
}

function finish<T>(
  { fields, strictFault, otherKind }: ParsedFile,
  type: ConfigFileType<T>,
): FileRead<T> {
  const {
    kind,
    read,
    isLenient = false,
    unexpected = (hubName) => `expected ${kind}, got *${hubName}`,
  } = type
  const result: FileRead<T> =
    otherKind === undefined ? read(fields) : { fault: unexpected(otherKind) }
  // A value that cannot be decoded is reported rather than an unknown field, and that rather than a
  // validation error.
  if ('fault' in result && result.stage === 'decoding') return result
  if (strictFault !== undefined && !isLenient) return { fault: strictFault, stage: 'decoding' }
  return otherKind === undefined || !('fault' in result)
    ? result
    : { fault: result.fault, stage: 'decoding' }
}

const isFault = (value: FileFault | Fields): value is FileFault =>
  typeof value['fault'] === 'string'
