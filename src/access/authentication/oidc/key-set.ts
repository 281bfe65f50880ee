/** JSON Web Key Sets (RFC 7517, section 5): the public keys of an issuer. */
import type { JWK_EC_Public, JWK_RSA_Public } from 'jose'
import { parseJson } from '../../../api/json-value.ts'
import { type Fields, isFields, textOf, textsOf } from '../../../api/object.ts'

export type IssuerKey =
  | (JWK_RSA_Public & { readonly kty: 'RSA' })
  | (JWK_EC_Public & { readonly kty: 'EC' })

/** A token without `kid` is verified with each of them. */
const KEYS_MAX = 64

/**
 * Keys of other types, and those that are invalid, are ignored (RFC 7517, section 5); upstream
 * refuses the whole set. Fails if the bytes are no key set.
 */
export function readKeySet(bytes: Buffer): readonly IssuerKey[] {
  const set = parseJson(bytes)
  const keys = isFields(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new Error('there is no list of keys')
  return keys.filter(isFields).flatMap(readKey).slice(0, KEYS_MAX)
}

/**
 * Only public members are taken over, and not `alg`: an RSA key verifies all algorithms for RSA
 * that are allowed, as upstream.
 */
function readKey(key: Fields): IssuerKey[] {
  const [kid, use] = [textOf(key['kid']), textOf(key['use'])]
  const keyOps = textsOf(key['key_ops'])
  const about = {
    kid,
    ...(use === '' ? {} : { use }),
    ...(keyOps.length === 0 ? {} : { key_ops: [...keyOps] }),
  }
  const [n, e, crv, x, y] = ['n', 'e', 'crv', 'x', 'y'].map((name) => textOf(key[name]))
  if (key['kty'] === 'RSA' && n && e) return [{ kty: 'RSA', n, e, ...about }]
  if (key['kty'] === 'EC' && crv && x && y) return [{ kty: 'EC', crv, x, y, ...about }]
  return []
}
