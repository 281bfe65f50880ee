/** Keelson from this tree, as a process of its own, without controllers unless its arguments ask for them. */
import { join } from 'node:path'
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'

const program = join(import.meta.dirname, '..', '..', 'bin', 'keelson')

export const startKeelson = ({ args = [], ...options }: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([program, 'serve'], { ...options, args: ['--controllers=-*', ...args] })
