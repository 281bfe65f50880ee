/**
 * Tests the example of deploy/ha: three hosts with a replica and an etcd member each, behind
 * HAProxy. The test starts the commands of the unit files with their configuration, stops one of
 * each while clients write, and checks that no acknowledged write is lost.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readUnitCommand } from '../../src/entry/doctor/unit-file.ts'
import { etcdTool, freePorts, toolPath } from '../support/harness/etcd.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { findOnPath } from '../support/harness/packed.ts'
import { until } from '../support/harness/until.ts'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const read = (name: string): string => readFileSync(join(deploy, 'ha', name), 'utf8')
/** Maximum time until a program is ready. It allows for a machine that runs many tests. */
const READY_MS_MAX = 300_000
/** Requests that get no response in this time are sent again. */
const REQUEST_MS_MAX = 20_000
/** Time before a client that got an error sends its next request. */
const RETRY_MS = 100
const LOG_LENGTH_MAX = 4000
const WRITERS = 4
/** Number of writes after which clients are known to continue. */
const PROGRESS = 20
const hosts = ['a', 'b', 'c'] as const
type Host = (typeof hosts)[number]

const missing = ['haproxy', 'openssl'].filter((name) => findOnPath(name) === undefined)
const lacks =
  missing.length > 0
    ? `install ${missing.join(' and ')}`
    : process.platform !== 'linux' && 'needs the addresses 127.0.0.0/8 of Linux'

