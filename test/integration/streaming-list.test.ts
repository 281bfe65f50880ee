/**
 * Tests protobuf watches that start with many objects and are read slowly. The frames of a batch
 * are in memory that the next batch reuses.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { get } from 'node:https'
import type { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { decodeObject, openEnvelope } from '../../src/objects/codec/protobuf/envelope.ts'
import { ProtobufReader } from '../../src/objects/codec/protobuf/reader.ts'
import { fieldsOf, textOf } from '../../src/api/object.ts'
import { commonType } from '../../src/registry/types.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const COUNT = 200
/**
 * Size of the text in each object. All objects together have about 2 MB. This is several batches of
 * the server, and exceeds the flow-control windows of a client that does not read.
 */
const TEXT_BYTES = 10_000
/** Pause after each chunk, which makes the client slower than the server. */
const PAUSE_MS = 2
const accept = 'application/vnd.kubernetes.protobuf;stream=watch'
const authorization = `Bearer ${adminToken}`
const folder = '/api/v1/namespaces/default/configmaps'
const path = `${folder}?watch=true&resourceVersion=0&fieldSelector=metadata.name!%3Dkube-root-ca.crt`

let server: TestServer
let client: Client
/**
 * The text of each object, by the name of the object. A text consists of repetitions of the
 * object's number.
 */
const texts = new Map<string, string>()

before(async () => {
  server = await startTestServer()
  client = clients['HTTP/2']?.(server.url) ?? assert.fail('there is a client')
  for (let at = 0; at < COUNT; at++) {
    const name = `cm-${at}`
    texts.set(name, `${at} `.repeat(TEXT_BYTES).slice(0, TEXT_BYTES))
    await client.call({
      method: 'POST',
      path: folder,
      body: { metadata: { name }, data: { text: texts.get(name) } },
    })
  }
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

test('a slow watch over HTTP/2 receives every object intact', async () => {
  // Use the smallest flow-control window, so that the server sends each batch in many chunks.
  const session = connect(server.url, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 65_535 },
  })
  try {
    await checkObjects(session.request({ ':path': path, accept, authorization }))
  } finally {
    session.destroy()
  }
})

test('a slow watch over HTTP/1.1 receives every object intact', async () => {
  const answer = await new Promise<Readable>((resolve, reject) => {
    const options = { headers: { accept, authorization }, rejectUnauthorized: false, agent: false }
    get(`${server.url}${path}`, options, resolve).on('error', reject)
  })
  try {
    await checkObjects(answer)
  } finally {
    answer.destroy()
  }
})

/** Reads events until all objects have arrived, and verifies the objects. */
async function checkObjects(stream: Readable): Promise<void> {
  const seen = new Map<string, string>()
  let bytes: Buffer = Buffer.alloc(0)
  for await (const piece of stream) {
    bytes = Buffer.concat([bytes, piece])
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE()) {
      const end = 4 + bytes.readUInt32BE()
      const { name, text } = readEvent(bytes.subarray(4, end))
      seen.set(name, text)
      bytes = bytes.subarray(end)
    }
    if (seen.size === COUNT) break
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  assert.deepEqual(seen, texts)
}

function readEvent(event: Buffer): { name: string; text: string } {
  let object: Buffer = Buffer.alloc(0)
  const reader = new ProtobufReader(event)
  reader.fields((tag) => {
    if (tag === 0x0a) assert.equal(reader.text(), 'ADDED')
    else if (tag === 0x12) {
      reader.message(() =>
        reader.fields((inner) => {
          if (inner !== 0x0a) return false
          object = Buffer.from(reader.bytes())
          return true
        }),
      )
    } else return false
    return true
  })
  const { metadata, data } = decodeObject(openEnvelope(object), commonType('core/v1', 'ConfigMap'))
  return { name: metadata.name ?? '', text: textOf(fieldsOf(data)['text']) }
}
