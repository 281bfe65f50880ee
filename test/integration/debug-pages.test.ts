/**
 * Tests profiles and log verbosity over the API and over the debug socket, and the log line of a
 * slow request.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { until } from '../support/harness/until.ts'
import { adminToken, type Client, clients, startTestServer, type TestServer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-debug-'))
const socketPath = join(folder, 'debug.sock')
let server: TestServer
let client: Client

before(async () => {
  server = await startTestServer(['--authorization-mode=RBAC', `--debug-socket-path=${socketPath}`])
  client = clients['HTTP/2']?.(server.url) ?? assert.fail()
})

after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const bytesOf = (path: string): Promise<{ status: number; body: Buffer; type: string }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminToken}` }
    const sent = tlsRequest(
      `${server.url}${path}`,
      { headers, rejectUnauthorized: false, agent: false },
      (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(pieces),
            type: response.headers['content-type'] ?? '',
          }),
        )
      },
    )
    sent.on('error', reject).end()
  })

const bySocket = (method: string, path: string, body = '', at = socketPath): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = plainRequest({ socketPath: at, method, path, agent: false }, (response) => {
      let text = `${response.statusCode} `
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject).end(body)
  })

test('reading profiles requires permission', async () => {
  assert.equal((await client.call({ path: '/debug/pprof/', token: 'bob-token' })).status, 403)
  const found = await client.call({ path: '/debug/pprof' })
  assert.deepEqual([found.status, found.headers['location']], [302, '/debug/pprof/'])
  assert.match((await client.call({ path: '/debug/pprof/' })).text, /^<html>\n<head>/)
  assert.equal((await client.call({ path: '/debug/pprof/cmdline' })).status, 404)
})

test('a CPU profile is available in the formats of go tool pprof and Chrome', async (context) => {
  const busy = setInterval(() => void client.call({ path: '/api/v1/namespaces' }), 5)
  try {
    let body: Buffer = Buffer.alloc(0)
    // Repeat the request until the profile contains a function of the server. The samples are taken
    // at random times, so a profile might contain none.
    await until(async () => {
      const taken = await bytesOf('/debug/pprof/profile?seconds=1')
      assert.equal(taken.status, 200)
      body = taken.body
      const profile = gunzipSync(body)
      return profile.includes('nanoseconds') && profile.includes('/src/')
    }, 'a profile with a function of the server')
    const chrome = JSON.parse(
      (await bytesOf('/debug/pprof/profile?seconds=0.5&format=chrome')).body.toString(),
    )
    assert.ok(chrome.nodes.length > 1 && chrome.samples.length > 0)
    const { body: heap } = await bytesOf('/debug/pprof/allocs?seconds=1')
    assert.ok(gunzipSync(heap).includes('alloc_space'))
    const trace = JSON.parse((await bytesOf('/debug/pprof/trace?seconds=0.5')).body.toString())
    assert.ok(trace.traceEvents.length > 0)
    // Go compiles its tool first, which takes longer than all other tests of this file.
    if (process.env['PPROF'] !== 'go')
      context.diagnostic('go tool pprof was not run, because PPROF is not "go"')
    else
      for (const [name, bytes] of Object.entries({ profile: body, allocs: heap })) {
        const file = join(folder, name)
        writeFileSync(file, bytes)
        assert.match(readByGo(file), /flat%/, name)
      }
  } finally {
    clearInterval(busy)
  }
})

const readByGo = (file: string): string =>
  execFileSync('go', ['tool', 'pprof', '-top', '-nodecount=5', file], { encoding: 'utf8' })

test('only one profile can be recorded at a time', async () => {
  // Send two requests at the same time. One of them must be rejected.
  await until(async () => {
    const both = await Promise.all([
      bytesOf('/debug/pprof/profile?seconds=2'),
      bytesOf('/debug/pprof/profile?seconds=2'),
    ])
    const refused = both.filter(({ body }) => body.toString().includes('already in use'))
    return refused.length === 1 && both.some(({ status }) => status === 200)
  }, 'the refusal of the second profile')
})

test('the verbosity can be changed by a PUT while the server runs', async () => {
  const flag = '/debug/flags/v'
  const wrong = await client.call({ path: flag })
  assert.deepEqual(
    [wrong.status, wrong.text, wrong.headers['content-type']],
    [406, 'unsupported http method\n', 'text/plain'],
  )
  assert.match(
    (await client.call({ path: '/debug/flags' })).text,
    /^<html>\n<head>\n<title>\/debug\/flags/,
  )
  // The responses of kube-apiserver for each value.
  const answers = {
    '4': '200 successfully set klog.logging.verbosity to 4',
    '2147483647': '200 successfully set klog.logging.verbosity to 2147483647',
    '2147483648':
      '400 failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range',
    '4294967296': '400 strconv.ParseUint: parsing "4294967296": value out of range',
    '-1': '400 strconv.ParseUint: parsing "-1": invalid syntax',
    '+3': '400 strconv.ParseUint: parsing "+3": invalid syntax',
    much: '400 strconv.ParseUint: parsing "much": invalid syntax',
    '': '400 strconv.ParseUint: parsing "": invalid syntax',
    '0': '200 successfully set klog.logging.verbosity to 0',
  }
  for (const [value, answer] of Object.entries(answers))
    assert.equal(await bySocket('PUT', flag, value), `${answer}\n`)
  // The field must be named `v`. If its name were `level`, it would overwrite the level of the log
  // entry.
  assert.ok(server.remarks.includes('the verbosity was changed {"v":4}'), server.remarks.join('\n'))
})

const modulesChanged = (): number =>
  server.remarks.filter((line) => line.startsWith('the verbosity of modules was changed')).length

test('the verbosity of modules can be changed by a PUT while the server runs', async () => {
  const flag = '/debug/flags/vmodule'
  assert.equal((await client.call({ path: flag })).status, 406)
  assert.equal(
    (await client.call({ method: 'PUT', path: flag, body: 'x', token: 'bob-token' })).status,
    403,
  )
  assert.equal(
    await bySocket('PUT', flag, 'handle'),
    '400 failed set vmodule handle: "handle" does not have the pattern=N format\n',
  )
  assert.equal(modulesChanged(), 0)
  assert.equal(
    await bySocket('PUT', flag, 'handle=4,a*=2'),
    '200 successfully set vmodule to handle=4,a*=2\n',
  )
  assert.equal(await bySocket('PUT', flag, ''), '200 successfully set vmodule to \n')
  assert.equal(modulesChanged(), 2)
})

test('the debug socket is accessible only to its owner, and serves only debug pages', async () => {
  assert.equal(statSync(socketPath).mode & 0o777, 0o600)
  assert.match(await bySocket('GET', '/debug/pprof/'), /^200 <html>/)
  assert.match(await bySocket('GET', '/metrics'), /^404 /)
  assert.match(await bySocket('GET', '/api/v1/secrets'), /^404 /)
})

test('with --profiling=false, profiles are only available on the debug socket', async () => {
  const otherPath = join(folder, 'other.sock')
  await using bare = await startTestServer([
    '--profiling=false',
    `--debug-socket-path=${otherPath}`,
  ])
  await using own = clients['HTTP/2']?.(bare.url) ?? assert.fail()
  for (const path of ['/debug/pprof/', '/debug/pprof/profile', '/debug/flags/v'])
    assert.equal((await own.call({ path })).status, 404, path)
  // As in kube-apiserver, the socket still serves profiles. A second server with the same socket
  // must not start.
  assert.match(await bySocket('GET', '/debug/pprof/', '', otherPath), /^200 <html>/)
  await assert.rejects(
    startTestServer([`--debug-socket-path=${otherPath}`]),
    /another process serves/,
  )
})

test('the log line of a slow request lists the duration of its steps', async () => {
  await using slow = await startTestServer()
  await using own = clients['HTTP/2']?.(slow.url) ?? assert.fail()
  // Wait until the server is ready. During its start, its own requests are slow, and the number of
  // log lines per second is limited.
  await until(
    async () => (await own.call({ path: '/readyz' })).status === 200,
    'a server that is ready',
  )
  const reported = (): string | undefined =>
    slow.remarks.find((line) => /^slow request .*default\/secrets/.test(line))
  // Repeat the request if the expected line is missing. The line can be dropped, because the number
  // of log lines per second is limited. On a busy machine, the request can also be sent after etcd
  // has been resumed.
  let tries = 0
  const attempt = async (): Promise<boolean> => {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `slow-${tries++}` } }
    slow.pauseEtcd()
    const sent = own.call({
      method: 'POST',
      path: '/api/v1/namespaces/default/secrets?token=x',
      body,
    })
    const resume = setTimeout(() => slow.resumeEtcd(), 1_500)
    await sent
    clearTimeout(resume)
    slow.resumeEtcd()
    return reported() !== undefined
  }
  await until(attempt, 'a line')
  const line = reported() ?? ''
  assert.match(line, /"path":"\/api\/v1\/namespaces\/default\/secrets"/)
  assert.match(line, /"(etcd|rest)Ms":\d{3,}/)
  assert.doesNotMatch(line, /token=x/)
})
