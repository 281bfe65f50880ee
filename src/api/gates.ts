/**
 * Feature gates, for all parts of the server: which gates exist in a release of Kubernetes, and
 * their defaults. config/feature-gates.ts reads the `--feature-gates` flag, which sets gates, and
 * lists the gates that change Keelson's behavior.
 */
import { gateDependencies } from './gate-dependencies.ts'
import { gateTable } from './gate-table.ts'
import { defaultMinor, minCompatibilityOf } from './releases.ts'

export type Gates = {
  /**
   * The minor version of Kubernetes that the server implements. Some behavior differs between
   * versions without being controlled by a gate.
   */
  readonly release: number
  /**
   * The lowest minor version of all servers in the cluster. New CEL expressions can use only
   * libraries that this version has. The default is the version before `release`.
   */
  readonly minCompatibility?: number
  /** The minor version that the server emulates. The default is `release`. */
  readonly emulated?: number
  readonly isOn: (name: string) => boolean
}

const gateStages = ['ALPHA', 'BETA', 'GA', 'DEPRECATED'] as const
export type GateStage = (typeof gateStages)[number]

export type GateState = {
  readonly stage: GateStage
  readonly isOnByDefault: boolean
  /** Whether the gate can no longer be changed from its default. */
  readonly isLocked: boolean
}

/** The feature gates of a release that emulates a version. */
export type ReleaseGates = {
  /** The gates that the emulated version has, sorted by name. */
  readonly states: ReadonlyMap<string, GateState>
  /** Gates that were added after the emulated version. They are off and cannot be set. */
  readonly absent: ReadonlySet<string>
  /** Gates that were removed after they had been on by default. Their behavior is always on. */
  readonly ended: ReadonlySet<string>
}

/** Returns whether a gate is on if `--feature-gates` does not set it. */
export const startsOn = ({ states, ended }: ReleaseGates, name: string): boolean =>
  states.get(name)?.isOnByDefault ?? ended.has(name)

export type GateVersions = {
  /** The minor version that is emulated. By default, no other version is emulated. */
  readonly emulated?: number
  /**
   * The lowest minor version that another server of the cluster can have
   * (`--min-compatibility-version`). As in kube-apiserver, the default is the version before the
   * emulated one.
   */
  readonly minCompatibility?: number
}

/** Cached results of `gatesOf`. Their number is limited by the number of releases. */
const expanded = new Map<string, ReleaseGates>()

/** Returns the feature gates of a release. `release` is its minor version. */
export function gatesOf(release: number, versions: GateVersions = {}): ReleaseGates {
  const { emulated = release } = versions
  const { minCompatibility = minCompatibilityOf(release, emulated) } = versions
  const key = `${release} ${emulated} ${minCompatibility}`
  let gates = expanded.get(key)
  if (gates === undefined) {
    gates = expand(release, emulated, minCompatibility)
    expanded.set(key, gates)
  }
  return gates
}

/** Returns the gates of a release if `--feature-gates` is not set. */
export const defaultGatesOf = (release: number): Gates => ({
  release,
  isOn: (name) => startsOn(gatesOf(release), name),
})

/** State of the gates of the default release if `--feature-gates` is not set. */
export const defaultGates: Gates = defaultGatesOf(defaultMinor)

/**
 * Reads the rows of a release from the table. A row has the form `Name 31-36: 31 ALPHA, 34 GA on`:
 * the releases that have the gate, and its stages with the minor versions in which they began.
 */
function expand(release: number, emulated: number, minCompatibility: number): ReleaseGates {
  const states = new Map<string, GateState>()
  const absent = new Set<string>()
  const ended = new Set<string>()
  for (const [, name = '', first, last, stages = ''] of gateTable.matchAll(
    /^(\w+) (\d+)-(\d+): (.+)$/gm,
  )) {
    if (release < Number(first)) continue
    if (release > Number(last)) {
      const state = readStage(stages.slice(stages.lastIndexOf(',') + 1).trim())
      if (state.isOnByDefault) ended.add(name)
      else ended.delete(name)
      continue
    }
    ended.delete(name)
    let state: GateState | undefined
    for (const text of stages.split(', ')) {
      const { since, minVersion, ...stage } = readStage(text)
      if (since <= emulated && minVersion <= minCompatibility) state = stage
    }
    if (state === undefined) absent.add(name)
    else states.set(name, state)
  }
  return { states, absent, ended }
}

/** A gate that can be on only if other gates (`needs`) are also on. */
export type GateDependency = { readonly name: string; readonly needs: readonly string[] }

/**
 * Returns the dependencies of gates that a release checks. Releases before 1.35 check no
 * dependencies.
 */
export const dependenciesOf = (release: number): readonly GateDependency[] =>
  [...gateDependencies.matchAll(/^(\w+) (\d+)-(\d+): (.+)$/gm)].flatMap(
    ([, name = '', first, last, needs = '']) =>
      release >= Number(first) && release <= Number(last) ? { name, needs: needs.split(' ') } : [],
  )

type StageRow = GateState & { readonly since: number; readonly minVersion: number }

/**
 * Reads a stage such as `34 GA on locked`, or `37 BETA on min=37`. The latter applies only if the
 * minimum compatibility version is at least 37.
 */
function readStage(text: string): StageRow {
  const [since, name, ...marks] = text.split(' ')
  const stage = gateStages.find((one) => one === name)
  if (stage === undefined) throw new Error(`unknown stage of a feature gate: ${text}`)
  const min = marks.find((mark) => mark.startsWith('min='))
  return {
    since: Number(since),
    stage,
    isOnByDefault: marks.includes('on'),
    isLocked: marks.includes('locked'),
    minVersion: Number(min?.slice('min='.length) ?? 0),
  }
}
