/**
 * Starts a kube-apiserver with which Keelson is compared, as for the recordings of
 * test/recorded/compat. No controllers run next to it.
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
 * Returns the name of a Kubernetes program for test/support/tools/install. The programs of 1.33
 * have no version in their names.
 */
export const releaseTool = (name: string, release = 33): string =>
  release === 33 ? name : `${name}-1.${release}`
