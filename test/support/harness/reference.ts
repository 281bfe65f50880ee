/**
 * The reference kube-apiserver, as the recordings of test/recorded/compat were made. No controllers
 * run beside it.
 */
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'
import { toolPath } from './etcd.ts'

export const startReference = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([toolPath('kube-apiserver')], options)
