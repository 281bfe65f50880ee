/**
 * Starts a kube-apiserver with which Keelson is compared, as for the recordings of
 * test/recorded/compat. No controllers run next to it.
 */
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'
import { toolPath } from './etcd.ts'

export const startReference = (options: ApiServerOptions): Promise<ApiServerProcess> =>
  startApiServer([toolPath('kube-apiserver')], options)
