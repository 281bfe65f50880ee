/**
 * How a configuration file becomes a value: decoded by its scheme, then defaulted, converted to one shape whatever its version, and
 * checked. A type of file is the data below and one function.
 */
import type { Fields } from '../../api/object.ts'
import type { Scheme } from '../../schema/object-schema.ts'
import { decodeFile, type FileFault } from './decode-file.ts'

export type ConfigFileType<T> = {
  readonly scheme: Scheme
  readonly kind: string
  /** What an empty file is; absent: a file like any other. */
  readonly ofEmpty?: FileFault | Fields
  /** Defaults, conversion and rules. The fault is one text for all that is wrong. */
  readonly read: (fields: Fields) => FileRead<T>
}

/** `stage`: some files tell faults of their form and of their rules in different sentences. */
export type FileRead<T> = { readonly value: T } | (FileFault & { readonly stage?: 'decoding' })

export function readConfigFile<T>(bytes: Buffer, type: ConfigFileType<T>): FileRead<T> {
  const { scheme, kind, ofEmpty } = type
  if (bytes.length === 0 && ofEmpty !== undefined) {
    return isFault(ofEmpty) ? { ...ofEmpty, stage: 'decoding' } : type.read(ofEmpty)
  }
  const decoded = decodeFile(bytes, scheme)
  if ('fault' in decoded) return { fault: decoded.fault, stage: 'decoding' }
  const { known, fields, strictFault } = decoded
  const isOther = !known.hubName.endsWith(`.${kind}`)
  const read: FileRead<T> = isOther ? { fault: '' } : type.read(fields)
  // A value that cannot be read at all is told before a field that nobody knows.
  if ('fault' in read && read.stage === 'decoding') return read
  if (strictFault !== undefined) return { fault: strictFault, stage: 'decoding' }
  return isOther ? { fault: `expected ${kind}, got *${known.hubName}`, stage: 'decoding' } : read
}

const isFault = (value: FileFault | Fields): value is FileFault => typeof value['fault'] === 'string'
