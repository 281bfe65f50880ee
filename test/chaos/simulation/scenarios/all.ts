import type { Scenario } from '../scenario.ts'
import { clock } from './clock.ts'
import { compaction } from './compaction.ts'
import { cut } from './cut.ts'
import { disk } from './disk.ts'
import { frames } from './frames.ts'
import { leader } from './leader.ts'
import { minority } from './minority.ts'
import { mixed } from './mixed.ts'
import { partition } from './partition.ts'
import { pause } from './pause.ts'
import { restart } from './restart.ts'
import { slow } from './slow.ts'

export const scenarios: readonly Scenario[] = [
  restart,
  leader,
  minority,
  partition,
  pause,
  cut,
  slow,
  frames,
  compaction,
  disk,
  clock,
  mixed,
]
