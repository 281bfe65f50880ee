/** Clients that go away while their request is still being worked on: nothing is done that they did not ask for, and nothing stays. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { ApiRequest, ApiResponse } from '../../src/api/request.ts'
import { Listener } from '../../src/http/listener.ts'
import { createSelfSigned } from '../../src/lib/x509/certificates.ts'
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  headersFrame,
  RawHttp2,
  requestFields,
  reset,
} from '../harness/raw-http2.ts'

const CANCEL = 8

/** A handler that answers when the test says so. */
async function start() {
  const asked: { readonly request: ApiRequest; readonly answer: (response: ApiResponse) => void }[] = []
  let onAsked: (() => void) | undefined
  const complaints: string[] = []
  const listener = new Listener({
    ...createSelfSigned('gone', ['127.0.0.1'], Date.now()),
    handler: (request) =>
      new Promise((answer) => {
        asked.push({ request, answer })
        onAsked?.()
      }),
    log: (level, message, fields) => level === 'error' && complaints.push(`${message} ${JSON.stringify(fields)}`),
  })
  await listener.listen(0, '127.0.0.1')
  return {
    listener,
    complaints,
    next: async () => {
      for (;;) {
        const first = asked.shift()
        if (first !== undefined) return first
        await new Promise<void>((resolve) => {
          onAsked = resolve
        })
      }
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  }
}

const end: ApiResponse = { status: 200, headers: {}, body: Buffer.alloc(0) }

test('a body that was given up is not taken for an empty one', async () => {
  await using server = await start()
  using client = await RawHttp2.open(server.listener.port)
  const fields = requestFields('DELETE', '/')
  await client.send(
    headersFrame(1, fields, END_HEADERS),
    frame(FRAME.DATA, END_STREAM, 1, Buffer.from('{"dryRun":["All"]}')),
  )
  const { request, answer } = await server.next()
  const { signal } = request
  await client.send(reset(1, CANCEL))
  if (!signal.aborted) await once(signal, 'abort')
  await assert.rejects(request.body(), /the connection ended before the body did/)
  answer(end)
})
