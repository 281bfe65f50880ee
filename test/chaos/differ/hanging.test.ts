/** Tests that a server that does not respond does not block a run. */
import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { reduce } from './reduce.ts'
import { Runner } from './runner.ts'
import type { Step } from './step.ts'
import { Target } from './target.ts'
import { takeAll } from './work.ts'

const asked: string[] = []

/**
 * Starts a server that responds with its name, and with 404 at /missing. For a watch without
 * timeoutSeconds, it sends the headers and one line, and never ends the response.
 */
async function startServer(
  name: string,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    asked.push(request.url ?? '')
    response.setHeader('content-type', 'application/json')
    if (request.url === '/missing') response.statusCode = 404
    const isEndless = searchParams.has('watch') && !searchParams.has('timeoutSeconds')
    if (isEndless) response.write('{}\n')
    else response.end(JSON.stringify({ kind: searchParams.has('watch') ? name : 'Same' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(isAddress(address))
  return { url: `http://127.0.0.1:${address.port}`, server }
}

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === 'object' && address !== null

const [one, other] = await Promise.all([startServer('One'), startServer('Other')])
after(() => {
  for (const { server } of [one, other]) {
    server.closeAllConnections()
    server.close()
  }
})

test('when a failing case is reduced to fewer steps, the timeout of its watch is not removed', async () => {
  using reference = new Target({ url: one.url, token: '' }, { answerMsMax: 20_000 })
  using keelson = new Target({ url: other.url, token: '' }, { answerMsMax: 20_000 })
  const runner = new Runner(reference, keelson)
  const query = { watch: 'true', timeoutSeconds: '1', labelSelector: 'a' }
  const steps: Step[] = [{ id: 'r0', method: 'GET', path: '/api/v1/namespaces/$ns/pods', query }]
  const outcome = await runner.run(steps)
  const [difference] = outcome.differences
  assert.ok(difference !== undefined)
  const reduced = await reduce(runner, outcome, { difference, trialsMax: 20 })
  assert.deepEqual(reduced.steps[0]?.query, { watch: 'true', timeoutSeconds: '1' })
  assert.deepEqual([...reference.unanswered, ...keelson.unanswered], [])
  assert.ok(asked.every((url) => !url.includes('watch') || url.includes('timeoutSeconds')))
})

test('a case ends if neither server ever serves the resource that the case waits for', async () => {
  using reference = new Target({ url: one.url, token: '' }, { waitMsMax: 0 })
  using keelson = new Target({ url: other.url, token: '' }, { waitMsMax: 0 })
  const wait: Step = { id: 'w', method: 'GET', path: '/missing', wait: true }
  const { steps } = await new Runner(reference, keelson).run([wait, wait, wait])
  assert.equal(steps.length, 1)
})

test('a request without a complete response times out and is added to the list of unanswered requests', async () => {
  using target = new Target({ url: one.url, token: '' }, { answerMsMax: 50 })
  const step: Step = { id: 'r0', method: 'GET', path: '/api/v1/pods', query: { watch: 'true' } }
  const answer = await target.send(step, { ns: 'x', answers: new Map() })
  assert.deepEqual(answer.body, { broken: 'no complete response within 0.05 s' })
  assert.deepEqual(target.unanswered, ['GET /api/v1/pods?watch=true'])
})

test('if a case of a comparison does not finish, the run ends with an error that names the case', async () => {
  const never = new Promise<void>(() => undefined)
  const running = takeAll(['a', 'b'], { minutes: 1, concurrency: 2, pieceMsMax: 20 }, (piece) =>
    piece === 'a' ? Promise.resolve() : never,
  )
  await assert.rejects(running, /b did not end within/)
})
