/**
 * Builds the listener of a server. Until the control plane has started, the listener refuses most
 * requests.
 */
import { identityHeaderTest } from '../api/identity-headers.ts'
import { joinPems } from '../access/authentication/client-authorities.ts'
import type { Config } from '../config/config.ts'
import type { ByteBudget } from '../lib/bytes/byte-budget.ts'
import { messageOf } from '../lib/errors.ts'
import { named } from '../lib/telemetry/log.ts'
import type { Certificate } from '../lib/x509/certificates.ts'
import { Listener } from '../net/http/listener.ts'
import { ListenerMetrics } from '../net/http/metrics.ts'
import { DegradedApi } from '../request/degraded-api.ts'
import { identityHeadersOf } from './access/authenticators.ts'
import type { ControlPlane } from './control-plane.ts'
import type { ServerCore } from './server-core.ts'
import type { TestHooks } from './test-hooks.ts'

export type Serving = {
  readonly listener: Listener
  /** Called when the control plane has started. From then on, all requests are served. */
  readonly open: () => void
}

export type ServingOptions = {
  readonly certificate: Certificate
  /** Maximum number of bytes that all requests together may hold in memory. */
  readonly budget: ByteBudget
  readonly testHooks: TestHooks
}

export function buildServing(
  core: ServerCore,
  plane: ControlPlane,
  { certificate, budget, testHooks }: ServingOptions,
): Serving {
  const { config, environment, memory, metrics } = core
  const { log, random, ids } = environment
  const untilKnown = new DegradedApi({
    handle: testHooks.aroundHandler?.(plane.handle) ?? plane.handle,
    isServed: (info) => plane.registry.find(info) !== undefined,
    newAuditId: ids.uid,
    log,
  })
  const { requestHeader } = config.authentication
  const listener = new Listener({
    handler: untilKnown.handle,
    tls: {
      ...certificate,
      clientCaPem: joinPems(plane.authorities.pems),
      tlsMinVersion: config.tls.minVersion,
      tlsCiphers: config.tls.ciphers ?? undefined,
      tlsCurves: config.tls.curves ?? undefined,
      servesHttp2: config.serving.servesHttp2,
      namedCertificates: config.serving.namedCertificates,
    },
    isIdentityHeader: identityHeaderTest(
      requestHeader === null ? undefined : identityHeadersOf(requestHeader),
    ),
    compresses: config.featureGates.isOn('APIResponseCompression'),
    takesCbor: config.featureGates.isOn('CBORServingAndStorage'),
    endsUnauthenticated: config.featureGates.isOn('UnauthenticatedHTTP2DOSMitigation'),
    isWeighedLater: config.requests.hasFairness,
    budget,
    goaway: { chance: config.serving.goawayChance, random },
    limits: {
      connectionsMax: memory.connections,
      connectionsPerClientMax: Math.ceil(memory.connections / 2),
      ...(config.serving.streamsPerConnectionMax === null
        ? {}
        : { streamsMax: config.serving.streamsPerConnectionMax }),
    },
    metrics: new ListenerMetrics(metrics),
    log: named(log, 'http'),
  })
  return { listener, open: () => untilKnown.open() }
}

/** Listens at the configured address. If this fails, the error names the flags to change. */
export async function listenAt(
  listener: Listener,
  { network: { port, bindAddress }, serving }: Config,
): Promise<void> {
  try {
    await listener.listen(port, bindAddress, { reusePort: serving.sharesPort })
  } catch (cause) {
    throw listenError(cause, bindAddress)
  }
}

/**
 * Returns an error for a server that cannot listen at its address. The message names the flags to
 * change.
 */
export function listenError(cause: unknown, bindAddress: string): Error {
  const isForeign = cause instanceof Error && 'code' in cause && cause.code === 'EADDRNOTAVAIL'
  const [any, loopback] = bindAddress.includes(':') ? ['::', '::1'] : ['0.0.0.0', '127.0.0.1']
  const text = isForeign
    ? `cannot listen at ${bindAddress}, because this machine does not have this address: use --bind-address=${loopback} for clients on this machine, or --bind-address=${any} for all clients`
    : `cannot listen (${messageOf(cause)}): choose another --secure-port or --bind-address`
  return new Error(text, { cause })
}

/**
 * Returns the address at which a server that listens at this address can be reached from its own
 * machine.
 */
export const loopbackOf = (address: string): string =>
  address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
