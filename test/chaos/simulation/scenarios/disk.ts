import { setTimeout as sleep } from 'node:timers/promises'
import { defragment, disarmAlarms, put, readAlarms } from '../../../support/harness/gateway.ts'
import type { Scenario } from '../scenario.ts'

/** Storage quota of etcd. The writes below exceed it within a second. */
const QUOTA_BYTES = 8 * 1024 * 1024
const FILLER_BYTES = 50_000
/** Maximum number of writes to fill the disk. Far fewer writes fill it. */
const FILLERS_MAX = 4000
/**
 * Number of concurrent writes. If several writes are pending when the quota is exceeded, etcd can
 * apply a write and still report an error.
 */
const FILLERS_AT_ONCE = 6

/**
 * The database is full: writes are rejected, but reads and watches continue. When space is
 * available again, writes succeed.
 */
export const disk: Scenario = {
  name: 'disk',
  members: 1,
  replicas: 1,
  etcdArgs: [`--quota-backend-bytes=${QUOTA_BYTES}`],
  disturb: async (world, random) => {
    await sleep(random.between(200, 1000))
    const url = world.cluster.member(0).clientUrl
    await Promise.all(Array.from({ length: FILLERS_AT_ONCE }, () => fill(url)))
    if (!(await readAlarms(url)).includes('NOSPACE')) throw new Error('the disk did not fill up')
    await sleep(random.between(300, 2000))
    await world.compact()
    await defragment(url)
    await disarmAlarms(url)
  },
}

async function fill(url: string): Promise<void> {
  const value = 'x'.repeat(FILLER_BYTES)
  for (let index = 0; index < FILLERS_MAX; index++) {
    try {
      await put(url, { key: '/filler', value })
    } catch (error) {
      if (String(error).includes('space exceeded')) return
      throw error
    }
  }
}
