/**
 * Issues certificates with arbitrary contents, in this process and within a millisecond.
 * `src/lib/x509` issues only valid certificates, but tests also need invalid ones (without a usage,
 * expired, from an unknown CA).
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import {
  bits,
  context,
  der,
  integer,
  objectId,
  octets,
  pem,
  sequence,
  set,
  text,
  time,
  yes,
} from '../../../src/lib/x509/der.ts'

export type IssuedCertificate = { readonly certificatePem: string; readonly keyPem: string }

export type Subject = {
  readonly cn?: string
  readonly o?: readonly string[]
  /** Value of Kubernetes' attribute for the uid of a user (1.3.6.1.4.1.57683.2). */
  readonly uid?: string
}

export type IssueOptions = Subject & {
  /**
   * Extended key usages. The default is client authentication. If the list is empty, the
   * certificate does not have this extension.
   */
  readonly usage?: readonly ('client' | 'server')[]
  /** DNS names and IPv4 addresses. */
  readonly hosts?: readonly string[]
  /**
   * Validity period: its beginning and its end, in seconds from now. By default, it begins an hour
   * ago and ends in a day.
   */
  readonly beginsIn?: number
  readonly endsIn?: number
}

const oid = {
  cn: [2, 5, 4, 3],
  o: [2, 5, 4, 10],
  uid: [1, 3, 6, 1, 4, 1, 57683, 2],
  ecdsaWithSha256: [1, 2, 840, 10045, 4, 3, 2],
  subjectAltName: [2, 5, 29, 17],
  basicConstraints: [2, 5, 29, 19],
  extendedKeyUsage: [2, 5, 29, 37],
  server: [1, 3, 6, 1, 5, 5, 7, 3, 1],
  client: [1, 3, 6, 1, 5, 5, 7, 3, 2],
} as const

const HOUR_S = 3600
const DAY_S = 24 * HOUR_S

/** A CA with a generated key. */
export class Authority {
  readonly certificatePem: string
  readonly #name: Buffer
  readonly #key: KeyObject

  constructor(cn: string) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#name = distinguishedName({ cn })
    this.#key = privateKey
    const isAuthority = sequence(objectId(oid.basicConstraints), yes, octets(sequence(yes)))
    this.certificatePem = this.#signed(this.#name, publicKey, [isAuthority], {})
  }

  issue(wanted: IssueOptions): IssuedCertificate {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { usage = ['client'], hosts = [] } = wanted
    const extensions = [
      ...(usage.length === 0
        ? []
        : [
            sequence(
              objectId(oid.extendedKeyUsage),
              octets(sequence(...usage.map((purpose) => objectId(oid[purpose])))),
            ),
          ]),
      ...(hosts.length === 0
        ? []
        : [
            sequence(objectId(oid.subjectAltName), octets(sequence(...hosts.map(alternativeName)))),
          ]),
    ]
    return {
      certificatePem: this.#signed(distinguishedName(wanted), publicKey, extensions, wanted),
      keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    }
  }

  #signed(
    subject: Buffer,
    publicKey: KeyObject,
    extensions: readonly Buffer[],
    { beginsIn = -HOUR_S, endsIn = DAY_S }: IssueOptions,
  ): string {
    const algorithm = sequence(objectId(oid.ecdsaWithSha256))
    const body = sequence(
      context(0, integer(Buffer.from([2]))), // version 3 of X.509
      integer(randomBytes(16)),
      algorithm,
      this.#name,
      sequence(timeIn(beginsIn), timeIn(endsIn)),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      ...(extensions.length === 0 ? [] : [context(3, sequence(...extensions))]),
    )
    return pem('CERTIFICATE', sequence(body, algorithm, bits(sign('sha256', body, this.#key))))
  }
}

const timeIn = (seconds: number): Buffer => time(new Date(Date.now() + seconds * 1000))

const distinguishedName = ({ cn, o = [], uid }: Subject): Buffer =>
  sequence(
    ...o.map((organization) => attribute(oid.o, organization)),
    ...(cn === undefined ? [] : [attribute(oid.cn, cn)]),
    ...(uid === undefined ? [] : [attribute(oid.uid, uid)]),
  )

const attribute = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), text(value)))

const alternativeName = (host: string): Buffer =>
  isIP(host) === 0
    ? der(0x82, Buffer.from(host, 'ascii'))
    : der(0x87, Buffer.from(host.split('.').map(Number)))
