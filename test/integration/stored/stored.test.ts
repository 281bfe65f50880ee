/**
 * Tests that data written by many versions of Kubernetes is read and written as by kube-apiserver.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import { clients, startTestServer } from '../support.ts'
import { type Answers, type Ask, askFor } from './ask.ts'
import { storedValues } from './values.ts'

type RecordedAnswers = {
  readonly [name: string]: { readonly json: Answers; readonly protobuf?: Answers }
}

const recorded: RecordedAnswers = JSON.parse(
  readFileSync(new URL('answers.json', import.meta.url), 'utf8'),
)

const parts = new AsyncDisposableStack()
let server: { readonly etcd: EtcdClient; readonly ask: Ask } | undefined

before(async () => {
  const { url, etcdUrl } = parts.use(
    await startTestServer(['--service-cluster-ip-range=10.0.0.0/16']),
  )
  const client = parts.use((clients['HTTP/2'] ?? assert.fail())(url))
  const headers = { 'content-type': 'application/merge-patch+json' }
  const ask: Ask = async ({ body, ...call }) => {
    const answer = await client.call({ ...call, ...(body === undefined ? {} : { body, headers }) })
    return { status: answer.status, body: JSON.parse(answer.text) }
  }
  server = { etcd: parts.use(new EtcdClient({ endpoints: [etcdUrl] })), ask }
})

after(() => parts.disposeAsync())

for (const value of storedValues) {
  for (const form of ['json', 'protobuf'] as const) {
    test(`${value.name}, stored as ${form}, is read and written as by kube-apiserver`, async () => {
      assert.ok(server, 'a server runs')
      const expected = recorded[value.name]
      assert.ok(expected, 'the responses are recorded')
      const answers = await askFor(value, form, server)
      if (answers !== undefined) assert.deepEqual(answers, expected[form] ?? expected.json)
    })
  }
}
