/**
 * The worker thread that converts large YAML bodies. It answers each message with one message.
 */
import { parentPort } from 'node:worker_threads'
import { ApiError } from '../../api/errors.ts'
import { assert } from '../../lib/errors.ts'
import { YamlError } from './yaml-error.ts'
import { convertYaml, type YamlAnswer } from './yaml.ts'

const port = parentPort
assert(port !== null, 'the YAML worker runs in a thread of its own')

port.on('message', ({ id, bytes }: { readonly id: number; readonly bytes: Uint8Array }) => {
  port.postMessage(answer(id, bytes))
})

function answer(id: number, bytes: Uint8Array): YamlAnswer {
  try {
    const { json, duplicates } = convertYaml(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    )
    return { id, json, duplicates }
  } catch (error) {
    if (error instanceof YamlError || error instanceof ApiError) return { id, fault: error.message }
    throw error
  }
}
