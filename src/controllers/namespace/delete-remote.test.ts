import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handler } from '../../api/request.ts'
import { deleteRemote } from './delete-remote.ts'

const resource = {
  group: 'example.com',
  version: 'v1',
  plural: 'things',
  verbs: ['list', 'delete', 'deletecollection'],
}
const path = '/apis/example.com/v1/namespaces/n/things'
const { signal } = new AbortController()
const isEnding = async (): Promise<boolean> => true
const each = { ...resource, verbs: ['list', 'delete'] }

/** Creates a server that has these objects until they are deleted. `asked` records the requests. */
function remote(
  names: string[],
  finalizers?: readonly string[],
): { handle: Handler; asked: string[] } {
  const asked: string[] = []
  const handle: Handler = async ({ method, path: at }) => {
    asked.push(`${method} ${at}`)
    if (method === 'DELETE' && finalizers === undefined) {
      const name = at.slice(path.length + 1)
      if (name === '') names.length = 0
      else names.splice(names.indexOf(name), 1)
    }
    const items = names.map((name) => ({ metadata: { name, finalizers } }))
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ items })) }
  }
  return { handle, asked }
}

const answering =
  (status: number, text: string): Handler =>
  async () => ({ status, headers: {}, body: Buffer.from(text) })

test('the objects of a remote resource are deleted as a collection, or one by one', async () => {
  const both = remote(['a', 'b'])
  assert.deepEqual(await deleteRemote(resource, 'n', { ...both, isEnding, signal }), {
    count: 0,
    finalizers: new Map(),
  })
  assert.deepEqual(both.asked, [`GET ${path}`, `DELETE ${path}`, `GET ${path}`])
  const single = remote(['a', 'b'])
  await deleteRemote(each, 'n', { ...single, isEnding, signal })
  assert.deepEqual(single.asked, [
    `GET ${path}`,
    `DELETE ${path}/a`,
    `DELETE ${path}/b`,
    `GET ${path}`,
  ])
  const none = remote([])
  await deleteRemote(resource, 'n', { ...none, isEnding, signal })
  assert.deepEqual(none.asked, [`GET ${path}`])
})

test('the remaining objects of a remote resource are counted, with their finalizers or an error', async () => {
  const held = await deleteRemote(resource, 'n', {
    ...remote(['a', 'b'], ['hold']),
    isEnding,
    signal,
  })
  assert.deepEqual(held, { count: 2, finalizers: new Map([['hold', 2]]) })
  const kept = await deleteRemote(resource, 'n', { ...remote(['a'], []), isEnding, signal })
  assert.match(
    kept.fault ?? '',
    /unexpected items still remain in namespace: n for gvr: example\.com\/v1, Resource=things/,
  )
})

test('a remote resource that no longer exists counts as a resource without objects', async () => {
  const gone = answering(404, '404 page not found\n')
  assert.deepEqual(await deleteRemote(resource, 'n', { handle: gone, isEnding, signal }), {
    count: 0,
    finalizers: new Map(),
  })
})

test('the error for a failed request contains the message of the remote server, or else the status code', async () => {
  const away = answering(503, 'service unavailable\n')
  assert.match(
    (await deleteRemote(resource, 'n', { handle: away, isEnding, signal })).fault ?? '',
    /things returned status 503$/,
  )
  const refused = answering(403, JSON.stringify({ message: 'not you' }))
  assert.equal(
    (await deleteRemote(resource, 'n', { handle: refused, isEnding, signal })).fault,
    'not you',
  )
})

test('no object is deleted if the namespace was replaced by a new one with the same name', async () => {
  for (const one of [resource, each]) {
    const { handle, asked } = remote(['a', 'b'])
    const { fault } = await deleteRemote(one, 'n', { handle, isEnding: async () => false, signal })
    assert.equal(fault, 'the namespace is no longer being deleted')
    assert.deepEqual(asked, [`GET ${path}`])
  }
})

test('the deletion stops when the namespace is no longer being deleted', async () => {
  const { handle, asked } = remote(['a', 'b', 'c'])
  const { fault } = await deleteRemote(each, 'n', {
    handle,
    isEnding: async () => asked.length < 3,
    signal,
  })
  assert.equal(fault, 'the namespace is no longer being deleted')
  assert.deepEqual(asked, [`GET ${path}`, `DELETE ${path}/a`, `DELETE ${path}/b`])
})

test('the deletion stops when the controller stops', async () => {
  const { handle, asked } = remote(['a', 'b', 'c'])
  const stopping = new AbortController()
  const stopsAfterFirst: Handler = async (request, user) => {
    if (request.method === 'DELETE') stopping.abort()
    return handle(request, user)
  }
  await deleteRemote(each, 'n', { handle: stopsAfterFirst, isEnding, signal: stopping.signal })
  assert.deepEqual(asked, [`GET ${path}`, `DELETE ${path}/a`])
})
