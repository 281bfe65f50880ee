import { cut } from './cut.ts'
import { frames } from './frames.ts'
import { leader } from './leader.ts'
import { pause } from './pause.ts'
import { slow } from './slow.ts'
import type { Scenario } from '../scenario.ts'

/**
 * Two replicas use three members. Faults of all kinds occur at any time, often two at the same
 * time.
 */
export const mixed: Scenario = {
  name: 'mixed',
  members: 3,
  replicas: 2,
  disturb: async (world, random) => {
    const inEtcd = random.pick([leader, pause])
    const onTheWay = random.pick([cut, slow, frames])
    const chosen = random.pick([[inEtcd], [onTheWay], [inEtcd, onTheWay]])
    // Wait for all faults, even if one of them fails, because no fault may outlive the run.
    const ends = await Promise.allSettled(
      chosen.map(({ name, disturb }) => disturb(world, random.fork(name))),
    )
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    if (random.chance(0.2)) await world.compact()
  },
}
