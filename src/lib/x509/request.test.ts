import assert from 'node:assert/strict'
import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { bits, context, integer, objectId, octets, pem, sequence, set, text, yes } from './der.ts'
import { decodePem } from './pem.ts'
import {
  asksForNames,
  readPemRequest,
  readRequest,
  RequestError,
  type WholeRequest,
} from './request.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const part = (id: readonly number[], value: string): Buffer =>
  set(sequence(objectId(id), text(value)))
const subject = sequence(
  part([2, 5, 4, 10], 'a'),
  part([2, 5, 4, 10], 'b'),
  part([2, 5, 4, 3], 'somebody'),
)
const version = integer(Buffer.from([1]))
const info = sequence(
  version,
  subject,
  publicKey.export({ type: 'spki', format: 'der' }),
  context(0, Buffer.alloc(0)),
)
const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
const request = sequence(info, algorithm, bits(sign('sha256', info, privateKey)))

test('the subject of a certificate request is read', () => {
  const { organizations, commonName, names } = readRequest(request)
  assert.deepEqual([organizations, commonName], [['a', 'b'], 'somebody'])
  assert.ok(!asksForNames({ names }))
})

/** Returns a request whose subject has an additional attribute. */
function signedWith(id: readonly number[], value: Buffer): Buffer {
  const names = sequence(part([2, 5, 4, 3], 'somebody'), set(sequence(objectId(id), value)))
  const own = sequence(
    version,
    names,
    publicKey.export({ type: 'spki', format: 'der' }),
    context(0, Buffer.alloc(0)),
  )
  return sequence(own, algorithm, bits(sign('sha256', own, privateKey)))
}

const typed = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([tag, content.length]), content])

test('attack: a certificate request is rejected if the signer may read the type of a name differently or ignore the name', () => {
  const masters = Buffer.from('system:masters')
  const wide = Buffer.from([...masters].flatMap((byte) => [0, byte]))
  const refused = /names of a subject must be of type UTF8String, PrintableString or IA5String/
  for (const id of [
    [2, 5, 4, 10],
    [2, 5, 4, 3],
  ]) {
    for (const [tag, content] of [
      [0x1e, wide],
      [0x04, masters],
      [0x14, masters],
      [0x0c, Buffer.from([0xff])],
    ] as const)
      assert.throws(() => readRequest(signedWith(id, typed(tag, content))), refused)
  }
  for (const tag of [0x0c, 0x13, 0x16])
    assert.deepEqual(readRequest(signedWith([2, 5, 4, 10], typed(tag, masters))).organizations, [
      'system:masters',
    ])
  // An attribute that is not used, such as the locality, can have a value of any type.
  assert.equal(readRequest(signedWith([2, 5, 4, 7], typed(0x1e, wide))).commonName, 'somebody')
})

const reading = (content: string) => () => readPemRequest(Buffer.from(content).toString('base64'))

test('attack: a PEM text with two certificate requests is rejected, because the signer might read the second one', () => {
  const one = pem('CERTIFICATE REQUEST', request)
  assert.equal(reading(`text\n${one}`)().commonName, 'somebody')
  for (const content of [
    `${one.trimEnd()}\f\n${one}`,
    one + one,
    one.replace('\n', '\nK: -----BEGIN x\n\n'),
  ])
    assert.throws(reading(content), /PEM block type must be CERTIFICATE REQUEST/)
})

const extensionRequest = [1, 2, 840, 113549, 1, 9, 14]
const dnsNames = (...names: readonly string[]): Buffer =>
  sequence(...names.map((name) => typed(0x82, Buffer.from(name))))
const extension = (id: readonly number[], value: Buffer): Buffer =>
  sequence(objectId(id), octets(value))
const named = (...names: readonly string[]): Buffer => extension([2, 5, 29, 17], dnsNames(...names))

/** Returns a request with these attributes and a valid signature. */
function withAttributes(...attributes: readonly Buffer[]): Buffer {
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const own = sequence(version, subject, key, context(0, Buffer.concat(attributes)))
  return sequence(own, algorithm, bits(sign('sha256', own, privateKey)))
}

test('readRequest detects whether a certificate request contains subject alternative names', () => {
  const other = sequence(objectId([1, 2, 840, 113549, 1, 9, 7]), set(text('x')))
  const asking = (...extensions: readonly Buffer[]): WholeRequest =>
    readRequest(
      withAttributes(other, sequence(objectId(extensionRequest), set(sequence(...extensions)))),
    )
  const usage = extension([2, 5, 29, 15], Buffer.from('x'))
  assert.deepEqual(asking(usage, named('a', 'b')).names.dns, ['a', 'b'])
  assert.ok(asksForNames(asking(usage, named('a'))))
  assert.ok(!asksForNames(asking(usage)))
  const critical = sequence(objectId([2, 5, 29, 17]), yes, octets(dnsNames('a')))
  assert.deepEqual(asking(critical).names.dns, ['a'])
})

