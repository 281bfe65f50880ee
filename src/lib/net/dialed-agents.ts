/** Agents of Node's HTTP client whose connections are opened by a Dial. */
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import {
  Agent as TlsAgent,
  type AgentOptions as TlsAgentOptions,
  type RequestOptions,
} from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import type { Dial } from './dial.ts'
import { type OnConnectionCreated, hand, secured } from './dialed-tls.ts'

export class DialedAgent extends Agent {
  readonly #dial: Dial
  readonly #ended = new AbortController()

  constructor(dial: Dial, options: AgentOptions) {
    super(options)
    this.#dial = dial
  }

  override createConnection(options: ClientRequestArgs, created?: OnConnectionCreated): undefined {
    const { host, port } = addressOf(options)
    hand(this.#dial(host, port, this.#ended.signal), created)
  }

  override destroy(): void {
    this.#ended.abort()
    super.destroy()
  }
}

export class DialedTlsAgent extends TlsAgent {
  readonly #dial: Dial
  readonly #ended = new AbortController()

  constructor(dial: Dial, options: TlsAgentOptions) {
    super(options)
    this.#dial = dial
  }

  override createConnection(options: RequestOptions, created?: OnConnectionCreated): undefined {
    const { host, port } = addressOf(options)
    hand(secured(this.#dial(host, port, this.#ended.signal), tlsOf(options, host)), created)
  }

  override destroy(): void {
    this.#ended.abort()
    super.destroy()
  }
}

const addressOf = ({ host, port }: ClientRequestArgs): { host: string; port: number } => ({
  host: host ?? 'localhost',
  port: Number(port),
})

/**
 * Returns the TLS options of a request: all of its options except the path, which TLS would
 * interpret as the path of a Unix domain socket. `checkServerIdentity` is left out, because no
 * caller sets it.
 */
function tlsOf(options: RequestOptions, host: string): ConnectionOptions {
  const { path: _path, port: _port, checkServerIdentity: _check, ...rest } = options
  return { ...rest, host }
}
