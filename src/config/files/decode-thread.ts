/**
 * Decodes a large configuration file on a thread of its own, which ends with it: a file of 1 MB
 * takes a tenth of a second and more.
 */
import { startOwnThread } from '../../lib/process/own-files.ts'
import type { Scheme } from '../../objects/schema/object-schema.ts'
import { type DecodedFile, decodeFile, type FileFault } from './decode-file.ts'

/** The limit of its heap: a file of 1 MB takes a tenth of it. */
const MEGABYTES_MAX = 256

/** What can be posted of a decoded file. */
export type PostedFile =
  | (Omit<DecodedFile, 'known' | 'isVersioned'> & { readonly hubName: string })
  | FileFault

export type DecodeTask = { readonly bytes: Uint8Array; readonly schemeName: string }

/** Fails if the thread does. */
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

/** The same on this thread. */
export function decodeHere(bytes: Buffer, scheme: Scheme): PostedFile {
  const decoded = decodeFile(bytes, scheme)
  if ('fault' in decoded) return decoded
  const { fields, known, strictFault } = decoded
  return { fields, hubName: known.hubName, strictFault }
}
