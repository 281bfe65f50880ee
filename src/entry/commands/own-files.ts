/** Files of the user that more than one command reads. */
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Where each `keelson dev` of this user notes that it runs. */
export const runningIndex = ({
  cache,
}: {
  readonly cache: string | undefined
}): string | undefined => (cache === undefined ? undefined : join(cache, 'running'))

/** Where that is undefined. */
export const notNoted =
  'it is not known what runs: there is no folder of this user alone to note it in (XDG_CACHE_HOME, or .cache in HOME)'

/** What kubectl reads if nothing else is said. */
export function defaultKubeconfig(env: NodeJS.ProcessEnv): string {
  const [named = ''] = (env['KUBECONFIG'] ?? '').split(delimiter)
  return named || join(homedir(), '.kube', 'config')
}
