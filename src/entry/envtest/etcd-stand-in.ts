/**
 * Replaces etcd for tests that start etcd next to `kube-apiserver` (docs/from-envtest.md). It
 * serves health checks and a path by which Keelson recognizes it. It is a separate program, so that
 * it does not load the code of the server.
 */
import { createServer } from 'node:http'
import { exitWithParent, parentVariable } from './parent.ts'
import { standInAnswer, standInPath } from './stand-in.ts'

const FAILURE = 1
const PORT_DEFAULT = '2379'

function listenUrls(args: readonly string[]): URL[] {
  const at = args.findIndex((argument) => /^--?listen-client-urls(=|$)/.test(argument))
  const [, inline] = /=(.*)$/.exec(args[at] ?? '') ?? []
  const given = at === -1 ? '' : (inline ?? args[at + 1] ?? '')
  return (given || `http://127.0.0.1:${PORT_DEFAULT}`).split(',').map((one) => new URL(one))
}

for (const { hostname, port, protocol } of listenUrls(process.argv.slice(2))) {
  if (protocol !== 'http:') {
    process.stderr.write(
      `etcd (stand-in of Keelson): --listen-client-urls must use http, not ${protocol}\n`,
    )
    process.exit(FAILURE)
  }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/health') response.end('{"health":"true","reason":""}')
    else if (request.url === standInPath) response.end(standInAnswer)
    else
      response
        .writeHead(501)
        .end('{"error":"this is not etcd but the stand-in of Keelson, which stores nothing"}')
  })
  server.on('error', (error) => {
    process.stderr.write(
      `etcd (stand-in of Keelson): cannot listen (${error.message}): choose other --listen-client-urls\n`,
    )
    process.exit(FAILURE)
  })
  server.listen(Number(port || PORT_DEFAULT), hostname.replace(/^\[|\]$/g, ''))
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
exitWithParent({ given: process.env[parentVariable], onGone: () => process.exit(0) })
