/**
 * Parses the flags of the commands with few flags, such as `keelson dev`. A flag is written as
 * `--name=value` or `--name value`. A switch is written as `--name`; `--name=false` turns it off.
 */

export type CommandFlags = {
  /**
   * Values by flag. If a flag is repeated, its last value is used. An empty string means that the
   * value is missing.
   */
  readonly values: ReadonlyMap<string, string>
  /** The switches that are turned on. */
  readonly on: ReadonlySet<string>
  /** All other arguments, in order. */
  readonly rest: readonly string[]
}

export type FlagNames = {
  readonly values?: readonly string[]
  readonly switches?: readonly string[]
}

export function readCommandFlags(
  args: readonly string[],
  { values = [], switches = [] }: FlagNames,
): CommandFlags {
  const found = new Map<string, string>()
  const on = new Set<string>()
  const rest: string[] = []
  const left = [...args]
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    const [, name = '', inline] = /^--([a-z-]+)(?:=([\s\S]*))?$/.exec(argument) ?? []
    // limit: `switches` has only the few flags of a command, so each search is short
    const isSwitch = switches.includes(name)
    // limit: `values` has only the few flags of a command, so each search is short
    if (values.includes(name)) found.set(name, inline ?? left.shift() ?? '')
    else if (isSwitch && (inline ?? 'true') === 'true') on.add(name)
    else if (isSwitch && inline === 'false') on.delete(name)
    else rest.push(argument)
  }
  return { values: found, on, rest }
}

/** Returns an error for each flag whose value is missing. */
export const missingValues = ({ values }: Pick<CommandFlags, 'values'>): string[] =>
  [...values].flatMap(([name, value]) =>
    value === '' ? [`--${name} needs a value: --${name}=…`] : [],
  )
