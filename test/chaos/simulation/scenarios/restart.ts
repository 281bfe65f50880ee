import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** The only member is killed at a random moment and restarted with the same data. */
export const restart: Scenario = {
  name: 'restart',
  members: 1,
  replicas: 1,
  disturb: async ({ cluster }, random) => {
    await sleep(random.between(200, 1500))
    const etcd = cluster.member(0)
    await etcd.stop(random.chance(0.8) ? 'SIGKILL' : 'SIGTERM')
    await sleep(random.between(0, 1500))
    await etcd.start()
  },
}
