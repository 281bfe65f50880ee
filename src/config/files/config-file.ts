/**
 * Reads a configuration file: decodes it by its scheme, sets defaults, converts it to an internal
 * type, and validates it. A ConfigFileType describes each type of file.
 */
import type { Fields } from '../../api/object.ts'
import type { Scheme } from '../../objects/schema/object-schema.ts'
import type { FileFault } from './decode-file.ts'
import { decodeHere, decodeOnThread, type PostedFile } from './decode-thread.ts'

/**
 * Maximum size of a file, which is also the maximum size of a ConfigMap or Secret. The size is
 * limited because validation takes place in a single tick of the event loop.
 */
export const CONFIG_BYTES_MAX = 1 << 20
/**
 * Larger files are decoded on a worker thread, because decoding them would block the event loop for
 * several milliseconds.
 */
const INLINE_BYTES_MAX = 64 << 10

export type ConfigFileType<T> = {
  readonly scheme: Scheme
  readonly kind: string
  /**
   * The result for an empty file: an error, or these fields. Undefined if an empty file is parsed
   * like any other file.
   */
  readonly ofEmpty?: FileFault | Fields
  /**
   * Whether unknown and duplicate fields are ignored, as kube-apiserver does for some kinds of
   * files.
   */
  readonly isLenient?: boolean
  /** Returns the error message for a file of another kind, if the scheme contains that kind. */
  readonly unexpected?: (hubName: string) => string
  /**
   * Called before `read` when a file is reloaded. Does the slow parts of the work in advance and
   * without blocking the event loop, so that `read` takes little time.
   */
  readonly prepare?: (fields: Fields) => Promise<void>
  /**
   * Sets defaults, converts the fields and validates them. All errors are joined into one message.
   */
  readonly read: (fields: Fields) => FileRead<T>
}

/**
 * The decoded value, or an error. For some files, kube-apiserver's messages have a different prefix
 * if decoding fails than if validation fails. `stage` distinguishes these cases.
 */
export type FileRead<T> = { readonly value: T } | (FileFault & { readonly stage?: 'decoding' })

/** Reads a file at startup. This can block the event loop, because no requests are served yet. */
export function readConfigFile<T>(bytes: Buffer, type: ConfigFileType<T>): FileRead<T> {
  const opened = open(bytes, type) ?? described(decodeHere(bytes, type.scheme), type)
  return 'fields' in opened ? finish(opened, type) : opened
}

/** Reads a file while the server runs, without blocking the event loop. */
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
  /** The kind of the file, if it differs from the expected kind. */
  readonly otherKind: string | undefined
}

export const tooLarge = ({ length }: Buffer): string =>
  `the file has ${length} bytes; at most ${CONFIG_BYTES_MAX} are allowed`

/**
 * Handles files that are too large or empty, which are not decoded. Returns undefined for all other
 * files.
 */
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
  // Report only the most important type of error: a decoding error, otherwise unknown or duplicate
  // fields, otherwise a validation error.
  if ('fault' in result && result.stage === 'decoding') return result
  if (strictFault !== undefined && !isLenient) return { fault: strictFault, stage: 'decoding' }
  return otherKind === undefined || !('fault' in result)
    ? result
    : { fault: result.fault, stage: 'decoding' }
}

const isFault = (value: FileFault | Fields): value is FileFault =>
  typeof value['fault'] === 'string'
