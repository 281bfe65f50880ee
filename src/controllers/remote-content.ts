/** What remote API servers have in namespaces, as discovery tells it, and how a controller asks them about it: through this server. */
import { parseJson } from '../api/json-value.ts'
import { type Fields, fieldsOf } from '../api/object.ts'
import type { ApiResponse } from '../api/request.ts'

export type RemoteResource = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly verbs: readonly string[]
}

export type RemoteContent = {
  /** Namespaced ones, each in the preferred version. */
  readonly resources: readonly RemoteResource[]
  /** Versions, as `group/version`, whose server cannot be asked now what it has. */
  readonly stale: readonly string[]
}

/** An answer that is longer is a failure: it is asked for in pages. */
const ANSWER_BYTES_MAX = 32 << 20

/** The object that a remote server answered, which may come piece by piece. Empty: it is none. */
export async function remoteObject(response: ApiResponse): Promise<Fields> {
  const bytes = await bytesOf(response)
  try {
    return fieldsOf(parseJson(bytes))
  } catch {
    // A text, such as `service unavailable`.
    return {}
  }
}

async function bytesOf(response: ApiResponse): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  const add = (buffers: readonly Buffer[]): void => {
    for (const buffer of buffers) {
      length += buffer.length
      if (length > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`)
      parts.push(Buffer.from(buffer))
    }
  }
  if ('body' in response) {
    if (Buffer.isBuffer(response.body)) return response.body
    if (!('chunks' in response.body)) return Buffer.concat(response.body)
    for await (const buffers of response.body.chunks) add(buffers)
  } else if ('stream' in response) {
    for await (const buffers of response.stream) add(buffers)
  } else if ('frames' in response) {
    const { frames } = response
    for (let taken = frames.take(); taken !== undefined; taken = frames.take()) {
      add(taken)
      if (taken.length === 0) await new Promise<void>((resolve) => frames.onReady(resolve))
    }
  }
  return Buffer.concat(parts)
}
