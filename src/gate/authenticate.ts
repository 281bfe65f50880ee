/** Who makes the request: a bearer token from the token file, or nobody. */
import { createHash } from 'node:crypto'
import { unauthorized } from '../api/errors.ts'
import { type ApiRequest, firstHeader } from '../api/request.ts'
import { anonymousUser, authenticatedGroup, type TokenEntry, type User } from '../api/user.ts'

export type Authenticate = (request: Pick<ApiRequest, 'path' | 'headers'>) => User

/** What anybody may ask for: probes come without credentials. */
const openPaths: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version'])

/** Later entries of one token win. Fails with Unauthorized for a bad token, and for none outside of the open paths. */
export function createAuthenticate(tokens: readonly TokenEntry[]): Authenticate {
  // Looked up by digest: how long it takes says nothing about how much of a token was right.
  const users = new Map(tokens.map(({ token, user }) => [digest(token), withAuthenticated(user)]))
  return ({ path, headers }) => {
    const token = bearerToken(firstHeader(headers, 'authorization'))
    if (token === undefined) {
      if (openPaths.has(path)) return anonymousUser
      throw unauthorized()
    }
    const user = users.get(digest(token))
    if (user === undefined) throw unauthorized()
    return user
  }
}

const digest = (token: string): string => createHash('sha256').update(token).digest('base64')

const withAuthenticated = (user: User): User => ({ ...user, groups: [...user.groups, authenticatedGroup] })

/** Other schemes count as no credentials at all, and so does a token after two blanks. */
function bearerToken(header: string | undefined): string | undefined {
  const [scheme = '', token = ''] = (header ?? '').trim().split(' ')
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined
}
