import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** The leader is killed. The other members elect a new leader and continue. */
export const leader: Scenario = {
  name: 'leader',
  members: 3,
  replicas: 1,
  disturb: async ({ cluster }, random) => {
    await sleep(random.between(300, 1500))
    const etcd = cluster.member(await cluster.leader())
    await etcd.stop()
    await cluster.leader()
    await sleep(random.between(0, 1500))
    await etcd.start({ wait: random.chance(0.5) })
  },
}
