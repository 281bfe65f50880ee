/** Tests how audit backends that fail, block or stop affect requests and events. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createPlainServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { portOf } from '../support/harness/port-of.ts'
import { type Client, clients, startTestServer, type TestServer } from './support.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const rules = [{ level: 'None', users: ['system:apiserver'] }, { level: 'Metadata' }]

type StartedServer = { readonly dir: string; readonly server: TestServer; readonly client: Client }

const plainPolicy = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })

async function start(
  t: TestContext,
  args: (dir: string) => readonly string[],
  policy: string = plainPolicy,
): Promise<StartedServer> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-audit-'))
  await writeFile(join(dir, 'policy'), policy)
  const server = await startTestServer([`--audit-policy-file=${join(dir, 'policy')}`, ...args(dir)])
  const client = clients['HTTP/2']?.(server.url)
  assert.ok(client)
  t.after(async () => {
    await client[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })
  return { dir, server, client }
}

/**
 * Makes later writes to the audit log fail, as on a full disk. Replaces the log by a link to
 * /dev/full, which has an effect when the server opens the log.
 */
async function fillDisk(dir: string): Promise<void> {
  await rename(join(dir, 'audit.log'), join(dir, 'before.log'))
  await symlink('/dev/full', join(dir, 'audit.log'))
}

const create = (name: string) => ({ method: 'POST', path: maps, body: { metadata: { name } } })
const metric = (text: string, name: string): string =>
  new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? ''

for (const isStrict of [true, false]) {
  test(`if the disk of the audit log is full, requests ${isStrict ? 'fail' : 'succeed'}`, {
    timeout: 120_000,
  }, async (t) => {
    const mode = isStrict ? 'blocking-strict' : 'blocking'
    const { dir, server, client } = await start(t, (to) => [
      `--audit-log-path=${join(to, 'audit.log')}`,
      `--audit-log-mode=${mode}`,
    ])
    await fillDisk(dir)
    // The server opens the log when it writes to it for the first time, which is now.
    const { status, text } = await client.call(create('a'))
    assert.equal(status, isStrict ? 500 : 201)
    if (isStrict)
      assert.equal(text, `Internal Server Error: "${maps}": failed to store audit event\n`)
    const found = await client.call({ path: `${maps}/a` })
    assert.equal(found.status, isStrict ? 500 : 200)
    assert.ok(
      server.complaints.some(
        (line) => line.includes('an audit event was lost') && line.includes('ENOSPC'),
      ),
    )
    const metrics = await client.call({ path: '/metrics' })
    if (isStrict) return
    assert.notEqual(metric(metrics.text, 'apiserver_audit_error_total\\{plugin="log"\\}'), '')
    assert.equal(metric(metrics.text, 'apiserver_audit_requests_rejected_total'), '0')
  })
}

type Item = { readonly stage?: string; readonly requestURI?: string }
type Receiver = { readonly server: Server; readonly items: Item[]; failures: number }

