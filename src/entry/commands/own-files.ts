/** Paths of files in the user's home folder that several commands use. */
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/**
 * The folder in which `keelson dev` records the running servers of this user, or undefined if the
 * user has no cache folder.
 */
export const runningIndex = ({
  cache,
}: {
  readonly cache: string | undefined
}): string | undefined => (cache === undefined ? undefined : join(cache, 'running'))

/** The error message if running servers cannot be recorded. */
export const notNoted =
  'running servers are not recorded: there is no cache folder that only this user can write to (XDG_CACHE_HOME, or .cache in HOME)'

/** Returns the kubeconfig that kubectl reads by default. */
export function defaultKubeconfig(env: NodeJS.ProcessEnv): string {
  const [named = ''] = (env['KUBECONFIG'] ?? '').split(delimiter)
  return named || join(homedir(), '.kube', 'config')
}
