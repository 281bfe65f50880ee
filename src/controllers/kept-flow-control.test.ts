import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { keepFlowControl } from './kept-flow-control.ts'

const collection = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
const spec = {
  matchingPrecedence: 10_000,
  rules: [{ subjects: [{ kind: 'Group', group: { name: 'system:masters' } }] }],
}
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }
const own = { metadata: { name: 'catch-all', annotations }, spec }

for (const others of [0, 1000]) {
  test(`a default flow-control object that is already correct is not written if the list has ${others} other objects`, async () => {
    const items = Array.from({ length: others }, (_, at) => ({
      metadata: { name: `flow-schema-of-a-user-${at}` },
      spec,
    }))
    const written: string[] = []
    const handle: Handler = async ({ method, path }) => {
      if (method !== 'GET') written.push(path)
      return {
        status: 200,
        headers: {},
        body: Buffer.from(JSON.stringify({ items: [own, ...items] })),
      }
    }
    await keepFlowControl(handle, [{ collection, object: own }], new AbortController().signal)
    assert.deepEqual(written, [])
  })
}
