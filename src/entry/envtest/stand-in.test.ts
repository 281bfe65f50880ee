import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import { replaceStandIn, standInAnswer } from './stand-in.ts'

/**
 * Returns the result of `replaceStandIn` if --etcd-servers names a server that handles requests
 * with `answer`.
 */
async function replaced(answer: RequestListener): Promise<readonly string[]> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const at = server.address()
  const port = typeof at === 'object' && at !== null ? at.port : 0
  try {
    const args = ['--etcd-servers', `http://127.0.0.1:${port}`, '--v=1']
    return (await replaceStandIn(args)).map((argument) => argument.replace(`${port}`, 'PORT'))
  } finally {
    server.close()
  }
}

const real = ['--etcd-servers', 'http://127.0.0.1:PORT', '--v=1']
const standIn = ['--store=memory', '--v=1']

test('with the substitute for etcd, the server stores objects in memory', async () => {
  assert.deepEqual(await replaced((_, response) => response.end(standInAnswer)), standIn)
})

test('an etcd that does not respond immediately is queried again', async () => {
  let asked = 0
  const answer: RequestListener = (request, response) => {
    if (++asked < 3) request.socket.destroy()
    else response.end(standInAnswer)
  }
  assert.deepEqual(await replaced(answer), standIn)
})

test('a server is treated as etcd if its response is not that of the substitute for etcd', async () => {
  let asked = 0
  const answer: RequestListener = (_, response) => {
    asked++
    response.writeHead(404).end('404 page not found')
  }
  assert.deepEqual(await replaced(answer), real)
  assert.equal(asked, 1)
})
