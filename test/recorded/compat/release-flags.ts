/** Adapts the flags of a set-up to a release. The set-ups are written for 1.33. */
import { dependenciesOf, gatesOf, type ReleaseGates, startsOn } from '../../../src/api/gates.ts'
import { noEmulation } from '../../../src/config/emulation.ts'
import { parseRuntimeConfig } from '../../../src/config/runtime-config.ts'
import { baseRelease } from './release-recordings.ts'

const GATES_FLAG = '--feature-gates='
const RUNTIME_FLAG = '--runtime-config='

/**
 * Returns the flags as a release accepts them. Leaves out feature gates that the release does not
 * have or no longer lets users change, and versions of groups that the release does not have. Adds
 * the gates on which the given gates depend. A server that gets other flags does not start.
 */
export function releaseFlags(flags: readonly string[], release: number): string[] {
  if (release === baseRelease) return [...flags]
  const gates = gatesOf(release)
  const kept = flags.flatMap((flag) => {
    if (flag.startsWith(GATES_FLAG))
      return partsOf(flag, GATES_FLAG, (setting) => canSet(gates, setting))
    if (flag.startsWith(RUNTIME_FLAG))
      return partsOf(flag, RUNTIME_FLAG, (entry) => isKnownVersion(entry, release))
    return [flag]
  })
  const more = dependentSettings(settingsIn(kept), gates, release)
  return more.length === 0 ? kept : [...kept, `${GATES_FLAG}${more.join()}`]
}

/** Returns a flag with only the parts that `isKept` selects, or nothing if no part is left. */
function partsOf(flag: string, name: string, isKept: (part: string) => boolean): string[] {
  const parts = flag.slice(name.length).split(',').filter(isKept)
  return parts.length === 0 ? [] : [`${name}${parts.join()}`]
}

function canSet({ states }: ReleaseGates, setting: string): boolean {
  const [name = '', value] = setting.split('=')
  const state = states.get(name)
  return state !== undefined && (!state.isLocked || value === `${state.isOnByDefault}`)
}

const isKnownVersion = (entry: string, release: number): boolean =>
  parseRuntimeConfig([entry], { ...noEmulation, release, minor: release }).faults.length === 0

const settingsIn = (flags: readonly string[]): ReadonlyMap<string, boolean> =>
  new Map(
    flags
      .filter((flag) => flag.startsWith(GATES_FLAG))
      .flatMap((flag) => flag.slice(GATES_FLAG.length).split(','))
      .map((setting) => setting.split('='))
      .map(([name = '', value]) => [name, value === 'true']),
  )

/**
 * Returns settings that are missing: the gates that a gate of the flags needs are turned on, and a
 * gate that is on by default is turned off if the flags turn off a gate that it needs.
 */
function dependentSettings(
  settings: ReadonlyMap<string, boolean>,
  gates: ReleaseGates,
  release: number,
): string[] {
  const isOn = (name: string): boolean => settings.get(name) ?? startsOn(gates, name)
  return dependenciesOf(release).flatMap(({ name, needs }) => {
    const missing = isOn(name) ? needs.filter((need) => !isOn(need)) : []
    if (missing.length === 0) return []
    return settings.get(name) === true ? missing.map((need) => `${need}=true`) : [`${name}=false`]
  })
}
