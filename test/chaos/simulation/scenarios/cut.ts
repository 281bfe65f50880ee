import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/**
 * The connection is closed with a FIN or a reset, and new connections are sometimes refused for a
 * while.
 */
export const cut: Scenario = {
  name: 'cut',
  members: 1,
  replicas: 1,
  disturb: async ({ proxies }, random) => {
    await sleep(random.between(20, 600))
    const refuses = random.chance(0.4)
    for (const proxy of proxies) {
      if (refuses) proxy.refuse()
      proxy.cut(random.chance(0.5) ? 'reset' : 'finish')
    }
    if (refuses) await sleep(random.between(0, 1500))
    for (const proxy of proxies) proxy.heal()
  },
}
