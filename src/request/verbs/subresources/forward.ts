/**
 * Forwards a request to a kubelet, a pod or a service, and returns its response. Bodies are
 * streamed, so they are never in memory as a whole.
 */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { isReplayable } from '../../../api/proxied-headers.ts'
import type { ApiRequest, Headers } from '../../../api/request.ts'
import { isLostBy } from '../../../lib/net/dial-error.ts'
import type { Dial } from '../../../lib/net/dial.ts'
import { hand, secured } from '../../../lib/net/dialed-tls.ts'
import type { MaybePromise } from '../../../lib/concurrency/maybe-promise.ts'
import { serverTrustAnchors } from '../../../lib/x509/trust-anchors.ts'
import type { KubeletAccess } from './handler.ts'

/**
 * Maximum time to connect, including TLS, as in kube-apiserver. The rest of the request has no time
 * limit.
 */
const CONNECT_MS_MAX = 30_000

export type ForwardOptions = {
  readonly url: URL
  /**
   * The address to connect to. It was checked before, and resolving the host of the URL again might
   * return a different address.
   */
  readonly address?: string
  /**
   * Query string that is sent unchanged. It replaces the query of the URL, which would be encoded
   * again.
   */
  readonly rawQuery?: string
  readonly method: string
  readonly headers: Headers
  readonly signal: AbortSignal
  /**
   * Credentials for a kubelet. If absent, no client certificate is presented, and the certificate
   * of the backend is not verified.
   */
  readonly kubelet?: KubeletAccess
  /** Opens the connection. If undefined, the server connects directly. */
  readonly dial?: Dial | undefined
}

/**
 * Forwards the request. Resolves when the status and headers of the response have arrived, possibly
 * while the request body is still being sent. If the connection breaks before that, fails with the
 * error of the connection.
 *
 * A backend might close a kept-alive connection just when it is reused. If the request can safely
 * be sent again, it is sent until it succeeds or fails on a new connection.
 */
export async function forward(
  wanted: ForwardOptions,
  pipeBody?: ApiRequest['pipeBody'],
): Promise<IncomingMessage> {
  for (;;) {
    const sent: OutgoingRequest = { hasBody: pipeBody !== undefined }
    try {
      return await forwardOnce(wanted, pipeBody, sent)
    } catch (error) {
      const isLost =
        sent.outgoing?.reusedSocket === true && error instanceof Error && isLostBy(error)
      if (!isLost || sent.hasBody || !isReplayable(wanted)) throw error
    }
  }
}

/**
 * An outgoing request. `hasBody` is true if the request has a body, or if it might have one because
 * its end has not been read.
 */
type OutgoingRequest = { outgoing?: ClientRequest; hasBody: boolean }

function forwardOnce(
  wanted: ForwardOptions,
  pipeBody: ApiRequest['pipeBody'] | undefined,
  sent: OutgoingRequest,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = open(wanted)
    sent.outgoing = outgoing
    outgoing.on('response', resolve)
    outgoing.on('error', reject)
    outgoing.on('close', () => reject(new Error('EOF')))
    // The backend switched protocols although the request did not ask for an upgrade, so the
    // request fails.
    outgoing.on('upgrade', (_message, socket) => {
      socket.on('error', () => undefined).destroy()
      reject(new Error('malformed HTTP response: 101 Switching Protocols'))
    })
    if (pipeBody === undefined) return void outgoing.end()
    let draining: Promise<void> | undefined
    let isEmpty = true
    const take = (chunk: Buffer): MaybePromise<void> => {
      isEmpty = false
      // For a GET or DELETE, Node would send a body of unknown length without framing. The backend
      // would then parse the body as a second request.
      if (!outgoing.headersSent && !outgoing.hasHeader('content-length')) {
        outgoing.setHeader('transfer-encoding', 'chunked')
      }
      if (outgoing.write(chunk)) return undefined
      draining ??= drained(outgoing).then(() => {
        draining = undefined
      })
      return draining
    }
    pipeBody(take).then(
      () => {
        sent.hasBody = !isEmpty
        outgoing.end()
      },
      (error: Error) => outgoing.destroy(error),
    )
  })
}

/** Resolves when the request accepts more data, or when it is closed. */
function drained(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    if (outgoing.destroyed) done()
    else outgoing.on('drain', done).on('close', done)
  })
}

/** Starts a request to the backend. The caller must send the body, if any, and end the request. */
export function open(wanted: ForwardOptions): ClientRequest {
  const { url, rawQuery = '', method, headers, signal } = wanted
  // The module is loaded on first use, because most servers do not need it.
  const { request } = process.getBuiltinModule(
    url.protocol === 'https:' ? 'node:https' : 'node:http',
  )
  const path = rawQuery === '' ? `${url.pathname}${url.search}` : `${url.pathname}?${rawQuery}`
  const outgoing = request(url, {
    method,
    path,
    headers: outgoingHeaders(headers),
    signal,
    ...connectionOf(wanted),
  })
  outgoing.once('socket', (socket) => {
    // A kept-alive connection of an earlier request is already connected and needs no timeout for
    // connecting.
    if (!socket.connecting) return
    const timer = setTimeout(() => outgoing.destroy(new Error('i/o timeout')), CONNECT_MS_MAX)
    const events = [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close']
    for (const event of events) socket.once(event, () => clearTimeout(timer))
  })
  return outgoing
}

function connectionOf({ url, address, signal, kubelet, dial }: ForwardOptions): RequestOptions {
  const tls = tlsOf(kubelet)
  if (dial === undefined)
    return { ...tls, ...(address === undefined ? {} : { lookup: always(address) }) }
  const isTls = url.protocol === 'https:'
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const named = { ...tls, host: name, ...(isIP(name) === 0 ? { servername: name } : {}) }
  return {
    createConnection: (_options, created) => {
      const dialed = dial(address ?? name, Number(url.port) || (isTls ? 443 : 80), signal)
      hand(isTls ? secured(dialed, named) : dialed, created)
      return undefined
    },
  }
}

/** Returns a lookup function that always returns this address. */
const always =
  (address: string): LookupFunction =>
  (_host, { all }, found) => {
    const family = isIP(address)
    if (all) found(null, [{ address, family }])
    else found(null, address, family)
  }

type TlsOption = 'rejectUnauthorized' | 'ca' | 'allowPartialTrustChain' | 'cert' | 'key'

/**
 * Returns the TLS options of a connection. The certificate of a pod is not verified, because it can
 * be signed by any CA. The certificate of a kubelet is verified if the server has a CA for it.
 */
function tlsOf(kubelet: KubeletAccess | undefined): Pick<ConnectionOptions, TlsOption> {
  const { caPem = null, client = null } = kubelet ?? {}
  return {
    rejectUnauthorized: caPem !== null,
    ...(caPem === null ? {} : serverTrustAnchors(caPem)),
    ...(client === null ? {} : { cert: client.certificatePem, key: client.keyPem }),
  }
}

const outgoingHeaders = (headers: Headers): OutgoingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  )

export async function* chunksOf(message: IncomingMessage): AsyncGenerator<readonly Buffer[]> {
  for await (const chunk of message) {
    if (Buffer.isBuffer(chunk)) yield [chunk]
  }
}

/** Percent-encodes a path, except for its slashes. */
export const encodedPath = (path: string): string => encodeURIComponent(path).replaceAll('%2F', '/')
