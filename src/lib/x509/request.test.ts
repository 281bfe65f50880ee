import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { bits, context, integer, objectId, pem, sequence, set, text } from './der.ts'
import { decodePem } from './pem.ts'
import { readRequest, RequestError } from './request.ts'

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
