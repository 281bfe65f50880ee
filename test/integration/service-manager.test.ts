/**
 * Tests what `keelson serve` reports to systemd, with the real systemd-notify and a Unix datagram
 * socket in place of systemd's.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { freePorts } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { findOnPath } from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const READY_MS_MAX = 300_000
const folder = mkdtempSync(join(tmpdir(), 'keelson-notify-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** A Python program that prints each datagram as one line. Node cannot open this type of socket. */
const listener = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True: print(s.recv(4096).decode().strip().replace('\\n', ' '), flush=True)
`

/** A started process, and the lines that it has printed so far. */
type ProgramRun = AsyncDisposable & { readonly child: ChildProcess; readonly lines: string[] }

function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ProgramRun {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => lines.push(line))
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  return {
    child,
    lines,
    async [Symbol.asyncDispose]() {
      process.off('exit', end)
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      end()
      await gone
    },
  }
}

async function startServer(env: NodeJS.ProcessEnv): Promise<ProgramRun> {
  const [port = 0] = await freePorts(1)
  const data = mkdtempSync(join(folder, 'data-'))
  const args = [`--data-dir=${data}`, `--cert-dir=${data}`, `--secure-port=${port}`]
  return start(keelsonProgram, ['serve', ...args, '--bind-address=127.0.0.1'], env)
}

test('the server notifies systemd when it becomes ready, reloads its files and stops', async (t) => {
  for (const needed of ['python3', 'systemd-notify'])
    if (findOnPath(needed) === undefined) return t.skip(`needs ${needed}`)
  const socket = join(folder, 'notify')
  await using systemd = start('python3', ['-c', listener, socket], process.env)
  const { lines: told } = systemd
  await until(() => told.includes('bound'), 'the socket exists', READY_MS_MAX)
  told.splice(0)
  await using server = await startServer({ ...process.env, NOTIFY_SOCKET: socket })
  const { child, lines } = server
  const messages = (): string[] => told.filter((line) => line !== 'BARRIER=1')
  const has = (count: number): Promise<void> =>
    until(
      () => {
        assert.equal(child.exitCode, null, lines.join('\n'))
        return messages().length >= count
      },
      `${count} messages; so far ${messages().join(', ')}`,
      READY_MS_MAX,
    )
  await has(1)
  child.kill('SIGHUP')
  await has(3)
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
  await until(() => messages().length >= 4, 'the last message', READY_MS_MAX)
  const [ready, reloading = '', again, stopping] = messages()
  assert.deepEqual([ready, again, stopping], ['READY=1', 'READY=1', 'STOPPING=1'])
  assert.match(reloading, /^RELOADING=1 MONOTONIC_USEC=\d+$/)
  assert.ok(lines.some((line) => line.includes('"checked all files again"')))
})

test('a server that cannot notify systemd reports this and continues', async () => {
  const env = { ...process.env, NOTIFY_SOCKET: join(folder, 'none') }
  await using server = await startServer(env)
  const has = (text: string): Promise<void> =>
    until(() => server.lines.some((line) => line.includes(text)), text, READY_MS_MAX)
  await has('systemd cannot be notified')
  server.child.kill('SIGHUP')
  await has('checked all files again')
  const gone = once(server.child, 'exit')
  server.child.kill('SIGTERM')
  assert.deepEqual(await gone, [0, null])
})
