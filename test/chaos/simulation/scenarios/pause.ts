import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** A member, often the leader, is paused: its connections stay open, but it sends nothing. */
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
      // Most pauses are short. The others exceed all timeouts for silent connections.
      await sleep(random.chance(0.3) ? random.between(6000, 9000) : random.between(200, 3000))
    } finally {
      etcd.resume()
    }
    await cluster.ready()
  },
}