/** The installation of deploy/ha on loopback addresses. */
class Installation implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'keelson-ha-'))
  readonly #children = new Map<string, ChildProcess>()
  /** The end of each program's standard error. */
  readonly #logs = new Map<string, string>()
  /** The first three parts of the addresses, which are 192.0.2 in the files. */
  readonly #net = `127.${1 + Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`
  #ports: ReadonlyMap<number, number> = new Map()

  get #etc(): string {
    return join(this.folder, 'etc')
  }

  address(last: number): string {
    return `${this.#net}.${last}`
  }

  hostAddress(host: Host): string {
    return this.address(11 + hosts.indexOf(host))
  }

  port(original: number): number {
    return this.#ports.get(original) ?? 0
  }

  async prepare(): Promise<void> {
    const [api = 0, client = 0, peer = 0] = await freePorts(3)
    this.#ports = new Map([
      [6_443, api],
      [2_379, client],
      [2_380, peer],
    ])
    mkdirSync(join(this.folder, 'var'))
    const addresses = [10, 11, 12, 13].map((last) => this.address(last))
    const script = [join(deploy, 'ha', 'certificates.sh'), this.#etc, ...addresses]
    execFileSync('sh', script, { stdio: 'pipe' })
    writeFileSync(join(this.folder, 'haproxy.cfg'), this.#place(read('haproxy.cfg')))
  }

  /** Replaces the addresses, ports and folders of a file by those of this test. */
  #place(text: string): string {
    return [...this.#ports]
      .reduce(
        (placed, [from, to]) => placed.replaceAll(new RegExp(`([:=])${from}\\b`, 'g'), `$1${to}`),
        text,
      )
      .replaceAll('192.0.2', this.#net)
      .replaceAll('/etc/keelson', this.#etc)
      .replaceAll('%d', this.#etc)
      .replaceAll('/var/lib', join(this.folder, 'var'))
  }

  /** Starts the command of a unit file on a host. */
  startUnit(host: Host, unit: 'etcd.service' | 'keelson.conf', program: string): void {
    const environment = read('host.env')
      .replace('NAME=a', `NAME=${host}`)
      .replace('ADDRESS=192.0.2.11', `ADDRESS=${this.hostAddress(host)}`)
    const text = this.#place(read(unit)).replaceAll('/var/etcd', `/var/etcd-${host}`)
    const [, ...args] = readUnitCommand(text, () => this.#place(environment))
    assert.ok(args.length > 10)
    this.start(`${unit} ${host}`, program, args)
  }

  start(name: string, program: string, args: readonly string[]): void {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#children.set(name, child)
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      this.#logs.set(name, `${this.#logs.get(name) ?? ''}${more}`.slice(-LOG_LENGTH_MAX))
    })
  }

  /** Waits until a condition holds. If it never does, the error contains the program's log. */
  async until(name: string, what: string, holds: () => Promise<boolean>): Promise<void> {
    try {
      await until(holds, `${name} ${what}`, READY_MS_MAX)
    } catch (error) {
      throw new Error(`log of ${name}: ${this.#logs.get(name)}`, { cause: error })
    }
  }

  child(name: string): ChildProcess {
    const child = this.#children.get(name)
    assert.ok(child !== undefined, name)
    return child
  }

  async stop(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.child(name)
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  /** Sends a request to the API. The status is 0 if there is no response. */
  ask(address: string, options: RequestOptions, body?: string): ReturnType<typeof send> {
    return send({ ...this.#identity('ca', 'admin'), host: address, ...options }, body)
  }

  async isEtcdHealthy(host: Host): Promise<boolean> {
    const identity = this.#identity('etcd-ca', 'etcd-client')
    const at = { host: this.hostAddress(host), port: this.port(2_379), path: '/health' }
    return (await send({ ...identity, ...at })).text.includes('"health":"true"')
  }

  #identity(ca: string, client: string): RequestOptions {
    const file = (name: string): string => readFileSync(join(this.#etc, name), 'utf8')
    return { ca: file(`${ca}.crt`), cert: file(`${client}.crt`), key: file(`${client}.key`) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.stop(name, 'SIGKILL')))
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function send(options: RequestOptions, body?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(REQUEST_MS_MAX)
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    request({ agent: false, headers, signal, ...options }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (more: string) => (text += more))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', (error) => resolve({ status: 0, text: error.message }))
    })
      .on('error', (error) => resolve({ status: 0, text: error.message }))
      .end(body)
  })
}

const configMaps = '/api/v1/namespaces/default/configmaps'

/** Clients that create objects through the load balancer until they are stopped. */
class Writers {
  readonly acknowledged: string[] = []
  readonly #installation: Installation
  readonly #loops: readonly Promise<void>[]
  #isStopped = false

  constructor(installation: Installation) {
    this.#installation = installation
    this.#loops = Array.from({ length: WRITERS }, (_, writer) => this.#write(writer))
  }

  async #write(writer: number): Promise<void> {
    for (let count = 0; !this.#isStopped; count++) {
      const name = `written-${writer}-${count}`
      const target = { method: 'POST', path: configMaps, port: this.#installation.port(6_443) }
      const body = JSON.stringify({ metadata: { name }, data: { count: `${count}` } })
      const { status } = await this.#installation.ask(this.#installation.address(10), target, body)
      // A write without this response might be stored or not.
      if (status === 201) this.acknowledged.push(name)
      else await sleep(RETRY_MS)
    }
  }

  async continue(what: string): Promise<void> {
    const target = this.acknowledged.length + PROGRESS
    await this.#installation.until(
      'haproxy',
      `forwards writes ${what}`,
      async () => this.acknowledged.length >= target,
    )
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#loops)
  }
}

const startReplica = (installation: Installation, host: Host): void =>
  installation.startUnit(host, 'keelson.conf', keelsonProgram)

const startMember = (installation: Installation, host: Host): void =>
  installation.startUnit(host, 'etcd.service', toolPath(etcdTool()))

const replicaIsReady = (installation: Installation, host: Host): Promise<void> =>
  installation.until(`keelson.conf ${host}`, 'is ready', async () => {
    const target = { path: '/readyz', port: installation.port(6_443) }
    return (await installation.ask(installation.hostAddress(host), target)).status === 200
  })

const memberIsHealthy = (installation: Installation, host: Host): Promise<void> =>
  installation.until(`etcd.service ${host}`, 'is healthy', () => installation.isEtcdHealthy(host))

/** Returns the process that HAProxy's master started last. */
function haproxyWorker(pid: number | undefined): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return children.at(-1) ?? ''
}

test('no acknowledged write is lost while one of each program is stopped', {
  skip: lacks,
  timeout: 4 * READY_MS_MAX,
}, async (t) => {
  await using installation = new Installation()
  await installation.prepare()
  for (const host of hosts) startMember(installation, host)
  for (const host of hosts) await memberIsHealthy(installation, host)
  for (const host of hosts) startReplica(installation, host)
  for (const host of hosts) await replicaIsReady(installation, host)
  const config = join(installation.folder, 'haproxy.cfg')
  installation.start('haproxy', 'haproxy', ['-W', '-f', config])
  const writers = new Writers(installation)
  try {
    await writers.continue('through HAProxy')

    await installation.stop('keelson.conf a', 'SIGKILL')
    await writers.continue('without replica a')
    startReplica(installation, 'a')
    await replicaIsReady(installation, 'a')

    await installation.stop('etcd.service b', 'SIGKILL')
    await writers.continue('without etcd b')
    startMember(installation, 'b')
    await memberIsHealthy(installation, 'b')

    const { pid } = installation.child('haproxy')
    const worker = haproxyWorker(pid)
    installation.child('haproxy').kill('SIGUSR2')
    await until(() => haproxyWorker(pid) !== worker, 'HAProxy starts a new worker')
    await writers.continue('after HAProxy is reloaded')

    await installation.stop('keelson.conf c', 'SIGTERM')
    await writers.continue('without replica c')
  } finally {
    await writers.stop()
  }
  t.diagnostic(`${writers.acknowledged.length} acknowledged writes`)
  for (const host of ['a', 'b'] as const) {
    const target = { path: configMaps, port: installation.port(6_443) }
    const { status, text } = await installation.ask(installation.hostAddress(host), target)
    assert.equal(status, 200, text)
    const { items }: { items: readonly { metadata: { name: string } }[] } = JSON.parse(text)
    const names = new Set(items.map(({ metadata }) => metadata.name))
    const lost = writers.acknowledged.filter((name) => !names.has(name))
    assert.deepEqual(lost, [], `replica ${host} has every acknowledged write`)
  }
})

test('systemd accepts the units of the example', {
  skip: findOnPath('systemd-analyze') === undefined && 'systemd-analyze is not installed',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-ha-units-'))
  try {
    // systemd checks that the programs exist.
    const place = (name: string, text: string): void =>
      writeFileSync(
        join(folder, name),
        text.replaceAll(/\/usr\/local\/bin\/\w+/g, process.execPath),
      )
    mkdirSync(join(folder, 'keelson.service.d'))
    place('keelson.service', readFileSync(join(deploy, 'keelson.service'), 'utf8'))
    place('keelson.service.d/ha.conf', read('keelson.conf'))
    place('etcd.service', read('etcd.service'))
    const units = ['keelson.service', 'etcd.service'].map((name) => join(folder, name))
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` }
    execFileSync('systemd-analyze', ['verify', '--man=no', ...units], { env, stdio: 'pipe' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
