/**
 * Starts the kube-apiserver with which tests compare Keelson. Its configuration is that of the
 * recordings in test/recorded/compat. No controllers run in addition to it.
 */
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './api-server.ts'
import { toolPath } from './etcd.ts'

/** Starts the kube-apiserver of the pinned version, or of another release by its minor version. */
export const startReference = ({
  release,
  ...options
}: ApiServerOptions & { readonly release?: number }): Promise<ApiServerProcess> =>
  startApiServer([toolPath(releaseTool('kube-apiserver', release))], {
    argv0: 'kube-apiserver',
    ...options,
  })

/**
 * Returns the name under which test/support/tools/install installs a Kubernetes program of a
 * release. The names of the 1.33 programs contain no version.
 */
export const releaseTool = (name: string, release = 33): string =>
  release === 33 ? name : `${name}-1.${release}`
