/** Keelson as a process of its own. */
import { join } from 'node:path'
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'

/**
 * Of this tree, or the built package that KEELSON_PROGRAM names: .ci/run builds it once, and each
 * start is several times cheaper.
 */
export const keelsonProgram =
  process.env['KEELSON_PROGRAM'] ?? join(import.meta.dirname, '..', '..', '..', 'bin', 'keelson')

export const startKeelson = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([keelsonProgram, 'serve'], options)
