/**
 * What this server shows to remote ones, so that they believe it who a user is. Its files may be
 * renewed while the server runs.
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
   * `files`: null: there is none. If they cannot be used yet, which is logged, it shows nothing.
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
        'the certificate for aggregated API servers cannot be used: none is shown to them',
        how,
      )
    }
  }

  /** The same object until it is renewed. Undefined: there is none. */
  get current(): RemoteTls['client'] {
    return this.#current
  }

  /** Fails if they cannot be used together. */
  set(certificatePem: string, keyPem: string): void {
    createSecureContext({ cert: certificatePem, key: keyPem })
    this.#current = { certificatePem, keyPem }
  }
}
