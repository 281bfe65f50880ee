import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/** The network is slow, or stalls for a while, but all connections stay open. */
export const slow: Scenario = {
  name: 'slow',
  members: 1,
  replicas: 1,
  disturb: async ({ proxies }, random) => {
    await sleep(random.between(50, 800))
    const stalls = random.chance(0.5)
    const delayMs = random.between(5, 400)
    for (const proxy of proxies) {
      if (stalls) proxy.stall()
      else proxy.delay(delayMs)
    }
    await sleep(
      stalls && random.chance(0.3) ? random.between(5000, 8000) : random.between(100, 2500),
    )
    for (const proxy of proxies) proxy.heal()
  },
}
