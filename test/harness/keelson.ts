/** Keelson from this tree, as a process of its own. */
import { join } from 'node:path'
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'keelson')

export const startKeelson = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([program, 'serve'], options)
