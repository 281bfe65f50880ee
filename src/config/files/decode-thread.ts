/**
 * Decodes a large configuration file on a worker thread, because decoding 1 MB takes 100 ms or
 * more. The thread ends after the file is decoded.
 */
import { startOwnThread } from '../../lib/process/own-files.ts'
import type { Scheme } from '../../objects/schema/object-schema.ts'
import { type DecodedFile, decodeFile, type FileFault } from './decode-file.ts'

/**
 * Maximum heap size of the thread in megabytes. Decoding a file of 1 MB needs a tenth of this size.
 */
const MEGABYTES_MAX = 256

/**
 * A decoded file without the parts that cannot be sent from the worker thread to the main thread,
 * or the error.
 */
export type PostedFile =
  | (Omit<DecodedFile, 'known' | 'isVersioned'> & { readonly hubName: string })
  | FileFault

export type DecodeTask = { readonly bytes: Uint8Array; readonly schemeName: string }

/** Decodes a file on a new thread. Rejects if the thread fails. */
export function decodeOnThread(bytes: Buffer, scheme: Scheme): Promise<PostedFile> {
  const workerData: DecodeTask = { bytes, schemeName: scheme.name }
  const resourceLimits = { maxOldGenerationSizeMb: MEGABYTES_MAX }
  const worker = startOwnThread('./decode-worker', import.meta.url, { workerData, resourceLimits })
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the thread that decodes the file ended')))
  })
}

/** Decodes a file on the current thread. */
export function decodeHere(bytes: Buffer, scheme: Scheme): PostedFile {
  const decoded = decodeFile(bytes, scheme)
  if ('fault' in decoded) return decoded
  const { fields, known, strictFault } = decoded
  return { fields, hubName: known.hubName, strictFault }
}
