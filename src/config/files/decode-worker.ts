/** Entry point of the worker thread that decodes a large configuration file. */
import { parentPort, workerData } from 'node:worker_threads'
import { assert } from '../../lib/errors.ts'
import { decodeHere, type DecodeTask } from './decode-thread.ts'
import { authenticationScheme, authorizationScheme, encryptionScheme } from './schemes.ts'

const { bytes, schemeName }: DecodeTask = workerData
const scheme = [authenticationScheme, authorizationScheme, encryptionScheme].find(
  ({ name }) => name === schemeName,
)
assert(scheme !== undefined, 'the file is of a type that is reloaded')
const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(decodeHere(file, scheme))
