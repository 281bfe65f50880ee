/**
 * An authorization webhook that allows every request after a fixed time. A request occupies its
 * seats during this time. All requests therefore take equally long on both servers, and only the
 * decisions of flow control can differ.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * Time in ms that each authorization takes. It is long compared with the delays that a busy machine
 * adds.
 */
export const SERVICE_MS = 250

export type DelayingAuthorizer = AsyncDisposable & { readonly kubeconfig: string }

export async function startDelayingAuthorizer(): Promise<DelayingAuthorizer> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const review: { readonly apiVersion: string } = JSON.parse(body)
      setTimeout(() => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ ...review, status: { allowed: true } }))
      }, SERVICE_MS)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the authorizer has no port')
  const { port } = address
  return {
    kubeconfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/` } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
