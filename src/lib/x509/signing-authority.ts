/**
 * A CA that issues certificates for requests, in the same way as kube-controller-manager does with
 * Go's crypto/x509. The subject, the public key and the alternative names are taken from the
 * request; the CA chooses the extensions and their order.
 */
import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { promisify } from 'node:util'
import {
  bits,
  context,
  der,
  integer,
  objectId,
  octets,
  pem,
  printable,
  sequence,
  set,
  text,
  time,
  yes,
} from './der.ts'
import { DerReader } from './der-reader.ts'
import { decodePem } from './pem.ts'
import type { AlternativeNames, WholeRequest } from './request.ts'

const signAsync = promisify(sign)

export type Issue = {
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Object ids of extended key usages. */
  readonly extendedUsages: readonly (readonly number[])[]
  /** Bits of the key usage. The first is bit 0 in RFC 5280, section 4.2.1.3. */
  readonly usageBits: number
}

const oid = {
  keyUsage: [2, 5, 29, 15],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  authorityKeyIdentifier: [2, 5, 29, 35],
  extendedKeyUsage: [2, 5, 29, 37],
} as const

/**
 * The attributes of a subject that Go supports, in the order in which Go encodes them. `id` is the
 * object id in hex.
 */
const subjectParts: readonly {
  readonly id: string
  readonly numbers: readonly number[]
  readonly isSingle?: true
}[] = [
  { id: '550406', numbers: [2, 5, 4, 6] },
  { id: '550408', numbers: [2, 5, 4, 8] },
  { id: '550407', numbers: [2, 5, 4, 7] },
  { id: '550409', numbers: [2, 5, 4, 9] },
  { id: '550411', numbers: [2, 5, 4, 17] },
  { id: '55040a', numbers: [2, 5, 4, 10] },
  { id: '55040b', numbers: [2, 5, 4, 11] },
  { id: '550403', numbers: [2, 5, 4, 3], isSingle: true },
  { id: '550405', numbers: [2, 5, 4, 5], isSingle: true },
]

export class SigningAuthority {
  /** The time at which the certificate of the CA expires. */
  readonly notAfterMs: number
  readonly #key: KeyObject
  readonly #algorithm: Algorithm
  readonly #name: Buffer
  readonly #keyId: Buffer | undefined

