import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientStream } from './client-stream.ts'
import { CODE } from './protocol.ts'

test('if the peer ends a paused stream, canceling the stream calls onClose exactly once', () => {
  const closed: number[] = []
  const data: string[] = []
  const owner = {
    send: () => assert.fail(),
    cancel: () => assert.fail(),
    returnWindow: () => undefined,
    widen: () => undefined,
  }
  const listener = {
    onHead: () => undefined,
    onData: (chunk: Buffer) => void data.push(String(chunk)),
    onTrailers: () => undefined,
    onClose: (code: number) => void closed.push(code),
  }
  const stream = new ClientStream(owner, { id: 1, sendWindow: 1, receiveWindow: 1, listener })
  stream.pause()
  stream.receive(Buffer.from('a'))
  stream.close(CODE.NO_ERROR)
  assert.deepEqual(closed, [])
  stream.cancel(CODE.CANCEL)
  stream.cancel(CODE.CANCEL)
  stream.resume()
  assert.deepEqual([closed, data], [[CODE.CANCEL], []])
})
