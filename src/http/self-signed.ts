/**
 * A self-signed certificate, for a server that was given none. Node can read certificates but not make them, so the few
 * structures of RFC 5280 that one needs are written here as DER.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export type Certificate = { readonly certificatePem: string; readonly keyPem: string }

/** Long enough that nobody's test cluster dies of it. */
const VALID_YEARS = 10

const oid = {
  commonName: [2, 5, 4, 3],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  keyUsage: [2, 5, 29, 15],
  extendedKeyUsage: [2, 5, 29, 37],
  subjectKeyIdentifier: [2, 5, 29, 14],
  serverAuth: [1, 3, 6, 1, 5, 5, 7, 3, 1],
} as const

/** `hosts` are names and addresses that clients may know the server by. It is its own authority: clients can trust it as a CA file. */
export function createSelfSigned(commonName: string, hosts: readonly string[], nowMs: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const publicDer = publicKey.export({ type: 'spki', format: 'der' })
  const name = sequence(set(sequence(objectId(oid.commonName), der(0x0c, Buffer.from(commonName)))))
  const algorithm = sequence(objectId(oid.ecdsaWithSha256))
  // An hour back, for clients whose clock is behind.
  const from = new Date(nowMs - 3_600_000)
  const to = new Date(nowMs)
  to.setUTCFullYear(to.getUTCFullYear() + VALID_YEARS)
  const body = sequence(
    context(0, integer(Buffer.from([2]))), // X.509 v3
    integer(randomBytes(16)),
    algorithm,
    name,
    sequence(time(from), time(to)),
    name,
    publicDer,
    context(3, sequence(...extensions(hosts, publicDer))),
  )
  const signature = sign('sha256', body, privateKey)
  return {
    certificatePem: pem('CERTIFICATE', sequence(body, algorithm, bits(signature))),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function extensions(hosts: readonly string[], publicDer: Buffer): Buffer[] {
  const isCritical = der(0x01, Buffer.from([0xff]))
  // Digital signature, key encipherment, certificate signing: the first, third and sixth bit.
  const usage = der(0x03, Buffer.from([2, 0b1010_0100]))
  const keyId = createHash('sha1').update(publicDer).digest()
  return [
    sequence(objectId(oid.keyUsage), isCritical, octets(usage)),
    sequence(objectId(oid.extendedKeyUsage), octets(sequence(objectId(oid.serverAuth)))),
    sequence(objectId(oid.basicConstraints), isCritical, octets(sequence(isCritical))),
    sequence(objectId(oid.subjectKeyIdentifier), octets(octets(keyId))),
    sequence(objectId(oid.subjectAltName), octets(sequence(...[...new Set(hosts)].map(alternativeName)))),
  ]
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? der(0x82, Buffer.from(host, 'ascii')) : der(0x87, addressBytes(host))
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes an IPv6 address in its canonical form, without an IPv4 tail.
  const canonical = new URL(`https://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail = ''] = canonical.split('::')
  const before = head.split(':').filter((group) => group !== '')
  const after = tail.split(':').filter((group) => group !== '')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = canonical.includes('::') ? [...before, ...zeros, ...after] : before
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const hex = length.toString(16)
  const lengthBytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | lengthBytes.length]), lengthBytes, content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const set = (...parts: readonly Buffer[]): Buffer => der(0x31, Buffer.concat(parts))
const context = (number: number, part: Buffer): Buffer => der(0xa0 | number, part)
const octets = (content: Buffer): Buffer => der(0x04, content)
const bits = (content: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.from([0]), content]))

/** Positive and without leading zeros: the first byte is brought between 1 and 127. */
function integer(content: Buffer): Buffer {
  const first = (content[0] ?? 0) & 0x7f
  return der(0x02, Buffer.concat([Buffer.from([first === 0 ? 1 : first]), content.subarray(1)]))
}

/** Until 2049 a certificate's times have two-digit years. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}

function objectId(numbers: readonly number[]): Buffer {
  const [first = 0, second = 0, ...rest] = numbers
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80)
  return digits
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
