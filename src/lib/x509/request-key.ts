/**
 * The public key of a certificate request. Accepts exactly the types, sizes and curves that Go
 * supports.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { DerReader } from './der-reader.ts'

/** The reason why a certificate request is rejected, with the messages of Go's crypto/x509. */
export class RequestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RequestError'
  }
}

export type KeyType = 'RSA' | 'ECDSA' | 'Ed25519'

export type RequestKey = { readonly type: KeyType; readonly publicKey: KeyObject }

const OBJECT_ID = 0x06
const NULL = 0x05

/** The key types by the DER of their object ids in hex. */
const types: ReadonlyMap<string, KeyType> = new Map([
  ['2a864886f70d010101', 'RSA'],
  ['2a8648ce3d0201', 'ECDSA'],
  ['2b6570', 'Ed25519'],
])

/**
 * The curves that Go supports: P-224, P-256, P-384 and P-521, by the DER of their object ids in
 * hex.
 */
const curves: ReadonlySet<string> = new Set([
  '2b81040021',
  '2a8648ce3d030107',
  '2b81040022',
  '2b81040023',
])

/** Minimum size of an RSA key in bits, as in Go. Shorter keys can be broken. */
const RSA_BITS_MIN = 1024
/**
 * Maximum exponent of an RSA key, as in Go. Larger exponents do not fit into an int on all
 * platforms.
 */
const RSA_EXPONENT_MAX = 2n ** 31n - 1n

/**
 * Reads a SubjectPublicKeyInfo. Keys of other types and curves are rejected before OpenSSL parses
 * them.
 */
export function readRequestKey(der: Buffer): RequestKey {
  const algorithm = new DerReader(der).sequence('publicKeyInfo').sequence('AlgorithmIdentifier')
  const type = types.get(algorithm.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex'))
  // For a key of an unknown type, Go reports that it cannot verify the signature.
  if (type === undefined)
    throw new RequestError('x509: cannot verify signature: algorithm unimplemented')
  checkParameters[type](algorithm)
  const publicKey = toKey(der)
  if (type === 'RSA') checkRsa(publicKey)
  return { type, publicKey }
}

const checkParameters: { readonly [type in KeyType]: (parameters: DerReader) => void } = {
  RSA: (parameters) => {
    if (parameters.isAtEnd || parameters.any().tag !== NULL) {
      throw new RequestError('x509: RSA key missing NULL parameters')
    }
  },
  ECDSA: (parameters) => {
    const curve = parameters.isAtEnd ? undefined : parameters.any()
    // A curve is named by an object identifier. Any other value describes the parameters of a
    // curve.
    if (curve?.tag !== OBJECT_ID) throw new RequestError('x509: invalid ECDSA parameters')
    if (!curves.has(curve.content.toString('hex')))
      throw new RequestError('x509: unsupported elliptic curve')
  },
  Ed25519: (parameters) => {
    if (!parameters.isAtEnd)
      throw new RequestError('x509: Ed25519 key encoded with illegal parameters')
  },
}

function toKey(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new RequestError('x509: unsupported public key', { cause })
  }
}

function checkRsa({ asymmetricKeyDetails }: KeyObject): void {
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails ?? {}
  if (modulusLength < RSA_BITS_MIN) {
    const advice = 'see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size'
    throw new RequestError(`crypto/rsa: ${modulusLength}-bit keys are insecure (${advice})`)
  }
  if (publicExponent < 2n)
    throw new RequestError('crypto/rsa: public exponent too small or negative')
  if (publicExponent % 2n === 0n) throw new RequestError('crypto/rsa: public exponent is even')
  if (publicExponent > RSA_EXPONENT_MAX)
    throw new RequestError('crypto/rsa: public exponent too large')
}
