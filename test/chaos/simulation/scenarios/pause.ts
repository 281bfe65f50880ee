import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** A member is paused: its connections stay open, but it sends nothing. Often it is the leader. */
export const pause: Scenario = {
  name: 'pause',
  members: 3,
  replicas: 1,
  disturb: async ({ cluster }, random) => {
    await sleep(random.between(200, 1000))
    const index = random.chance(0.6) ? await cluster.leader() : random.between(0, 2)
    const etcd = cluster.member(index)
    etcd.pause()
    try {
      // From a short pause to one that is longer than all timeouts for silence.
      await sleep(random.chance(0.3) ? random.between(6000, 9000) : random.between(200, 3000))
    } finally {
      etcd.resume()
    }
    await cluster.ready()
  },
}
