/**
 * Tests official and popular clients: one program per language, with pinned versions, each on its
 * own server with TLS and tokens. A program reports each of its checks. In the last check, the
 * server is killed and restarted while watches are open. Exits with 1 if a check fails or is not
 * reported. Builds and downloads into .cache/clients.
 *
 *   node test/clients/field.ts [--only python,rust] [--reference]
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs, promisify } from 'node:util'
import type { ApiServerProcess } from '../support/harness/api-server.ts'
import { startEtcd } from '../support/harness/etcd.ts'
import { startKeelson } from '../support/harness/keelson.ts'
import { startReference } from '../support/harness/reference.ts'

/**
 * Maximum time for a build, which downloads hundreds of files and compiles them on a machine that
 * may be busy.
 */
const BUILD_MAX_MS = 20 * 60_000
/** Maximum time for a run. The programs wait for any condition for at most one minute. */
const RUN_MAX_MS = 5 * 60_000

const cache = join(import.meta.dirname, '..', '..', '.cache', 'clients')
const sources = import.meta.dirname

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    reference: { type: 'boolean', default: false },
  },
})

/** The checks that every program must report. */
const checks = [
  'pages',
  'conflicts',
  'apply',
  'patches',
  'errors',
  'preconditions',
  'custom objects',
  'watch through restart',
]

type Command = readonly [string, ...string[]]

type FieldClient = {
  readonly name: string
  /** Additional checks that only this client reports. */
  readonly more?: readonly string[]
  readonly build: () => Promise<unknown>
  readonly run: () => Promise<Command>
}

/**
 * Returns a client that is built with Maven. Maven has no lock file: the pom pins the direct
 * dependencies, and their poms determine the transitive ones.
 */
const maven = (name: string): FieldClient => {
  const target = join(cache, name)
  const classpath = join(target, 'classpath')
  const flags = ['-q', '-B', `-Dmaven.repo.local=${join(cache, 'm2')}`, `-Dtarget=${target}`]
  const goals = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${classpath}`]
  return {
    name,
    build: () => execute(join(sources, name), 'mvn', ...flags, ...goals),
    run: async () => [
      'java',
      '-cp',
      `${join(target, 'classes')}:${await readFile(classpath, 'utf8')}`,
      'Main',
    ],
  }
}

const clients: readonly FieldClient[] = [
  {
    name: 'python',
    build: async () => {
      await execute(sources, 'python3', '-m', 'venv', join(cache, 'python'))
      const requirements = join(sources, 'python', 'requirements.txt')
      await execute(
        sources,
        join(cache, 'python', 'bin', 'pip'),
        'install',
        '-q',
        '--no-deps',
        '-r',
        requirements,
      )
    },
    run: async () => [join(cache, 'python', 'bin', 'python'), join(sources, 'python', 'main.py')],
  },
  maven('java'),
  maven('fabric8'),
  {
    name: 'rust',
    more: ['controller'],
    build: () =>
      execute(
        join(sources, 'rust'),
        'cargo',
        'build',
        '-q',
        '--locked',
        '--target-dir',
        join(cache, 'rust'),
      ),
    run: async () => [join(cache, 'rust', 'debug', 'keelson-field-client')],
  },
]

async function main(): Promise<void> {
  const wanted = options.only.split(',').filter((name) => name !== '')
  const unknown = wanted.filter((name) => !clients.some((client) => client.name === name))
  if (unknown.length > 0) throw new Error(`no such client: ${unknown.join(', ')}`)
  await mkdir(cache, { recursive: true })
  let failed = 0
  for (const client of clients) {
    if (wanted.length > 0 && !wanted.includes(client.name)) continue
    await client.build()
    const startedAt = performance.now()
    const results = await tryOut(client)
    console.log(`\n${client.name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    for (const check of [...checks, ...(client.more ?? [])]) {
      const result = results.get(check) ?? 'not reported'
      if (result !== 'ok') failed++
      console.log(`  ${check.padEnd(24)}${result}`)
    }
  }
  console.log(failed === 0 ? '\nall passed' : `\n${failed} failed`)
  if (failed > 0) process.exitCode = 1
}

/** Runs the program of a client and returns the result of each check. */
async function tryOut(client: FieldClient): Promise<ReadonlyMap<string, string>> {
  await using etcd = await startEtcd()
  const start = options.reference ? startReference : startKeelson
  // Streaming lists are off by default in v1.33, but the newest clients use them if the server
  // supports them.
  await using server = await start({
    etcdUrl: etcd.clientUrl,
    args: ['--feature-gates=WatchList=true'],
  })
  const dir = await mkdtemp(join(tmpdir(), 'keelson-field-'))
  try {
    const kubeconfig = join(dir, 'config')
    await writeFile(kubeconfig, JSON.stringify(contexts(server)))
    return await converse(await client.run(), kubeconfig, server)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/**
 * Runs the program and reads its lines `ok NAME` and `fail NAME: why`. When it prints `restart`
 * with open watches, the server is restarted, and the program gets a reply when that is done.
 */
async function converse(
  [program, ...args]: Command,
  kubeconfig: string,
  server: ApiServerProcess,
): Promise<ReadonlyMap<string, string>> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, KUBECONFIG: kubeconfig },
    timeout: RUN_MAX_MS,
    killSignal: 'SIGKILL',
  })
  const gone = once(child, 'exit')
  const results = new Map<string, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    const [, word, name = '', why = ''] = /^(ok|fail) ([^:]+)(?:: (.*))?$/.exec(line) ?? []
    if (word !== undefined) results.set(name, word === 'ok' ? 'ok' : `FAILED: ${why}`)
    else if (line === 'restart') {
      await server.restart('SIGKILL')
      child.stdin.write('restarted\n')
    } else console.log(line)
  }
  const [code]: unknown[] = await gone
  if (code !== 0) results.set(checks[0] ?? '', `FAILED: the program exited with ${String(code)}`)
  return results
}

/** Returns contexts for two users: `admin` has all permissions, `alice` has none. */
function contexts(server: ApiServerProcess): object {
  const users = { admin: server.token, alice: 'alice-token' }
  const cluster = { server: server.url, 'certificate-authority': join(server.dir, 'apiserver.crt') }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'field', cluster }],
    users: Object.entries(users).map(([name, token]) => ({ name, user: { token } })),
    contexts: Object.keys(users).map((name) => ({
      name,
      context: { cluster: 'field', user: name },
    })),
    'current-context': 'admin',
  }
}

async function execute(cwd: string, program: string, ...args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, {
    cwd,
    timeout: BUILD_MAX_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
}

await main()
