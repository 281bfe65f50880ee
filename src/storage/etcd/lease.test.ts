import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../lib/time/clock.ts'
import { GrpcError } from '../../net/grpc/errors.ts'
import { EtcdLeases } from './lease.ts'
import { StreamHandle, type StreamOptions } from '../../net/grpc/stream-handle.ts'

/** Returns a lease client for a fake etcd that handles every stream with `answer`. */
const leasesOn = (answer: (options: StreamOptions) => void, clock = systemClock): EtcdLeases =>
  new EtcdLeases(
    {
      stream: (options) => {
        setImmediate(answer, options)
        return new StreamHandle(options, () => new Promise<never>(() => undefined))
      },
      unary: () => Promise.reject(new Error('nobody calls it')),
    },
    { timeoutMs: 60_000, clock },
  )

/** A message that contains a bytes field longer than the message itself. */
const unreadable = Buffer.from([0x0a, 0x7f])

test('the renewal of a lease fails if the response cannot be decoded', async () => {
  const leases = leasesOn(({ onMessage }) => onMessage(unreadable))
  await assert.rejects(
    leases.keepAliveOnce(1n),
    (error) => error instanceof GrpcError && error.code === 'Internal',
  )
})

test('an unexpected error ends the lease but does not crash the process', async () => {
  const leases = leasesOn(({ onMessage }) => onMessage(unreadable))
  const lost = await new Promise<GrpcError>((onLost) => {
    leases.keepAlive({ id: 1n, ttlSeconds: 0.05 }, { onLost })
  })
  assert.equal(lost.code, 'Internal')
})

test('a handler of lease renewals that throws an error does not crash the process', async () => {
  // The response for lease ID 1, with a time to live of 1 second.
  const renewed = Buffer.from([0x10, 1, 0x18, 1])
  let renewals = 0
  // The clock stands still, so that the lease cannot expire, even on a busy machine.
  const leases = leasesOn(({ onMessage }) => onMessage(renewed), {
    ...systemClock,
    monotonicMs: () => 0,
  })
  const again = Promise.withResolvers<void>()
  const kept = leases.keepAlive(
    { id: 1n, ttlSeconds: 0.05 },
    {
      onRenewed: () => {
        if (++renewals === 1) throw new TypeError('of the handler')
        again.resolve()
      },
      onLost: (error) => again.reject(error),
    },
  )
  await again.promise
  kept.stop()
})
