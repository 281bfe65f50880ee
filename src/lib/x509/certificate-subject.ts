/**
 * Reads the subject of a certificate from its DER. Do not use Node's `toLegacyObject` or
 * `getPeerCertificate` instead: they crash the whole process if the key is on a curve without a
 * NIST name in OpenSSL, such as brainpoolP256r1.
 */
import { isUtf8 } from 'node:buffer'
import { DerError, DerReader, type DerValue } from './der-reader.ts'

/**
 * The subject attributes that are read. The values are their object identifiers (OIDs), DER-encoded
 * in hex.
 */
export const subjectPart = {
  commonName: '550403',
  organization: '55040a',
  /** The UID of a user: 1.3.6.1.4.1.57683.2, as in kube-apiserver. */
  uid: '2b0601040183c25302',
} as const

type PartId = (typeof subjectPart)[keyof typeof subjectPart]

/** The values of each subject attribute, in the order of the certificate. */
export type CertificateSubject = ReadonlyMap<PartId, readonly string[]>

const OBJECT_ID = 0x06
const VERSION = 0xa0

/**
 * Reads the subject. `raw` is a certificate that OpenSSL has parsed. Fails with a DerError if a
 * name cannot be read, because the owner of the certificate is then unknown.
 */
export function readCertificateSubject(raw: Buffer): CertificateSubject {
  const body = new DerReader(raw).sequence('Certificate').sequence('TBSCertificate')
  // Skip the version, which is absent in certificates with version 1, and then serial number,
  // algorithm, issuer and validity.
  const others = body.any().tag === VERSION ? 4 : 3
  for (let before = 0; before < others; before++) body.any()
  const found = new Map<PartId, string[]>(Object.values(subjectPart).map((id) => [id, []]))
  for (const sets = body.sequence('Name'); !sets.isAtEnd; ) {
    for (const set = new DerReader(sets.any().content); !set.isAtEnd; ) {
      const part = set.sequence('AttributeTypeAndValue')
      const id = part.expect(OBJECT_ID, 'ObjectIdentifier').content.toString('hex')
      for (const known of Object.values(subjectPart))
        if (known === id) found.get(known)?.push(textIn(part.any()))
    }
  }
  return found
}

const latin1 = (content: Buffer): string => content.toString('latin1')

/**
 * Decoders for the content of a string, by the tag of its type. They return undefined if the
 * content is invalid.
 */
const decoders: ReadonlyMap<number, (content: Buffer) => string | undefined> = new Map([
  [0x0c, (content: Buffer) => (isUtf8(content) ? content.toString('utf8') : undefined)],
  // NumericString, PrintableString, T61String and IA5String. OpenSSL decodes T61String as Latin-1,
  // and so do other implementations.
  [0x12, latin1],
  [0x13, latin1],
  [0x14, latin1],
  [0x16, latin1],
  [0x1c, wide],
  [
    0x1e,
    (content: Buffer) =>
      content.length % 2 === 0 ? Buffer.from(content).swap16().toString('utf16le') : undefined,
  ],
])

/** Decodes a UniversalString, which has four bytes per character. */
function wide(content: Buffer): string | undefined {
  if (content.length % 4 !== 0) return undefined
  let text = ''
  for (let at = 0; at < content.length; at += 4) {
    const point = content.readUInt32BE(at)
    if (point > CODE_POINT_MAX) return undefined
    text += String.fromCodePoint(point)
  }
  return text
}

/** The last code point of Unicode. */
const CODE_POINT_MAX = 0x10ffff

function textIn({ tag, content }: DerValue): string {
  const text = decoders.get(tag)?.(content)
  if (text === undefined || !text.isWellFormed())
    throw new DerError('x509: invalid RDNSequence: invalid attribute value')
  return text
}
