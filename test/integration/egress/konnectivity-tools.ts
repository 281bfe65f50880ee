/**
 * Runs konnectivity's real proxy server and agent, with each protocol by which an API server can
 * connect to the proxy server.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createAuthority, issue } from '../../../src/lib/x509/certificates.ts'
import { freePorts, toolPath } from '../../support/harness/etcd.ts'
import { until } from '../../support/harness/until.ts'

export const ways = ['grpc-uds', 'http-connect-uds', 'http-connect-tcp'] as const

export type Way = (typeof ways)[number]

export class Konnectivity implements AsyncDisposable {
  readonly #dir: string
  readonly #way: Way
  readonly #ports: {
    readonly server: number
    readonly agent: number
    readonly admin: number
    readonly health: number
  }
  readonly #agentPorts: { readonly admin: number; readonly health: number }
  #server: ChildProcess | undefined
  #agent: ChildProcess | undefined

  private constructor(dir: string, way: Way, ports: readonly number[]) {
    this.#dir = dir
    this.#way = way
    const [server = 0, agent = 0, admin = 0, health = 0, agentAdmin = 0, agentHealth = 0] = ports
    this.#ports = { server, agent, admin, health }
    this.#agentPorts = { admin: agentAdmin, health: agentHealth }
    const nowMs = Date.now()
    const authority = createAuthority('konnectivity', nowMs)
    this.#write('ca.pem', authority.certificatePem)
    for (const usage of ['client', 'server'] as const) {
      const hosts = usage === 'server' ? ['127.0.0.1'] : []
      const { certificatePem, keyPem } = issue(authority, {
        commonName: usage,
        usage,
        hosts,
        nowMs,
      })
      this.#write(`${usage}.pem`, certificatePem)
      this.#write(`${usage}.key`, keyPem)
    }
  }

  /**
   * Starts both programs with files in `dir`, which must exist. Resolves when the agent is
   * connected.
   */
  static async start(dir: string, way: Way): Promise<Konnectivity> {
    const tools = new Konnectivity(dir, way, await freePorts(6))
    await tools.startServer()
    await tools.startAgent()
    return tools
  }

  /** The field `connection` of an egress selection for which this proxy server is used. */
  get connection(): object {
    const { server } = this.#ports
    const uds = { udsName: this.#at('proxy.sock') }
    if (this.#way === 'grpc-uds') return { proxyProtocol: 'GRPC', transport: { uds } }
    if (this.#way === 'http-connect-uds')
      return { proxyProtocol: 'HTTPConnect', transport: { uds } }
    const tlsConfig = {
      caBundle: this.#at('ca.pem'),
      clientCert: this.#at('client.pem'),
      clientKey: this.#at('client.key'),
    }
    return {
      proxyProtocol: 'HTTPConnect',
      transport: { tcp: { url: `https://127.0.0.1:${server}`, tlsConfig } },
    }
  }

  async startServer(): Promise<void> {
    const { server, agent, admin, health } = this.#ports
    const own = [`--server-port=${server}`, `--server-cert=${this.#at('server.pem')}`]
    this.#server = this.#launch('konnectivity-server', [
      `--mode=${this.#way === 'grpc-uds' ? 'grpc' : 'http-connect'}`,
      ...(this.#way === 'http-connect-tcp'
        ? [
            ...own,
            `--server-key=${this.#at('server.key')}`,
            `--server-ca-cert=${this.#at('ca.pem')}`,
          ]
        : ['--server-port=0', `--uds-name=${this.#at('proxy.sock')}`]),
      '--server-bind-address=127.0.0.1',
      '--agent-bind-address=127.0.0.1',
      '--health-bind-address=127.0.0.1',
      `--agent-port=${agent}`,
      `--admin-port=${admin}`,
      `--health-port=${health}`,
      `--cluster-cert=${this.#at('server.pem')}`,
      `--cluster-key=${this.#at('server.key')}`,
      `--cluster-ca-cert=${this.#at('ca.pem')}`,
    ])
    await until(
      async () => (await read(health, '/healthz')) === 'ok',
      'the proxy server is healthy',
    )
  }

  async startAgent(): Promise<void> {
    const { admin, health } = this.#agentPorts
    this.#agent = this.#launch('konnectivity-agent', [
      '--proxy-server-host=127.0.0.1',
      `--proxy-server-port=${this.#ports.agent}`,
      `--admin-server-port=${admin}`,
      `--health-server-port=${health}`,
      `--ca-cert=${this.#at('ca.pem')}`,
      `--agent-cert=${this.#at('client.pem')}`,
      `--agent-key=${this.#at('client.key')}`,
      '--sync-interval=200ms',
      '--sync-interval-cap=1s',
      '--probe-interval=200ms',
    ])
    await this.connected()
  }

  /** Waits until an agent is connected to the server. */
  async connected(): Promise<void> {
    const { health } = this.#ports
    await until(
      async () => (await read(health, '/readyz')) === 'ok',
      'the agent is connected to the proxy server',
    )
  }

  async stopServer(): Promise<void> {
    await end(this.#server)
  }

  /** Stops the agent, and waits until the server has noticed this. */
  async stopAgent(): Promise<void> {
    await end(this.#agent)
    const { health } = this.#ports
    await until(
      async () => (await read(health, '/readyz')) !== 'ok',
      'the proxy server has no agent',
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#agent)
    await end(this.#server)
  }

  #at(name: string): string {
    return join(this.#dir, name)
  }

  #write(name: string, content: string): void {
    writeFileSync(this.#at(name), content)
  }

  #launch(name: string, args: readonly string[]): ChildProcess {
    const log = openSync(this.#at(`${name}.log`), 'a')
    const child = spawn(toolPath(name), args, { stdio: ['ignore', log, log] })
    closeSync(log) // The child process has its own copy of the file descriptor.
    const kill = (): void => void child.kill('SIGKILL')
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    return child
  }
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** Returns the response body, or undefined if there is no successful response. */
function read(port: number, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path, agent: false, timeout: 2000 }, (response) => {
      text(response).then(
        (body) => resolve(response.statusCode === 200 ? body : undefined),
        () => resolve(undefined),
      )
    })
      .on('timeout', () => resolve(undefined))
      .on('error', () => resolve(undefined))
  })
}