async function startReceiver(t: TestContext): Promise<Receiver & { readonly kubeconfig: object }> {
  const receiver: Receiver = { server: createServer(), items: [], failures: 0 }
  const { server, items } = receiver
  server.on('request', (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (receiver.failures > 0) {
        receiver.failures--
        response.writeHead(503).end()
        return
      }
      items.push(...JSON.parse(Buffer.concat(chunks).toString()).items)
      response.writeHead(200).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const kubeconfig = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${address.port}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    'current-context': 'c',
  }
  return Object.assign(receiver, { kubeconfig })
}

async function startWithHook(t: TestContext, args: readonly string[]) {
  const receiver = await startReceiver(t)
  const path = join(await mkdtemp(join(tmpdir(), 'keelson-audit-hook-')), 'kubeconfig')
  t.after(() => rm(join(path, '..'), { recursive: true, force: true }))
  await writeFile(path, JSON.stringify(receiver.kubeconfig))
  return { receiver, ...(await start(t, () => [`--audit-webhook-config-file=${path}`, ...args])) }
}

test('with an audit webhook in blocking mode, events are delivered before the response, even after failures', {
  timeout: 120_000,
}, async (t) => {
  const flags = ['--audit-webhook-mode=blocking', '--audit-webhook-initial-backoff=10ms']
  const { receiver, client } = await startWithHook(t, flags)
  receiver.failures = 2
  assert.equal((await client.call(create('a'))).status, 201)
  assert.deepEqual(
    receiver.items.map(({ stage }) => stage),
    ['RequestReceived', 'ResponseComplete'],
  )
})

test('audit events that are waiting for their batch are sent when the server stops', {
  timeout: 120_000,
}, async (t) => {
  const { receiver, client, server } = await startWithHook(t, [
    '--audit-webhook-batch-max-wait=10m',
  ])
  await client.call(create('a'))
  assert.deepEqual(receiver.items, [])
  await client[Symbol.asyncDispose]()
  await server.stop()
  assert.equal(receiver.items.length, 2)
})

test('an audit log that is written in batches is complete after the server has stopped', {
  timeout: 120_000,
}, async (t) => {
  const { dir, client, server } = await start(t, (to) => [
    `--audit-log-path=${join(to, 'audit.log')}`,
    '--audit-log-mode=batch',
    '--audit-log-batch-max-size=100',
    '--audit-log-batch-max-wait=10m',
  ])
  await client.call({ path: maps })
  await client[Symbol.asyncDispose]()
  await server.stop()
  assert.equal((await readFile(join(dir, 'audit.log'), 'utf8')).trimEnd().split('\n').length, 2)
})

test('the example policy of docs/access.md works as described', { timeout: 120_000 }, async (t) => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'access.md'), 'utf8')
  const [, policy = ''] =
    /^```yaml file=audit\.yaml\n(.*?)^```$/ms.exec(page) ?? assert.fail('there is a policy')
  const { dir, client } = await start(
    t,
    (to) => [`--audit-log-path=${join(to, 'audit.log')}`],
    policy,
  )
  await client.call({ path: '/livez' })
  await client.call({ ...create('s'), path: '/api/v1/namespaces/default/secrets' })
  await client.call(create('m'))
  await client.call({ path: maps })
  const lines = (await readFile(join(dir, 'audit.log'), 'utf8')).trimEnd().split('\n')
  const shown = lines.map((line) => {
    const { level, stage, objectRef, requestObject } = JSON.parse(line)
    return `${level} ${stage} ${objectRef.resource}${requestObject === undefined ? '' : ' with object'}`
  })
  assert.deepEqual(shown, [
    'Metadata RequestReceived secrets',
    'Metadata ResponseComplete secrets',
    'RequestResponse RequestReceived configmaps',
    'RequestResponse ResponseComplete configmaps with object',
    'Metadata ResponseComplete configmaps',
  ])
})

test('if a trace collector and a webhook never respond, lost audit events are still reported', async () => {
  const hole = createPlainServer(
    (socket) => void socket.on('error', () => undefined).resume(),
  ).listen(0, '127.0.0.1')
  const dir = mkdtempSync(join(tmpdir(), 'keelson-silent-'))
  try {
    await once(hole, 'listening')
    const address = `127.0.0.1:${portOf(hole)}`
    const file = (name: string, content: object): string => {
      writeFileSync(join(dir, name), JSON.stringify(content))
      return join(dir, name)
    }
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster: { server: `http://${address}` } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: {} }],
      'current-context': 'a',
    }
    const tracing = {
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'TracingConfiguration',
      endpoint: address,
      samplingRatePerMillion: 1_000_000,
    }
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }
    const server = await startTestServer([
      `--tracing-config-file=${file('tracing', tracing)}`,
      `--audit-policy-file=${file('policy', policy)}`,
      `--audit-webhook-config-file=${file('webhook', kubeconfig)}`,
    ])
    await using client = clients['HTTP/2']?.(server.url) ?? assert.fail()
    assert.equal((await client.call({ path: '/api/v1/namespaces' })).status, 200)
    // Dispose of the server. This fails if one of its components does not stop.
    await server[Symbol.asyncDispose]()
    assert.ok(server.complaints.some((line) => line.includes('an audit event was lost')))
  } finally {
    hole.close()
    rmSync(dir, { recursive: true })
  }
})

test('a process can exit even if no process reads its standard output', async () => {
  const module = JSON.stringify(
    join(import.meta.dirname, '../../src/request/audit/standard-output.ts'),
  )
  const script = `void (await import(${module})).standardOutput.append(Buffer.alloc(1 << 22)); setTimeout(() => process.exit(0), 200)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  const [code, signal]: unknown[] = await once(child, 'exit')
  clearTimeout(timer)
  assert.deepEqual([code, signal], [0, null])
})
