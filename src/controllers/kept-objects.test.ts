import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../api/request.ts'
import { keepObjects } from './kept-objects.ts'

const service = {
  collection: '/api/v1/namespaces/default/services',
  object: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'kubernetes' } },
}

/**
 * Creates a handler that records the requests. The status of each response is the next one in the
 * list.
 */
function scripted(statuses: readonly number[]): { handle: Handler; asked: string[] } {
  const asked: string[] = []
  const handle: Handler = async ({ method, path }) => {
    asked.push(`${method} ${path}`)
    return { status: statuses[asked.length - 1] ?? 500, headers: {}, body: Buffer.alloc(0) }
  }
  return { handle, asked }
}

const keep = (handle: Handler): Promise<void> =>
  keepObjects(handle, [service], new AbortController().signal)

test('a missing object is created', async () => {
  const { handle, asked } = scripted([404, 201])
  await keep(handle)
  assert.deepEqual(asked, [`GET ${service.collection}/kubernetes`, `POST ${service.collection}`])
})

test('if a create is rejected, the object is read again, because another client may have created it', async () => {
  const { handle, asked } = scripted([404, 422, 200])
  await keep(handle)
  assert.equal(asked.at(-1), `GET ${service.collection}/kubernetes`)
})

test('a rejected create of an object that still does not exist is an error', async () => {
  await assert.rejects(
    keep(scripted([404, 422, 404]).handle),
    /kubernetes is missing .* status 422/,
  )
})
