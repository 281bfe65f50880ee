/** Adapts the flags of a set-up to a release. The set-ups are written for 1.33. */
import { gatesOf, type ReleaseGates } from '../../../src/api/gates.ts'
import { baseRelease } from './release-recordings.ts'

const GATES_FLAG = '--feature-gates='

/**
 * Returns the flags without feature gates that the release does not have, or no longer lets users
 * change. A server that gets such a gate does not start.
 */
export function releaseFlags(flags: readonly string[], release: number): string[] {
  if (release === baseRelease) return [...flags]
  const gates = gatesOf(release)
  return flags.flatMap((flag) => {
    if (!flag.startsWith(GATES_FLAG)) return [flag]
    const settings = flag.slice(GATES_FLAG.length).split(',')
    const kept = settings.filter((setting) => canSet(gates, setting))
    return kept.length === 0 ? [] : [`${GATES_FLAG}${kept.join()}`]
  })
}

function canSet({ states }: ReleaseGates, setting: string): boolean {
  const [name = '', value] = setting.split('=')
  const state = states.get(name)
  return state !== undefined && (!state.isLocked || value === `${state.isOnByDefault}`)
}
