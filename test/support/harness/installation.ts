/**
 * Runs the example of deploy/ha on one machine, for tests. The example consists of three hosts,
 * each with a replica and an etcd member. Here, the hosts are loopback addresses. The programs run
 * with the commands of the unit files.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connect } from 'node:tls'
import { readUnitCommand } from '../../../src/entry/doctor/unit-file.ts'
import { etcdTool, freePorts, toolPath } from './etcd.ts'
import { keelsonProgram } from './keelson.ts'
import { until } from './until.ts'

const deploy = join(import.meta.dirname, '..', '..', '..', 'deploy')
const read = (name: string): string => readFileSync(join(deploy, 'ha', name), 'utf8')
/** Maximum time until a program is ready, even on a machine that runs many tests. */
export const READY_MS_MAX = 300_000
/** Time after which a request without a response is sent again. */
const REQUEST_MS_MAX = 20_000
const LOG_LENGTH_MAX = 4000
export const hosts = ['a', 'b', 'c'] as const
export type Host = (typeof hosts)[number]

type Identity = { readonly ca: string; readonly cert: string; readonly key: string }

/** The installation of deploy/ha on loopback addresses. */
export class Installation implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'keelson-ha-'))
  readonly #children = new Map<string, ChildProcess>()
  /** The last part of each program's standard error, by the name of the program. */
  readonly #logs = new Map<string, string>()
  /**
   * The first three numbers of the hosts' addresses. They replace 192.0.2, which the files contain.
   */
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
    this.createCertificates()
    writeFileSync(join(this.folder, 'haproxy.cfg'), this.#place(read('haproxy.cfg')))
  }

  /** Creates the certificates of all hosts, or renews them if they exist. */
  createCertificates(): void {
    const addresses = [10, 11, 12, 13].map((last) => this.address(last))
    const script = [join(deploy, 'ha', 'certificates.sh'), this.#etc, ...addresses]
    execFileSync('sh', script, { stdio: 'pipe' })
  }

  /** Returns the serial number of a certificate file. */
  serialOf(name: string): string {
    return new X509Certificate(readFileSync(join(this.#etc, `${name}.crt`))).serialNumber
  }

  /** Returns the serial number of the certificate with which a program of a host responds. */
  shownSerial(host: Host, port: number): Promise<string> {
    const identity = this.#identity('etcd-ca', 'etcd-client')
    const target = {
      host: this.hostAddress(host),
      port: this.port(port),
      rejectUnauthorized: false,
    }
    return new Promise((resolve, reject) => {
      const socket = connect({ ...identity, ...target }, () => {
        const { serialNumber } = socket.getPeerCertificate()
        socket.destroy()
        resolve(serialNumber)
      }).on('error', reject)
    })
  }

  /** Replaces the addresses, ports and folders in the text of a file by those of this test. */
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
  #startUnit(host: Host, unit: 'etcd.service' | 'keelson.conf', program: string): void {
    const text = this.#placeOn(host, read(unit))
    const [, ...args] = readUnitCommand(text, () => this.#environment(host))
    assert.ok(args.length > 10)
    this.start(`${unit} ${host}`, program, args)
  }

  startReplica(host: Host): void {
    this.#startUnit(host, 'keelson.conf', keelsonProgram)
  }

  startMember(host: Host): void {
    this.#startUnit(host, 'etcd.service', toolPath(etcdTool()))
  }

  replicaIsReady(host: Host): Promise<void> {
    return this.until(`keelson.conf ${host}`, 'is ready', async () => {
      const target = { path: '/readyz', port: this.port(6_443) }
      return (await this.ask(this.hostAddress(host), target)).status === 200
    })
  }

  memberIsHealthy(host: Host): Promise<void> {
    return this.until(`etcd.service ${host}`, 'is healthy', () => this.#isEtcdHealthy(host))
  }

  /** Runs shell commands on a host, with the addresses, ports and folders of this test. */
  shell(host: Host, commands: string): void {
    writeFileSync(join(this.#etc, 'host.env'), this.#environment(host))
    const tools = dirname(toolPath('etcdctl'))
    execFileSync('sh', ['-euc', this.#placeOn(host, commands)], {
      cwd: this.folder,
      env: { ...process.env, PATH: `${tools}:${process.env['PATH']}` },
      stdio: 'pipe',
    })
  }

  #environment(host: Host): string {
    const text = read('host.env')
      .replace('NAME=a', `NAME=${host}`)
      .replace('ADDRESS=192.0.2.11', `ADDRESS=${this.hostAddress(host)}`)
    return this.#place(text)
  }

  #placeOn(host: Host, text: string): string {
    return this.#place(text).replaceAll('/var/etcd', `/var/etcd-${host}`)
  }

  start(name: string, program: string, args: readonly string[]): void {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#children.set(name, child)
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      this.#logs.set(name, `${this.#logs.get(name) ?? ''}${more}`.slice(-LOG_LENGTH_MAX))
    })
  }

  /**
   * Waits until a condition holds. If the timeout expires first, the error contains the log of the
   * program.
   */
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

  async stopAll(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.stop(name, 'SIGKILL')))
  }

  /** Sends a request to the API. The status is 0 if there is no response. */
  ask(address: string, options: RequestOptions, body?: string): ReturnType<typeof send> {
    return send({ ...this.#identity('ca', 'admin'), host: address, ...options }, body)
  }

  async #isEtcdHealthy(host: Host): Promise<boolean> {
    const identity = this.#identity('etcd-ca', 'etcd-client')
    const at = { host: this.hostAddress(host), port: this.port(2_379), path: '/health' }
    return (await send({ ...identity, ...at })).text.includes('"health":"true"')
  }

  #identity(ca: string, client: string): Identity {
    const file = (name: string): string => readFileSync(join(this.#etc, name), 'utf8')
    return { ca: file(`${ca}.crt`), cert: file(`${client}.crt`), key: file(`${client}.key`) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopAll()
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
