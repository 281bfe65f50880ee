/**
 * The client's side of TLS. Files are read again for every new connection, so that a renewed certificate is used
 * without a restart.
 */
import { readFile } from 'node:fs/promises'
import { type ServerTrustAnchors, serverTrustAnchors } from '../lib/x509/trust-anchors.ts'

/** Strings are paths of files; Buffers are used as they are (PEM). */
export type TlsOptions = {
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  /** The name the server's certificate must carry, if it is not the endpoint's host. */
  readonly serverName?: string | undefined
}

export type TlsMaterial = Partial<ServerTrustAnchors> & {
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly servername?: string
}

export async function loadTls(options: TlsOptions): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([load(options.ca), load(options.cert), load(options.key)])
  return {
    ...(ca && serverTrustAnchors(ca.toString('latin1'))),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(options.serverName !== undefined && { servername: options.serverName }),
  }
}

function load(source: string | Buffer | undefined): Promise<Buffer> | Buffer | undefined {
  return typeof source === 'string' ? readFile(source) : source
}
