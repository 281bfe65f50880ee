/** Compares the table of feature gates (src/api/gate-table.ts) with the source of a release. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gatesOf } from '../../src/api/gates.ts'
import type { GateFacts } from './facts.ts'

/**
 * Compares the table with the gates that a release declares. Returns one line for each difference.
 */
export function gateFaults(minor: number, gates: readonly GateFacts[]): readonly string[] {
  const published = new Map(
    gates.map(({ name, history }) => {
      const own = history.filter(({ minCompatibility }) => minCompatibility === undefined)
      const { stage = '', default: isOnByDefault = false, locked = false } = own.at(-1) ?? {}
      return [name, text(stage, isOnByDefault, locked)]
    }),
  )
  return differences(minor, published, ownGates(minor))
}

/**
 * Possible paths of the list of all gates in the source of k8s.io/kubernetes. Release 1.31 does not
 * contain such a list.
 */
const lists = [
  'test/compatibility_lifecycle/reference/versioned_feature_list.yaml',
  'test/featuregates_linter/test_data/versioned_feature_list.yaml',
]

/**
 * The lists up to 1.35 contain some gates under the names of their Go constants. Maps these names
 * to the names of the gates.
 */
const constantNames: Readonly<Record<string, string>> = {
  CPUCFSQuotaPeriod: 'CustomCPUCFSQuotaPeriod',
  RuntimeClassInImageCriAPI: 'RuntimeClassInImageCriApi',
}

/**
 * Compares our table of gates with the list of gates in the source of a release. Returns one line
 * for each difference. Only gates that are in the list are compared, because the list leaves out
 * the gates of client-go and gates without a history.
 */
export function listFaults(minor: number, folder: string): readonly string[] {
  const path = lists.map((name) => join(folder, name)).find((name) => existsSync(name))
  if (path === undefined) return []
  const published = new Map<string, string>()
  const own = ownGates(minor)
  for (const [name, state] of readList(readFileSync(path, 'utf8')))
    published.set(own.has(name) ? name : (constantNames[name] ?? name), state)
  return differences(minor, published, new Map([...own].filter(([name]) => published.has(name))))
}

/** Returns the last state of each gate in a list. Ignores states with a minCompatibilityVersion. */
function readList(list: string): ReadonlyMap<string, string> {
  return new Map(
    list.split('\n- name: ').flatMap((entry, at): [string, string][] => {
      if (at === 0) return []
      const stages = entry
        .split(/\n +- /)
        .slice(1)
        .filter((stage) => !stage.includes('minCompatibilityVersion'))
      const [, isOn, isLocked, stage = ''] =
        /^default: (\w+)\n *lockToDefault: (\w+)\n *preRelease: (\w*)/.exec(stages.at(-1) ?? '') ??
        []
      const state = text(stage.toUpperCase(), isOn === 'true', isLocked === 'true')
      return [[entry.split('\n', 1)[0] ?? '', state]]
    }),
  )
}

const ownGates = (minor: number): ReadonlyMap<string, string> =>
  new Map(
    [...gatesOf(minor).states].map(([name, { stage, isOnByDefault, isLocked }]) => [
      name,
      text(stage, isOnByDefault, isLocked),
    ]),
  )

function differences(
  minor: number,
  published: ReadonlyMap<string, string>,
  own: ReadonlyMap<string, string>,
): readonly string[] {
  const names = new Set([...published.keys(), ...own.keys()])
  return [...names].flatMap((name) => {
    const [is, has] = [published.get(name) ?? 'not there', own.get(name) ?? 'not there']
    return is === has
      ? []
      : [`gate-table.ts: in 1.${minor}, ${name} is ${is} upstream, and ${has} here`]
  })
}

const text = (stage: string, isOnByDefault: boolean, isLocked: boolean): string =>
  `${stage} ${isOnByDefault ? 'on' : 'off'}${isLocked ? ', locked' : ''}`
