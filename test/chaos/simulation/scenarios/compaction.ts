import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/**
 * The history is compacted while one replica is disconnected from etcd and the other continues to
 * write. After its reconnection, the first replica must read all objects again.
 */
export const compaction: Scenario = {
  name: 'compaction',
  members: 1,
  replicas: 2,
  disturb: async (world, random) => {
    await sleep(random.between(200, 1000))
    if (random.chance(0.2)) {
      await world.compact() // This has no effect, because all replicas are connected.
      return
    }
    const away = random.pick(world.replicas)
    for (const proxy of away.proxies) {
      proxy.refuse()
      proxy.cut()
    }
    await sleep(random.between(100, 1500))
    await world.compact()
    await sleep(random.between(0, 300))
    for (const proxy of away.proxies) proxy.heal()
  },
}
