import type { JwtKey } from '../../lib/jwt.ts'
import type { MaybePromise } from '../../lib/concurrency/maybe-promise.ts'

/** The keys that verify service account tokens: of files, or of an external signer. */
export interface ServiceAccountKeys {
  /** '': all. A promise only if an external signer has to be asked. */
  readonly find: (keyId: string) => MaybePromise<readonly JwtKey[]>
}

export function fixedKeys(keys: readonly JwtKey[]): ServiceAccountKeys {
  const byId = Map.groupBy(keys, ({ id }) => id)
  return { find: (keyId) => (keyId === '' ? keys : (byId.get(keyId) ?? [])) }
}