test('attack: subject alternative names that the signer reads but the approver does not see are rejected', () => {
  const id = objectId(extensionRequest)
  const one = sequence(named('a'))
  const twice = /duplicate requested extensions/
  const refused: readonly [RegExp, readonly Buffer[]][] = [
    [/trailing data/, [sequence(id, set(one, sequence(named('b'))))]],
    [/tags don't match/, [sequence(id, sequence(one))]],
    [/trailing data/, [sequence(id, set(one), set(sequence(named('b'))))]],
    [/truncated/, [sequence(id, set())]],
    [twice, [sequence(id, set(one)), sequence(id, set(sequence(named('b'))))]],
    [twice, [sequence(id, set(sequence())), sequence(id, set(one))]],
    [twice, [sequence(id, set(sequence(named('a'), named('b'))))]],
    [
      /malformed extension/,
      [sequence(id, set(sequence(sequence(objectId([2, 5, 29, 17]), dnsNames('a')))))],
    ],
    [
      /trailing data/,
      [
        sequence(
          id,
          set(sequence(extension([2, 5, 29, 17], Buffer.concat([dnsNames(), dnsNames('a')])))),
        ),
      ],
    ],
  ]
  for (const [why, attributes] of refused) {
    assert.throws(() => readRequest(withAttributes(...attributes)), why)
    assert.throws(() => readRequest(withAttributes(...attributes)), RequestError)
  }
})

const namedBy = (tag: number, content: Buffer) => () => {
  const value = sequence(extension([2, 5, 29, 17], sequence(typed(tag, content))))
  return readRequest(withAttributes(sequence(objectId(extensionRequest), set(value))))
}

test('certificate requests with malformed names are rejected', () => {
  assert.throws(
    namedBy(0x87, Buffer.alloc(5)),
    new RequestError('x509: cannot parse IP address of length 5'),
  )
  assert.throws(namedBy(0x82, Buffer.from('ä')), new RequestError('x509: SAN dNSName is malformed'))
  assert.equal(namedBy(0x87, Buffer.alloc(16))().names.addresses.length, 1)
})

test('a request that is signed with another key, truncated or changed is rejected', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const forged = sequence(info, algorithm, bits(sign('sha256', info, other)))
  assert.throws(() => readRequest(forged), new RequestError('x509: ECDSA verification failure'))
  assert.throws(() => readRequest(Buffer.concat([request, Buffer.from([0])])), /trailing data/)
  assert.throws(() => readRequest(sequence(info, info)), /^RequestError: /)
  for (let length = 0; length < request.length; length++) {
    assert.throws(() => readRequest(request.subarray(0, length)), RequestError)
  }
  for (let at = 0; at < request.length; at++) {
    const changed = Buffer.from(request)
    changed.writeUInt8((request[at] ?? 0) ^ 0x11, at)
    assert.throws(() => readRequest(changed), RequestError, `byte ${at}`)
  }
})

type KeyPair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
const ecdsaId = [1, 2, 840, 10045, 4, 3, 2]
const rsaId = [1, 2, 840, 113549, 1, 1, 11]

/** Returns a request for this key, signed with the key. */
function signedBy(keys: KeyPair, id: readonly number[], digest: string | null = 'sha256'): Buffer {
  const own = sequence(version, subject, keys.publicKey.export({ type: 'spki', format: 'der' }))
  return sequence(own, sequence(objectId(id)), bits(sign(digest, own, keys.privateKey)))
}

const ec = (namedCurve: string): KeyPair => generateKeyPairSync('ec', { namedCurve })

const rsa = (modulusLength: number, publicExponent = 65537): KeyPair =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent })

test('only certificate requests with keys that Go supports are accepted', () => {
  const ed25519 = [1, 3, 101, 112]
  for (const name of ['secp224r1', 'P-256', 'P-384', 'P-521'])
    assert.equal(readRequest(signedBy(ec(name), ecdsaId)).commonName, 'somebody')
  assert.equal(readRequest(signedBy(rsa(1024, 3), rsaId)).commonName, 'somebody')
  assert.equal(
    readRequest(signedBy(generateKeyPairSync('ed25519'), ed25519, null)).commonName,
    'somebody',
  )
  const weak =
    'crypto/rsa: 512-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)'
  assert.throws(() => readRequest(signedBy(rsa(512), rsaId)), new RequestError(weak))
  const large = new RequestError('crypto/rsa: public exponent too large')
  assert.throws(() => readRequest(signedBy(rsa(1024, 2 ** 32 - 5), rsaId)), large)
  for (const name of ['brainpoolP256r1', 'secp256k1'])
    assert.throws(
      () => readRequest(signedBy(ec(name), ecdsaId)),
      new RequestError('x509: unsupported elliptic curve'),
    )
  const described = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' })
  const unnamed = new RequestError('x509: invalid ECDSA parameters')
  assert.throws(() => readRequest(signedBy(described, ecdsaId)), unnamed)
  const unknown = new RequestError('x509: cannot verify signature: algorithm unimplemented')
  assert.throws(() => readRequest(signedBy(generateKeyPairSync('ed448'), ed25519, null)), unknown)
  const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })
  assert.throws(() => readRequest(signedBy(dsa, rsaId)), unknown)
})

