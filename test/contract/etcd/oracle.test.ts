/** Compares the codec and the client with grpc-js. Equal requests must yield equal responses. */
import { deepEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
import fc from 'fast-check'
import { openOracle } from '../../../bench/engine/grpc-oracle.ts'
import { EtcdClient } from '../../../src/storage/etcd/client.ts'
import {
  type Compare,
  encodeDeleteRange,
  encodePut,
  encodeRange,
  encodeTxn,
  type Op,
} from '../../../src/storage/etcd/codec/kv-request.ts'
import {
  type KeyValue,
  type RangeResponse,
  readRange,
} from '../../../src/storage/etcd/codec/kv-response.ts'
import { WireReader } from '../../../src/net/grpc/codec/reader.ts'
import { startEtcd } from '../../support/harness/etcd.ts'

const service = loadSync(
  join(import.meta.dirname, '..', '..', '..', 'bench', 'engine', 'etcd.proto'),
  {
    keepCase: true,
    longs: String,
  },
)['etcdserverpb.KV']

function methodOf(name: string): MethodDefinition<object, object> {
  const method: unknown = service === undefined ? undefined : Reflect.get(service, name)
  if (!isMethod(method)) throw new Error(`the proto file has no ${name}`)
  return method
}

function isMethod(value: unknown): value is MethodDefinition<object, object> {
  return typeof value === 'object' && value !== null && 'requestDeserialize' in value
}

/** Returns what the codec of grpc-js decodes from one of our requests. */
const seenBy = (name: string, frame: Buffer): object =>
  methodOf(name).requestDeserialize(frame.subarray(5))

const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((array) => Buffer.from(array))
const number = fc.oneof(fc.nat(), fc.maxSafeNat()).filter((value) => value > 0)
const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).filter((value) => value !== 0n)

test('grpc-js decodes the requests of our etcd client to the intended messages', () => {
  fc.assert(
    fc.property(bytes, bytes, number, number, id, (key, value, limit, revision, lease) => {
      deepEqual(
        seenBy(
          'Range',
          encodeRange({
            key,
            rangeEnd: value,
            limit,
            revision,
            keysOnly: true,
            maxModRevision: limit,
          }),
        ),
        {
          key,
          range_end: value,
          limit: String(limit),
          revision: String(revision),
          keys_only: true,
          max_mod_revision: String(limit),
        },
      )
      deepEqual(seenBy('Put', encodePut({ key, value, lease, prevKv: true })), {
        key,
        value,
        lease: String(lease),
        prev_kv: true,
      })
      deepEqual(seenBy('DeleteRange', encodeDeleteRange({ key, rangeEnd: value })), {
        key,
        range_end: value,
      })
    }),
  )
})

test('grpc-js decodes the transactions of our etcd client to the intended messages', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(bytes, bytes, number, id), { maxLength: 5 }), (parts) => {
      const compare = parts.flatMap(([key, value, revision, lease]): Compare[] => [
        { key, target: 'mod', result: '=', value: revision },
        { key, target: 'value', result: '!=', value },
        { key, target: 'lease', result: '>', value: lease },
      ])
      const success = parts.map(([key, value]): Op => ({ type: 'put', key, value }))
      const failure = parts.map(
        ([key]): Op => ({
          type: 'txn',
          compare: [],
          success: [{ type: 'range', key }],
          failure: [{ type: 'delete', key }],
        }),
      )
      const expected: Record<string, object[]> = {}
      if (parts.length > 0) {
        expected['compare'] = parts.flatMap(([key, value, revision, lease]) => [
          { target: 2, key, mod_revision: String(revision) },
          { result: 3, target: 3, key, value },
          { result: 1, target: 4, key, lease: String(lease) },
        ])
        expected['success'] = parts.map(([key, value]) => ({ request_put: { key, value } }))
        expected['failure'] = parts.map(([key]) => ({
          request_txn: {
            success: [{ request_range: { key } }],
            failure: [{ request_delete_range: { key } }],
          },
        }))
      }
      deepEqual(seenBy('Txn', encodeTxn({ compare, success, failure })), expected)
    }),
  )
})

test('our etcd client decodes responses that grpc-js has encoded', () => {
  fc.assert(
    fc.property(bytes, bytes, number, id, (key, value, revision, lease) => {
      const kv = {
        key,
        value,
        create_revision: 1,
        mod_revision: revision,
        version: 3,
        lease: String(lease),
      }
      const message = methodOf('Range').responseSerialize({
        header: { revision },
        kvs: [kv, kv],
        more: true,
        count: 9,
      })
      const ours: KeyValue = {
        key,
        value,
        createRevision: 1,
        modRevision: revision,
        version: 3,
        lease,
      }
      deepEqual(readRange(new WireReader(message)), {
        revision,
        kvs: [ours, ours],
        more: true,
        count: 9,
      })
    }),
  )
})

test('our etcd client and grpc-js get the same responses from a real etcd', async () => {
  await using etcd = await startEtcd()
  await using client = new EtcdClient({ endpoints: [etcd.clientUrl] })
  const oracle = openOracle(new URL(etcd.clientUrl).host)
  try {
    for (let index = 0; index < 20; index++) {
      await client.kv.put({
        key: Buffer.from(`o/${index % 7}`),
        value: Buffer.from(`value ${index}`),
      })
    }
    const requests = [
      {},
      { limit: 3 },
      { revision: 9 },
      { keys_only: true },
      { count_only: true },
      { min_mod_revision: 17 },
    ]
    for (const request of requests) {
      const ours = await client.kv.range({
        key: Buffer.from('o/'),
        rangeEnd: Buffer.from('o0'),
        limit: request.limit,
        revision: request.revision,
        keysOnly: request.keys_only,
        countOnly: request.count_only,
        minModRevision: request.min_mod_revision,
      })
      const theirs = await oracle.call('Range', {
        key: Buffer.from('o/'),
        range_end: Buffer.from('o0'),
        ...request,
      })
      deepEqual(asOracle(ours), pick(theirs))
    }
  } finally {
    oracle.close()
  }
})

/** Returns our response with the field names of the proto file. */
function asOracle(answer: RangeResponse): object {
  return {
    kvs: answer.kvs.map((kv) => ({
      key: Buffer.from(kv.key),
      create_revision: kv.createRevision,
      mod_revision: kv.modRevision,
      version: kv.version,
      value: Buffer.from(kv.value),
      lease: Number(kv.lease),
    })),
    more: answer.more,
    count: answer.count,
    revision: answer.revision,
  }
}

function pick(answer: unknown): object {
  if (typeof answer !== 'object' || answer === null || !('header' in answer))
    throw new Error('not an answer')
  const { header, ...rest } = answer
  if (typeof header !== 'object' || header === null || !('revision' in header))
    throw new Error('not a header')
  return { ...rest, revision: header.revision }
}
