import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/**
 * A member, often the leader, is separated from the other members but not from its clients. It
 * continues to respond with an outdated state. Its responses must not be treated as the latest
 * state.
 */
export const partition: Scenario = {
  name: 'partition',
  members: 3,
  replicas: 2,
  disturb: async ({ cluster }, random) => {
    await sleep(random.between(200, 1000))
    const index = random.chance(0.6) ? await cluster.leader() : random.between(0, 2)
    await cluster.isolate(index)
    try {
      await sleep(random.chance(0.3) ? random.between(6000, 8000) : random.between(500, 4000))
    } finally {
      cluster.reunite()
    }
    await cluster.ready()
  },
}
