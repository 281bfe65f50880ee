/**
 * The client certificate that this server presents to remote servers, so that they trust this
 * server's headers about users. The files of the certificate can be replaced while the server runs.
 */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import type { RemoteTls } from './connections.ts'

type Files = { readonly certificatePath: string; readonly keyPath: string }

export class ClientCertificate {
  #current: RemoteTls['client']

  /**
   * Reads the certificate. `files` is null if no certificate is configured. If the files cannot be
   * used yet, this is logged, and no certificate is presented.
   */
  constructor(files: Files | null, log: Log) {
    if (files === null) return
    const { certificatePath, keyPath } = files
    try {
      this.set(readFileSync(certificatePath, 'utf8'), readFileSync(keyPath, 'utf8'))
    } catch (error) {
      const how = { certificatePath, keyPath, error: messageOf(error) }
      log(
        'error',
        'the client certificate for aggregated API servers cannot be used; requests are sent without it',
        how,
      )
    }
  }

  /**
   * The current certificate. It is the same object until the certificate is replaced. Undefined if
   * there is no certificate.
   */
  get current(): RemoteTls['client'] {
    return this.#current
  }

  /** Replaces the certificate. Fails if the certificate and the key do not match. */
  set(certificatePem: string, keyPem: string): void {
    createSecureContext({ cert: certificatePem, key: keyPem })
    this.#current = { certificatePem, keyPem }
  }
}
