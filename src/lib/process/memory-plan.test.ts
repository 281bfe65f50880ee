import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planCache, planMemory } from './memory-plan.ts'

const MIB = 1 << 20
const GIB = 1 << 30
const given = {
  requestBytesMax: null,
  cacheBytesMax: null,
  totalBytes: 24 * GIB,
  constrainedBytes: 0,
  heapBytes: 4 * GIB,
  filesMax: 1_048_576,
}

test('without a memory limit, requests get one gigabyte of memory, and the cache is unlimited', () => {
  assert.deepEqual(planMemory(given), {
    requestBytes: GIB,
    neededBytesMax: (2 / 5) * 4 * GIB,
    cacheBytes: Infinity,
    connections: 10_000,
  })
  // In a cgroup without a limit, the reported limit is larger than the memory of the machine.
  assert.equal(planMemory({ ...given, constrainedBytes: 2 ** 63 }).cacheBytes, Infinity)
})

test('the memory of a container of 512 MB is divided between requests, cache and connections', () => {
  const plan = planMemory({ ...given, constrainedBytes: 512 * MIB, heapBytes: 304 * MIB })
  assert.deepEqual(plan, {
    requestBytes: 128 * MIB,
    neededBytesMax: (2 / 5) * 304 * MIB,
    cacheBytes: 128 * MIB,
    connections: 1310,
  })
})

test('the memory budgets for requests and the cache leave at least 150 MiB for the program', () => {
  for (const mib of [256, 512, 1024, 8192]) {
    const { requestBytes, cacheBytes } = planMemory({ ...given, constrainedBytes: mib * MIB })
    assert.ok(requestBytes + cacheBytes <= (mib - 150) * MIB, `${mib} MiB`)
    assert.ok(cacheBytes >= 16 * MIB)
  }
})

test('configured limits for the memory of requests and the cache take precedence over computed limits', () => {
  const plan = planMemory({ ...given, requestBytesMax: 20 * MIB, cacheBytesMax: 30 * MIB })
  assert.deepEqual([plan.requestBytes, plan.cacheBytes], [20 * MIB, 30 * MIB])
})

test('the sizes of the parts of a cache add up to the size of the whole cache', () => {
  const usual = {
    pastBytes: 24 * MIB,
    historiesBytes: 64 * MIB,
    decodedBytes: 32 * MIB,
    memoBytes: 24 * MIB,
  }
  for (const bytes of [16 * MIB, 160 * MIB, 4 * GIB]) {
    for (const caches of [1, 3]) {
      const { objectBytes, ...parts } = planCache(bytes, usual, caches)
      const ofEach = Object.values(parts).reduce((sum, part) => sum + part, 0)
      assert.equal(objectBytes + caches * ofEach, bytes)
      assert.ok(objectBytes >= bytes / 2)
    }
  }
})

test('the limit for client connections leaves file descriptors for other uses', () => {
  for (const [filesMax, connections] of [
    [120, 60],
    [1024, 512],
    [4096, 3584],
    [Infinity, 10_000],
  ] as const)
    assert.equal(planMemory({ ...given, filesMax }).connections, connections)
})
