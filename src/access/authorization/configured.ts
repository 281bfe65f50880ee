/**
 * The chain of authorizers that the configuration lists, with the clients of its webhooks. The
 * chain can be replaced while the server runs.
 */
import type { Gates } from '../../api/gates.ts'
import type { AnswerPattern } from '../../objects/cel/pattern-thread.ts'
import type { AuthorizerConfig, WebhookConfig } from '../../config/authorization.ts'
import type { Dial } from '../../lib/net/dial.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { DECISIONS, type Verbosity } from '../../lib/telemetry/verbosity.ts'
import type { RoleIndex } from '../rbac/role-index.ts'
import { KubeconfigClient } from '../../net/outbound/kubeconfig-client.ts'
import type { Authorizer } from './authorizer.ts'
import { buildAuthorizers } from './build.ts'
import { AuthorizerChain, type Link } from './chain.ts'
import type { AuthorizationMetrics } from './metrics.ts'
import type { NodeAuthorizerOptions } from './node/authorize-node.ts'
import { createWebhookAuthorizer } from './webhook.ts'

/**
 * How long the webhook clients of a replaced configuration stay open. Decisions in progress can
 * still call webhooks, including retries. They end within the default request timeout.
 */
const LAST_CALLS_MS = 60_000

export type ConfiguredAuthorizerOptions = {
  readonly roles: RoleIndex
  readonly nodes: NodeAuthorizerOptions
  readonly metrics: AuthorizationMetrics
  readonly gates: Gates
  readonly log: Log
  readonly verbosity: Verbosity
  readonly random: () => number
  readonly answerPattern: AnswerPattern
  /** Opens connections to webhooks. If undefined, the connections are direct. */
  readonly dial?: Dial | undefined
}

export class ConfiguredAuthorizers implements Disposable {
  readonly chain: AuthorizerChain
  readonly #options: ConfiguredAuthorizerOptions
  #clients: KubeconfigClient[] = []

  constructor(authorizers: readonly AuthorizerConfig[], options: ConfiguredAuthorizerOptions) {
    this.#options = options
    this.chain = new AuthorizerChain(this.#build(authorizers), options.metrics, () =>
      options.verbosity.isOn(DECISIONS, 'access') ? options.log : undefined,
    )
  }

  replace(authorizers: readonly AuthorizerConfig[]): void {
    const old = this.#clients
    this.#clients = []
    try {
      this.chain.replace(this.#build(authorizers))
    } catch (error) {
      // The new configuration cannot be used. Dispose only the new clients, because the old chain
      // stays in use with the old clients.
      disposeAll(this.#clients)
      this.#clients = old
      throw error
    }
    setTimeout(() => disposeAll(old), LAST_CALLS_MS).unref()
  }

  [Symbol.dispose](): void {
    disposeAll(this.#clients)
  }

  #build(authorizers: readonly AuthorizerConfig[]): Link[] {
    const { roles, nodes } = this.#options
    return buildAuthorizers(authorizers, { roles, nodes, webhookOf: (one) => this.#webhookOf(one) })
  }

  #webhookOf({ name, webhook, kubeconfig }: WebhookConfig): Authorizer {
    const { metrics, log, random, gates, answerPattern, dial } = this.#options
    const client = new KubeconfigClient(kubeconfig, { timeoutMs: webhook.timeoutMs, dial })
    this.#clients.push(client)
    const hasSelectors = gates.isOn('AuthorizeWithSelectors')
    return createWebhookAuthorizer({
      name,
      webhook,
      release: gates.release,
      client,
      metrics,
      log,
      random,
      hasSelectors,
      answerPattern,
    })
  }
}

function disposeAll(clients: readonly KubeconfigClient[]): void {
  for (const client of clients) client[Symbol.dispose]()
}
