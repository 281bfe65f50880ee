import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { bits, context, integer, objectId, octets, pem, sequence, set, text } from './der.ts'
import { decodePem } from './pem.ts'
import { asksForNames, readPemRequest, readRequest, RequestError } from './request.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const part = (id: readonly number[], value: string): Buffer => set(sequence(objectId(id), text(value)))
const subject = sequence(part([2, 5, 4, 10], 'a'), part([2, 5, 4, 10], 'b'), part([2, 5, 4, 3], 'somebody'))
const version = integer(Buffer.from([1]))
const info = sequence(version, subject, publicKey.export({ type: 'spki', format: 'der' }), context(0, Buffer.alloc(0)))
const algorithm = sequence(objectId([1, 2, 840, 10045, 4, 3, 2]))
const request = sequence(info, algorithm, bits(sign('sha256', info, privateKey)))

test('a request says who asks', () => {
  assert.deepEqual(readRequest(request), { organizations: ['a', 'b'], commonName: 'somebody' })
})

/** A request with a value of its own in the subject. */
function signedWith(id: readonly number[], value: Buffer): Buffer {
  const names = sequence(part([2, 5, 4, 3], 'somebody'), set(sequence(objectId(id), value)))
  const own = sequence(version, names, publicKey.export({ type: 'spki', format: 'der' }), context(0, Buffer.alloc(0)))
  return sequence(own, algorithm, bits(sign('sha256', own, privateKey)))
}

const typed = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([tag, content.length]), content])

test('attack: a name of a type that the signer reads otherwise, or not at all', () => {
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
    assert.deepEqual(readRequest(signedWith([2, 5, 4, 10], typed(tag, masters))).organizations, ['system:masters'])
  // Of other parts of a subject nothing is asked.
  assert.equal(readRequest(signedWith([2, 5, 4, 7], typed(0x1e, wide))).commonName, 'somebody')
})

const reading = (content: string) => () => readPemRequest(Buffer.from(content).toString('base64'))

test('attack: two requests, of which the signer reads the other one', () => {
  const one = pem('CERTIFICATE REQUEST', request)
  assert.equal(reading(`text\n${one}`)().commonName, 'somebody')
  for (const content of [`${one.trimEnd()}\f\n${one}`, one + one, one.replace('\n', '\nK: -----BEGIN x\n\n')])
    assert.throws(reading(content), /PEM block type must be CERTIFICATE REQUEST/)
  assert.ok(asksForNames(Buffer.from(one + one).toString('base64')))
})

function asking(...extensionIds: readonly (readonly number[])[]): string {
  const extensions = extensionIds.map((id) => sequence(objectId(id), octets(Buffer.from('x'))))
  const attribute = sequence(objectId([1, 2, 840, 113549, 1, 9, 14]), set(sequence(...extensions)))
  const other = sequence(objectId([1, 2, 840, 113549, 1, 9, 7]), set(text('x')))
  const key = publicKey.export({ type: 'spki', format: 'der' })
  const whole = sequence(
    sequence(version, subject, key, context(0, Buffer.concat([other, attribute]))),
    algorithm,
    bits(Buffer.alloc(1)),
  )
  return Buffer.from(pem('CERTIFICATE REQUEST', whole)).toString('base64')
}

test('a request that asks for more names than its subject is known, and so is one that cannot be read', () => {
  assert.ok(asksForNames(asking([2, 5, 29, 15], [2, 5, 29, 17])))
  assert.ok(!asksForNames(asking([2, 5, 29, 15])))
  assert.ok(!asksForNames(Buffer.from(pem('CERTIFICATE REQUEST', request)).toString('base64')))
  assert.ok(asksForNames(''))
  assert.ok(asksForNames(Buffer.from(pem('CERTIFICATE REQUEST', request.subarray(0, 40))).toString('base64')))
})

test('one that somebody else signed is refused, and so is everything else that is cut or changed', () => {
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

test('blocks of PEM are found between other text', () => {
  const block = pem('A', Buffer.from('one'))
  const blocks = decodePem(`text\n${block}more\n${block.replace('-----\n', '-----\nK: v\n\n')}-----BEGIN B-----\nx`)
  assert.deepEqual(
    blocks.map(({ label, hasHeaders, bytes }) => [label, hasHeaders, bytes.toString()]),
    [
      ['A', false, 'one'],
      ['A', true, 'one'],
    ],
  )
})