test('a signature algorithm that does not match the type of the key is rejected', () => {
  const other =
    'x509: signature algorithm specifies an RSA public key, but have public key of type *ecdsa.PublicKey'
  assert.throws(
    () => readRequest(signedBy({ publicKey, privateKey }, rsaId)),
    new RequestError(other),
  )
})

test('attack: a long request is rejected before it is parsed', () => {
  const long = /must not be longer than 65536 bytes/
  assert.throws(() => readRequest(sequence(info, algorithm, bits(Buffer.alloc(65_536)))), long)
  assert.throws(reading(pem('CERTIFICATE REQUEST', Buffer.alloc(3_000_000))), long)
  assert.throws(reading(pem('CERTIFICATE REQUEST', Buffer.alloc(66_000))), long)
  // The longest request that is parsed. Its parsing fails later, because its signature is wrong.
  const longest = sequence(info, algorithm, bits(Buffer.alloc(65_000)))
  assert.throws(
    reading(pem('CERTIFICATE REQUEST', longest)),
    new RequestError('x509: ECDSA verification failure'),
  )
})

test('PEM blocks are found in a text with other content', () => {
  const block = pem('A', Buffer.from('one'))
  const blocks = decodePem(
    `text\n${block}more\n${block.replace('-----\n', '-----\nK: v\n\n')}-----BEGIN B-----\nx`,
  )
  assert.deepEqual(
    blocks.map(({ label, hasHeaders, bytes }) => [label, hasHeaders, bytes.toString()]),
    [
      ['A', false, 'one'],
      ['A', true, 'one'],
    ],
  )
})

const pss = generateKeyPairSync('rsa', { modulusLength: 2048 })
const digestIds = {
  sha1: [1, 3, 14, 3, 2, 26],
  sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1],
  sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2],
  sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3],
} as const
type Digest = keyof typeof digestIds

const small = (value: number): Buffer => Buffer.from([2, 1, value])

type Pss = {
  digest: Digest
  mask?: Digest
  told?: number
  saltLength?: number
  trailer?: number
  isBare?: boolean
}

/**
 * Returns a request that is signed with RSASSA-PSS. `told` is the salt length that the request
 * states; the signature is created with `saltLength`.
 */
function signedByPss({
  digest,
  mask = digest,
  saltLength = 32,
  told: reported = saltLength,
  trailer,
  isBare = false,
}: Pss): Buffer {
  const key = pss.publicKey.export({ type: 'spki', format: 'der' })
  const own = sequence(version, subject, key, context(0, Buffer.alloc(0)))
  const digestOf = (name: Digest): Buffer =>
    sequence(objectId(digestIds[name]), ...(isBare ? [] : [Buffer.from([5, 0])]))
  const parameters = sequence(
    context(0, digestOf(digest)),
    context(1, sequence(objectId([1, 2, 840, 113549, 1, 1, 8]), digestOf(mask))),
    context(2, small(reported)),
    ...(trailer === undefined ? [] : [context(3, small(trailer))]),
  )
  const padding = constants.RSA_PKCS1_PSS_PADDING
  const signature = sign(digest, own, { key: pss.privateKey, padding, saltLength })
  return sequence(
    own,
    sequence(objectId([1, 2, 840, 113549, 1, 1, 10]), parameters),
    bits(signature),
  )
}

test('RSASSA-PSS signatures are accepted only with parameters that Go supports', () => {
  for (const [digest, saltLength] of [
    ['sha256', 32],
    ['sha384', 48],
    ['sha512', 64],
  ] as const) {
    for (const isBare of [false, true]) {
      assert.equal(readRequest(signedByPss({ digest, saltLength, isBare })).commonName, 'somebody')
      assert.equal(
        readRequest(signedByPss({ digest, saltLength, isBare, trailer: 1 })).commonName,
        'somebody',
      )
    }
  }
  for (const other of [
    { digest: 'sha1', saltLength: 20 },
    { digest: 'sha256', mask: 'sha1' },
    { digest: 'sha256', mask: 'sha512' },
    { digest: 'sha256', saltLength: 20 },
    { digest: 'sha512', saltLength: 32 },
    { digest: 'sha256', trailer: 2 },
  ] as const) {
    assert.throws(
      () => readRequest(signedByPss(other)),
      /cannot verify signature: algorithm unimplemented/,
    )
  }
  // The request states another salt length than that of its signature.
  const lying = signedByPss({ digest: 'sha256', saltLength: 20, told: 32 })
  assert.throws(() => readRequest(lying), /crypto\/rsa: verification error/)
})
