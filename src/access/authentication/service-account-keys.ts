import type { JwtKey } from '../../lib/jwt.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

/**
 * The keys that verify service account tokens. They come either from files or from an external
 * signer.
 */
export interface ServiceAccountKeys {
  /**
   * Returns the keys with this id; an empty id means all keys. Returns a promise only if an
   * external signer has to be called.
   */
  readonly find: (keyId: string) => MaybePromise<readonly JwtKey[]>
}

export function fixedKeys(keys: readonly JwtKey[]): ServiceAccountKeys {
  const byId = Map.groupBy(keys, ({ id }) => id)
  return { find: (keyId) => (keyId === '' ? keys : (byId.get(keyId) ?? [])) }
}
