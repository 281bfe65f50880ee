import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

/**
 * The connection ends in the middle of a frame, or one direction stops before the connection ends.
 * Either requests arrive but their responses are lost, or requests are lost.
 */
export const frames: Scenario = {
  name: 'frames',
  members: 1,
  replicas: 1,
  disturb: async ({ proxies }, random) => {
    await sleep(random.between(20, 500))
    const direction = random.pick(['up', 'down'] as const)
    const swallows = random.chance(0.3)
    for (const proxy of proxies) {
      if (swallows) proxy.swallow(direction)
      else
        proxy.cutAfter({
          bytes: random.between(0, 4000),
          direction,
          manner: random.pick(['reset', 'finish']),
        })
    }
    await sleep(swallows ? random.between(100, 2500) : random.between(50, 400))
    for (const proxy of proxies) proxy.heal()
  },
}
