/** Runs `keelson doctor` as a process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { compareClock } from '../../src/entry/doctor/ask-etcd.ts'
import type { Check } from '../../src/entry/doctor/check.ts'
import { systemClock } from '../../src/lib/time/clock.ts'
import { EtcdProcess, freePorts } from '../support/harness/etcd.ts'
import { createCacheHome, keelsonProgram } from '../support/harness/keelson.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-doctor-'))
after(() => rmSync(folder, { recursive: true, force: true }))
/** A program that responds like kubectl. */
const programs = join(folder, 'programs')
mkdirSync(programs)
const kubectl = join(programs, 'kubectl')
writeFileSync(kubectl, `#!/bin/sh\necho '{"clientVersion":{"gitVersion":"v1.33.4"}}'\n`)
chmodSync(kubectl, 0o755)
const env = {
  ...process.env,
  HOME: folder,
  XDG_CACHE_HOME: createCacheHome(join(folder, 'cache')),
  TMPDIR: folder,
  PATH: [programs, process.env['PATH']].join(delimiter),
}

type Run = { readonly code: number | string; readonly output: string }

function doctor(args: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(keelsonProgram, ['doctor', ...args], { env, cwd: folder }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (error.code ?? ''), output: `${stdout}${stderr}` }),
    )
  })
}

async function checksOf(args: readonly string[]): Promise<ReadonlyMap<string, Check>> {
  const { output } = await doctor([...args, '--output=json'])
  const { checks }: { readonly checks: readonly Check[] } = JSON.parse(output)
  return new Map(checks.map((check) => [check.name, check]))
}

test('on a machine without problems, keelson doctor prints one line for each check, and creates nothing', async () => {
  const [port = 0] = await freePorts(1)
  const { code, output } = await doctor([`--secure-port=${port}`, '--data-dir=data'])
  assert.equal(code, 0, output)
  assert.match(output, new RegExp(`^ok +port ${port} +free$`, 'm'))
  assert.match(output, /^ok {7}kubectl +v1\.33\.4 at /m)
  assert.match(output, /^no problems, /m)
  assert.equal(existsSync(join(folder, 'data')), false)
})

test('keelson doctor warns about a port that is in use, and names the process', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const checks = await checksOf([`--secure-port=${port}`])
  server.close()
  const { level, value } = checks.get(`port ${port}`) ?? {}
  assert.equal(level, 'warning')
  assert.match(value ?? '', new RegExp(`process ${process.pid}\\b`))
})

test('keelson doctor shows the version of etcd, and compares the clock with that of etcd', async () => {
  const [client = 0, peer = 0] = await freePorts(2)
  const url = `http://127.0.0.1:${client}`
  const data = join(folder, 'etcd')
  await using etcd = new EtcdProcess(data, url, [
    `--data-dir=${data}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
  ])
  await etcd.start({ wait: false })
  await etcd.ready(300_000)
  const checks = await checksOf([`--etcd-servers=${url}`])
  assert.match(checks.get('etcd')?.value ?? '', /^http:.*, version 3\.\d+\.\d+$/)
  assert.match(checks.get('clock')?.value ?? '', / etcd$/)
})

test('keelson doctor reports an etcd that does not respond as a problem', async () => {
  const [port = 0] = await freePorts(1)
  const { code, output } = await doctor([`--etcd-servers=http://127.0.0.1:${port}`])
  assert.equal(code, 1)
  assert.match(output, /^problem +etcd +http:\S+: .*ECONNREFUSED.*: check that etcd runs/m)
})

test('keelson doctor compares the clock with the Date header of etcd', async () => {
  const lateMs = 100_000
  const server = createServer((_, response) => {
    response.setHeader('date', new Date(Date.now() - lateMs).toUTCString()).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const aheadMs = await compareClock(`http://127.0.0.1:${port}`, undefined, systemClock)
  server.close()
  assert.ok(aheadMs !== undefined && Math.abs(aheadMs - lateMs) < 50_000, `${aheadMs} ms`)
})

test('invalid flags of keelson doctor lead to exit code 2', async () => {
  for (const args of [['--no-such-flag'], ['--secure-port=x'], ['--output=yaml'], ['--data-dir=']])
    assert.equal((await doctor(args)).code, 2, args.join(' '))
})
