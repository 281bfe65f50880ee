/**
 * The certificate that this server presents to remote servers, so that they trust its headers about
 * users. Its files may be renewed while the server runs.
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
   * `files` is null if there is no certificate. If the files cannot be used yet, this is logged,
   * and no certificate is presented.
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
        'the client certificate for aggregated API servers cannot be used: requests are sent to them without it',
        how,
      )
    }
  }

  /** The certificate, as the same object until it is renewed. Undefined if there is none. */
  get current(): RemoteTls['client'] {
    return this.#current
  }

  /** Replaces the certificate. Fails if certificate and key cannot be used together. */
  set(certificatePem: string, keyPem: string): void {
    createSecureContext({ cert: certificatePem, key: keyPem })
    this.#current = { certificatePem, keyPem }
  }
}
