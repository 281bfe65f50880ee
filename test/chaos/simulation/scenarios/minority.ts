import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/**
 * Two of three members are down. The last member is running, but must neither acknowledge a write
 * nor serve a linearizable read.
 */
export const minority: Scenario = {
  name: 'minority',
  members: 3,
  replicas: 1,
  disturb: async ({ cluster }, random) => {
    await sleep(random.between(300, 1000))
    const survivor = random.between(0, 2)
    const others = cluster.members.filter((_, index) => index !== survivor)
    await Promise.all(others.map((member) => member.stop()))
    await sleep(random.between(500, 2500))
    await Promise.all(others.map((member) => member.start({ wait: false })))
    await cluster.ready()
  },
}
