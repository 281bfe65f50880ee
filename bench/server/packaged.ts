/**
 * Starts Keelson as it is shipped, for comparisons with kube-apiserver. If it ran from its sources,
 * Node's type stripper, a WebAssembly program, would take another 38 MiB.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ApiServerOptions,
  type ApiServerProcess,
  startApiServer,
} from '../../test/support/harness/api-server.ts'
import { installPackage } from '../../test/support/harness/package.ts'

export class PackagedKeelson implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'keelson-package-'))

  async start(options: ApiServerOptions): Promise<ApiServerProcess> {
    return await startApiServer([await installPackage(this.#dir), 'serve'], options)
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}
