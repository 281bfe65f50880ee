/**
 * What a scenario may need of its server besides the usual flags (`needs`), by name. A server is started for each of them in turn;
 * one that runs already has to have what `--with` names.
 */
export type SetUp = {
  readonly flags: readonly string[]
  /** The history reaches back to the start only. */
  readonly isCompacted?: boolean
}

const gate = (name: string, isOn: boolean): SetUp => ({ flags: [`--feature-gates=${name}=${isOn}`] })

export const setUps: ReadonlyMap<string, SetUp> = new Map([
  ['WatchList', gate('WatchList', true)],
  ['compacted', { flags: [], isCompacted: true }],
])

/** Fails with the name of what is missing. */
export function setUpOf(name: string | undefined): SetUp {
  if (name === undefined) return { flags: [] }
  const found = setUps.get(name)
  if (found === undefined) throw new Error(`there is no set-up ${name}: add it to test/compat/set-ups.ts`)
  return found
}
