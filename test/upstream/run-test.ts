/** Runs one test in a separate process, with its own servers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { toolPath } from '../support/harness/etcd.ts'
import { cache, type TestProgram } from './build.ts'
import type { Options, ServerKind } from './options.ts'
import { readOutcome, type TestOutcome } from './outcome.ts'

/** Time that a test gets in addition to its own time limit. After this time, it is killed. */
const GRACE_MS = 30_000
/**
 * Maximum time to wait for the end of the output after the test has exited. Servers that the test
 * has not stopped keep the output open.
 */
const DRAIN_MS = 2_000
const OUTPUT_LENGTH_MAX = 20_000_000

const keelson = join(import.meta.dirname, '..', '..', 'bin', 'keelson')

const commandOf = (server: ServerKind): string =>
  server === 'keelson' ? `${keelson} serve` : toolPath('kube-apiserver')

export type TimedOutcome = TestOutcome & { readonly seconds: number }

export async function runTest(
  program: TestProgram,
  test: string,
  { etcdUrl, options }: { readonly etcdUrl: string; readonly options: Options },
): Promise<TimedOutcome> {
  const { server, timeoutSeconds } = options
  const logs = join(cache, server, 'logs', program.name.replaceAll('/', '-'))
  mkdirSync(join(logs, 'servers'), { recursive: true })
  const beganMs = performance.now()
  const child = spawn(
    program.binary,
    ['-test.v', '-test.run', `^${test}$`, '-test.timeout', `${timeoutSeconds}s`],
    {
      cwd: program.directory,
      argv0: program.argv0,
      // Start the test in its own process group, so that it can be killed together with its
      // servers.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        KEELSON_SERVER: commandOf(server),
        KEELSON_SERVER_LOGS: join(logs, 'servers'),
        UPSTREAM_PACKAGE: program.name,
        KUBE_INTEGRATION_ETCD_URL: etcdUrl,
        PATH: `${dirname(toolPath('etcd'))}:${dirname(process.execPath)}:${process.env['PATH']}`,
      },
    },
  )
  const kill = (): void => killGroup(child.pid)
  const timer = setTimeout(kill, timeoutSeconds * 1000 + GRACE_MS)
  process.once('exit', kill)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length < OUTPUT_LENGTH_MAX) text += chunk
    })
    child.once('exit', () => setTimeout(() => stream.destroy(), DRAIN_MS).unref())
  }
  await once(child, 'close')
  clearTimeout(timer)
  process.off('exit', kill)
  kill()
  writeFileSync(join(logs, `${test}.log`), text)
  return {
    ...readOutcome(text, test),
    seconds: Math.round((performance.now() - beganMs) / 100) / 10,
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // Ignore the error if all processes of the group have already exited.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
