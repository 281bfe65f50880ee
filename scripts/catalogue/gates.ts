/** Compares the table of feature gates (src/api/gate-rows.ts) with the pinned version. */
import { gateRows } from '../../src/api/gate-rows.ts'
import type { Facts } from './facts.ts'

/** Returns the differences, one line for each. */
export function gateFaults({ gates }: Facts): readonly string[] {
  const published = new Map(
    gates.map(({ name, history }) => {
      const { stage = '', default: isOnByDefault = false, locked = false } = history.at(-1) ?? {}
      return [name, text(stage, isOnByDefault, locked)]
    }),
  )
  const own = new Map(
    gateRows.flatMap(({ names, stage, isOnByDefault, isLocked }) =>
      names.map((name) => [name, text(stage, isOnByDefault, isLocked)]),
    ),
  )
  const names = new Set([...published.keys(), ...own.keys()])
  return [...names].flatMap((name) => {
    const [is, has] = [published.get(name) ?? 'not there', own.get(name) ?? 'not there']
    return is === has ? [] : [`gate-rows.ts: ${name} is ${is} upstream, and ${has} here`]
  })
}

const text = (stage: string, isOnByDefault: boolean, isLocked: boolean): string =>
  `${stage} ${isOnByDefault ? 'on' : 'off'}${isLocked ? ', locked' : ''}`
