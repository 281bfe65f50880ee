import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * The wall clock jumps by seconds or years, in both directions, sometimes together with a broken
 * connection. The results must not depend on the wall clock.
 */
export const clock: Scenario = {
  name: 'clock',
  members: 1,
  replicas: 1,
  disturb: async ({ clock: date, proxies }, random) => {
    await sleep(random.between(20, 400))
    const size = random.pick([1000, 60_000, DAY_MS, 4000 * DAY_MS])
    date.jump(random.pick([-1, 1]) * size)
    if (random.chance(0.1)) for (const proxy of proxies) proxy.cut()
  },
}
