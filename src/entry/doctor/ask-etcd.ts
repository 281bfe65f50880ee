/** Asks members of etcd for their version and for the time of their clock. */
import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { messageOf } from '../../lib/errors.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { loadTls, type TlsOptions } from '../../net/grpc/tls.ts'
import { EtcdClient } from '../../storage/etcd/client.ts'
import type { EtcdState } from './machine-checks.ts'

/** Maximum time for a response. */
const RESPONSE_MS_MAX = 2_000
/**
 * The Date header has no fractions of a second, so on average it is half a second behind the clock.
 */
const DATE_ERROR_MS = 500

export type EtcdMember = { readonly url: string; readonly state: EtcdState }

export async function askEtcd(url: string, tls: TlsOptions | undefined): Promise<EtcdMember> {
  try {
    await using client = new EtcdClient({ endpoints: [url], tls, timeoutMs: RESPONSE_MS_MAX })
    const { version } = await client.maintenance.status({ timeoutMs: RESPONSE_MS_MAX })
    return { url, state: { kind: 'reachable', version } }
  } catch (error) {
    return { url, state: { kind: 'failed', why: messageOf(error) } }
  }
}

/**
 * Returns how far the local clock is ahead of etcd's, or undefined if etcd serves no HTTP/1.1 at
 * this address. gRPC responses do not contain the time.
 */
export async function compareClock(
  url: string,
  tls: TlsOptions | undefined,
  clock: Clock,
): Promise<number | undefined> {
  if (!URL.canParse(url) || !/^https?:/.test(url)) return undefined
  try {
    const signal = AbortSignal.timeout(RESPONSE_MS_MAX)
    const target = new URL('/version', url)
    const startMs = clock.wallMs()
    const sent =
      target.protocol === 'https:'
        ? requestHttps(target, { ...(await loadTls(tls ?? {})), agent: false, signal })
        : requestHttp(target, { agent: false, signal })
    const [response] = await once(sent.end(), 'response', { signal })
    const middleMs = (startMs + clock.wallMs()) / 2
    response.destroy()
    const dateMs = Date.parse(response.headers.date)
    return Number.isNaN(dateMs) ? undefined : middleMs - dateMs - DATE_ERROR_MS
  } catch {
    // No error is reported here, because `askEtcd` also requests the version and reports why that
    // fails.
    return undefined
  }
}
