/** Reads JSON Web Key Sets (RFC 7517, section 5), which contain the public keys of an issuer. */
import type { JWK_EC_Public, JWK_RSA_Public } from 'jose'
import { parseJson } from '../../../api/json-value.ts'
import { type Fields, isFields, textOf, textsOf } from '../../../api/object.ts'

export type IssuerKey =
  | (JWK_RSA_Public & { readonly kty: 'RSA' })
  | (JWK_EC_Public & { readonly kty: 'EC' })

/** Maximum number of keys. A token without `kid` is verified with each key. */
const KEYS_MAX = 64

/**
 * Reads a key set. Keys that are invalid or of other types are ignored (RFC 7517, section 5);
 * kube-apiserver rejects the whole set. Throws if the bytes are not a key set.
 */
export function readKeySet(bytes: Buffer): readonly IssuerKey[] {
  const set = parseJson(bytes)
  const keys = isFields(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new Error('the list of keys is missing')
  return keys.filter(isFields).flatMap(readKey).slice(0, KEYS_MAX)
}

/**
 * Reads a key. Returns a list with the key, or an empty list if the key is not usable. The returned
 * key has only the public members. It does not have `alg`, so an RSA key can verify signatures of
 * every allowed RSA algorithm, as in kube-apiserver.
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
