/** Runs Keelson as a separate process. */
import { join } from 'node:path'
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'

/**
 * The program of this checkout, or of the built package that KEELSON_PROGRAM names. .ci/run builds
 * the package once, because it starts several times faster.
 */
export const keelsonProgram =
  process.env['KEELSON_PROGRAM'] ?? join(import.meta.dirname, '..', '..', '..', 'bin', 'keelson')

export const startKeelson = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([keelsonProgram, 'serve'], options)
