/** Paths of files in the user's home folder that several commands use. */
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** The folder in which each `keelson dev` process of this user records that it is running. */
export const runningIndex = ({
  cache,
}: {
  readonly cache: string | undefined
}): string | undefined => (cache === undefined ? undefined : join(cache, 'running'))

/** The error if there is no folder for the records of running servers. */
export const notNoted =
  'running servers are not recorded: there is no cache folder that only this user can write to (XDG_CACHE_HOME, or .cache in HOME)'

/** Returns the kubeconfig that kubectl reads by default. */
export function defaultKubeconfig(env: NodeJS.ProcessEnv): string {
  const [named = ''] = (env['KUBECONFIG'] ?? '').split(delimiter)
  return named || join(homedir(), '.kube', 'config')
}
