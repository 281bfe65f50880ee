/**
 * Selects the user of a kubeconfig whose credentials are sent to a webhook. The name of a user is
 * `host:port`, `*.suffix:port` or `*`. For port 443, the port can be omitted. If no name matches,
 * the user of the current context is selected, if there is one.
 */
import type { KubeconfigUser, KubeconfigUsers } from './kubeconfig.ts'
import type { Clock } from '../../lib/time/clock.ts'
import type { ClientCredentials, CredentialsFor } from './call.ts'
import { KubeconfigCredentials } from './kubeconfig-credentials.ts'

const HTTPS_PORT = 443

export function credentialsByHost(
  { byName, current }: KubeconfigUsers,
  clock: Clock,
): CredentialsFor {
  const made = new Map<KubeconfigUser, ClientCredentials>()
  return (host, port) => {
    const name = namesFor(host, port).find((one) => byName.has(one))
    const user = (name === undefined ? undefined : byName.get(name)) ?? current
    if (user === null) return undefined
    const credentials = made.get(user) ?? new KubeconfigCredentials(user, clock)
    made.set(user, credentials)
    return credentials
  }
}

/** Returns the names to look up, from the most specific to the least specific. */
function namesFor(host: string, port: number): string[] {
  const shown = host.includes(':') ? `[${host}]` : host
  const withoutPort = port === HTTPS_PORT ? [host, ...suffixesOf(host)] : []
  return [`${shown}:${port}`, ...suffixesOf(`${shown}:${port}`), ...withoutPort, '*']
}

/** Returns the wildcards that match a host. For `a.b.c`, they are `*.b.c` and `*.c`. */
function suffixesOf(target: string): string[] {
  const parts = target.split('.')
  return parts.slice(1).map((_, at) => `*.${parts.slice(at + 1).join('.')}`)
}
