/**
 * TLS options of a client. Files are read again for every new connection, so that a renewed
 * certificate is used without a restart.
 */
import { readFile } from 'node:fs/promises'
import type { SecureContext } from 'node:tls'
import { systemContext } from '../../lib/x509/system-roots.ts'
import { type ServerTrustAnchors, serverTrustAnchors } from '../../lib/x509/trust-anchors.ts'

/**
 * TLS settings of a client. For certificates and keys, a string is the path of a file, and a Buffer
 * contains PEM.
 */
export type TlsOptions = {
  /** CA certificates. If undefined, the system's root certificates are used. */
  readonly ca?: string | Buffer | undefined
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  /**
   * The name for which the server's certificate must be valid, if it differs from the endpoint's
   * host.
   */
  readonly serverName?: string | undefined
}

export type TlsMaterial = Partial<ServerTrustAnchors> & {
  readonly cert?: Buffer
  readonly key?: Buffer
  /**
   * Certificate, key and CA certificates that are already loaded. If defined, they replace the
   * other options.
   */
  readonly secureContext?: SecureContext
  readonly servername?: string
}

export async function loadTls(options: TlsOptions): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([
    load(options.ca),
    load(options.cert),
    load(options.key),
  ])
  const named = options.serverName === undefined ? {} : { servername: options.serverName }
  const own = { ...(cert && { cert }), ...(key && { key }) }
  if (ca === undefined) return { secureContext: systemContext(own), ...named }
  return { ...serverTrustAnchors(ca.toString('latin1')), ...own, ...named }
}

function load(source: string | Buffer | undefined): Promise<Buffer> | Buffer | undefined {
  return typeof source === 'string' ? readFile(source) : source
}
