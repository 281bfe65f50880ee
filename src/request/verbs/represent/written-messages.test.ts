import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WrittenMessages } from './written-messages.ts'

const objectOf = (name: string) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name } })

test('the protobuf message of a write can be taken only once, and only the newest 32 messages of all resources are retained', () => {
  const written = new WrittenMessages()
  const objects = Array.from({ length: 33 }, (_, at) => objectOf(`${at}`))
  for (const object of objects) written.keep(object, Buffer.from(object.metadata.name))
  const taken = objects.map((object) => written.take(object)?.toString())
  assert.deepEqual(taken, [undefined, ...objects.slice(1).map(({ metadata }) => metadata.name)])
  assert.deepEqual(
    objects.map((object) => written.take(object)),
    objects.map(() => undefined),
  )
})

test('a long protobuf message is not retained', () => {
  const written = new WrittenMessages()
  const object = objectOf('a')
  written.keep(object, Buffer.alloc((8 << 10) + 1))
  assert.equal(written.take(object), undefined)
})