  /**
   * Creates a CA. Fails unless the PEM contains exactly one certificate and the key matches the
   * certificate.
   */
  constructor(certificatePem: string, keyPem: string) {
    const blocks = decodePem(certificatePem).filter(({ label }) => label === 'CERTIFICATE')
    const [block] = blocks
    if (block === undefined || blocks.length > 1)
      throw new Error(`expected 1 certificate, found ${blocks.length}`)
    const certificate = new X509Certificate(block.bytes)
    this.#key = createPrivateKey(keyPem)
    if (!certificate.checkPrivateKey(this.#key))
      throw new Error('tls: private key does not match public key')
    this.#algorithm = algorithmOf(this.#key)
    this.notAfterMs = certificate.validToDate.getTime()
    const { name, keyId } = readAuthority(certificate.raw)
    this.#name = name
    this.#keyId = keyId
  }

  /** Issues a certificate in PEM. */
  async issue(request: WholeRequest, issue: Issue): Promise<string> {
    const algorithm = sequence(
      objectId(this.#algorithm.id),
      ...(this.#algorithm.hasNull ? [der(NULL, Buffer.alloc(0))] : []),
    )
    const subject = subjectOf(request)
    const body = sequence(
      context(0, integer(Buffer.from([2]))), // version 3 of X.509
      integer(randomBytes(SERIAL_BYTES)),
      algorithm,
      this.#name,
      sequence(time(new Date(issue.notBeforeMs)), time(new Date(issue.notAfterMs))),
      subject,
      request.publicKey.export({ type: 'spki', format: 'der' }),
      context(
        3,
        sequence(...this.#extensions(request.names, issue, subject.length === EMPTY_LENGTH)),
      ),
    )
    // Sign in a thread, because an RSA signature takes milliseconds.
    const signature = await signAsync(this.#algorithm.digest, body, this.#key)
    return pem('CERTIFICATE', sequence(body, algorithm, bits(signature)))
  }

  #extensions(
    names: AlternativeNames,
    { usageBits, extendedUsages }: Issue,
    isNameless: boolean,
  ): Buffer[] {
    const all: Buffer[] = []
    if (usageBits !== 0) all.push(extension(oid.keyUsage, true, bitString(usageBits)))
    if (extendedUsages.length > 0) {
      all.push(
        extension(
          oid.extendedKeyUsage,
          false,
          sequence(...extendedUsages.map((id) => objectId(id))),
        ),
      )
    }
    // An empty sequence means that the issued certificate is not a CA.
    all.push(extension(oid.basicConstraints, true, sequence()))
    if (this.#keyId !== undefined) {
      all.push(extension(oid.authorityKeyIdentifier, false, sequence(der(KEY_ID, this.#keyId))))
    }
    const general = generalNames(names)
    // If the subject is empty, only the alternative names identify the owner, so the extension must
    // be critical (RFC 5280, section 4.2.1.6).
    if (general.length > 0)
      all.push(extension(oid.subjectAltName, isNameless, sequence(...general)))
    return all
  }
}

const SERIAL_BYTES = 16
const NULL = 0x05
const KEY_ID = 0x80
/** Length of an empty sequence in DER: its tag and its length, without content. */
const EMPTY_LENGTH = 2

const extension = (id: readonly number[], isCritical: boolean, value: Buffer): Buffer =>
  sequence(objectId(id), ...(isCritical ? [yes] : []), octets(value))

type Algorithm = {
  readonly id: readonly number[]
  readonly digest: string | null
  readonly hasNull: boolean
}

function algorithmOf(key: KeyObject): Algorithm {
  if (key.asymmetricKeyType === 'rsa')
    return { id: [1, 2, 840, 113549, 1, 1, 11], digest: 'sha256', hasNull: true }
  if (key.asymmetricKeyType === 'ed25519')
    return { id: [1, 3, 101, 112], digest: null, hasNull: false }
  const curve = createPublicKey(key).asymmetricKeyDetails?.namedCurve
  const ecdsa = ecdsaOf.get(curve ?? '')
  if (ecdsa === undefined) throw new Error('x509: only RSA, ECDSA and Ed25519 keys supported')
  return { ...ecdsa, hasNull: false }
}

const ecdsaOf: ReadonlyMap<string, { readonly id: readonly number[]; readonly digest: string }> =
  new Map([
    ['prime256v1', { id: [1, 2, 840, 10045, 4, 3, 2], digest: 'sha256' }],
    ['secp384r1', { id: [1, 2, 840, 10045, 4, 3, 3], digest: 'sha384' }],
    ['secp521r1', { id: [1, 2, 840, 10045, 4, 3, 4], digest: 'sha512' }],
  ])

/** Returns the encoded subject of the CA, and its key id. */
function readAuthority(raw: Buffer): { readonly name: Buffer; readonly keyId: Buffer | undefined } {
  const body = new DerReader(raw).sequence('Certificate').sequence('TBSCertificate')
  // Skips version, serial number, algorithm, issuer and validity.
  for (let before = 0; before < 5; before++) body.any()
  const name = body.any().whole
  let keyId: Buffer | undefined
  while (!body.isAtEnd) {
    const { tag, content } = body.any()
    if (tag !== EXTENSIONS) continue
    for (const all = new DerReader(content).sequence('Extensions'); !all.isAtEnd; ) {
      const one = all.sequence('Extension')
      const id = one.any().content.toString('hex')
      const next = one.any()
      const value = next.tag === BOOLEAN ? one.any().content : next.content
      if (id === subjectKeyId) keyId = new DerReader(value).any().content
    }
  }
  return { name, keyId }
}

const EXTENSIONS = 0xa3
const BOOLEAN = 0x01
const subjectKeyId = '551d0e'

/** Encodes a subject as Go does: several values of an attribute are encoded as one set. */
function subjectOf({ subject }: WholeRequest): Buffer {
  return sequence(
    ...subjectParts.flatMap(({ id, numbers, isSingle }) => {
      const found = subject.filter((part) => part.id === id && part.text !== '')
      const kept = isSingle === true ? found.slice(-1) : found
      if (kept.length === 0) return []
      const values = kept.map((part) => sequence(objectId(numbers), textOf(part.text)))
      return [set(...values.toSorted((one, other) => one.compare(other)))]
    }),
  )
}

/**
 * Encodes a text as Go does: as PrintableString if this type allows all characters, otherwise as
 * UTF8String.
 */
const textOf = (value: string): Buffer =>
  /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? printable(value) : text(value)

const generalNames = ({ dns, emails, addresses, uris }: AlternativeNames): Buffer[] => [
  ...dns.map((name) => der(0x82, Buffer.from(name, 'latin1'))),
  ...emails.map((name) => der(0x81, Buffer.from(name, 'latin1'))),
  ...addresses.map((address) => der(0x87, address)),
  ...uris.map((uri) => der(0x86, Buffer.from(uri, 'latin1'))),
]

/** Encodes named bits (X.690, section 11.2.2), without trailing zeros. */
function bitString(value: number): Buffer {
  const bytes = [0, 0]
  for (let bit = 0; bit < 16; bit++)
    if ((value & (1 << bit)) !== 0) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  const used = bytes[1] === 0 ? bytes.slice(0, 1) : bytes
  const last = used.at(-1) ?? 0
  const unused = last === 0 ? 0 : 31 - Math.clz32(last & -last)
  return der(0x03, Buffer.from([unused, ...used]))
}
