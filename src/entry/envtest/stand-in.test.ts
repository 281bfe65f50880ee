import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import { replaceStandIn, standInAnswer } from './stand-in.ts'

/** Returns the flags of a server that is started beside an etcd with this response. */
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

test('a server beside a stand-in uses no etcd', async () => {
  assert.deepEqual(await replaced((_, response) => response.end(standInAnswer)), standIn)
})

test('an etcd that does not respond at once is asked again', async () => {
  let asked = 0
  const answer: RequestListener = (request, response) => {
    if (++asked < 3) request.socket.destroy()
    else response.end(standInAnswer)
  }
  assert.deepEqual(await replaced(answer), standIn)
})

test('a server that responds in another way is an etcd', async () => {
  let asked = 0
  const answer: RequestListener = (_, response) => {
    asked++
    response.writeHead(404).end('404 page not found')
  }
  assert.deepEqual(await replaced(answer), real)
  assert.equal(asked, 1)
})
