/**
 * Parses the flags of commands that have only a few flags, such as `keelson dev`. A flag is written
 * as `--name=value` or `--name value`, or with its letter. A switch is written as `--name`;
 * `--name=false` turns it off.
 */

/** A flag. The properties `type`, `short` and `multiple` are those of Node's `parseArgs`. */
export type CommandFlag = {
  /** A flag of type boolean is a switch. */
  readonly type: 'string' | 'boolean'
  /** The letter of the short form. */
  readonly short?: string
  readonly multiple?: boolean
  /**
   * The placeholder for the value in the help text. For `file` and `folder`, shells complete paths.
   */
  readonly value?: string
  /** The values that the flag accepts, if there are only a few. */
  readonly choices?: readonly string[]
  /** Whether the value is a list of choices, separated by commas. */
  readonly isList?: boolean
  /** The default in the help text. */
  readonly shownDefault?: string
  readonly help: string
}

export type CommandFlagTable = { readonly [name: string]: CommandFlag }

/** The flag `-o json`, for all commands that can print JSON. */
export const outputFlag = {
  type: 'string',
  short: 'o',
  value: 'json',
  choices: ['json'],
  help: 'Print JSON, which programs can read.',
} as const satisfies CommandFlag

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

export function readCommandFlags(args: readonly string[], flags: CommandFlagTable): CommandFlags {
  const found = new Map<string, string>()
  const on = new Set<string>()
  const rest: string[] = []
  const left = [...args]
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    const [, name = '', inline] = longFlag.exec(argument) ?? shortFlagOf(argument, flags)
    const type = Object.hasOwn(flags, name) ? flags[name]?.type : undefined
    if (type === 'string') found.set(name, inline ?? left.shift() ?? '')
    else if (type === 'boolean' && (inline ?? 'true') === 'true') on.add(name)
    else if (type === 'boolean' && inline === 'false') on.delete(name)
    else rest.push(argument)
  }
  return { values: found, on, rest }
}

const longFlag = /^--([a-z-]+)(?:=([\s\S]*))?$/
const shortFlag = /^-([a-zA-Z])=?([\s\S]+)?$/

/**
 * Parses a short form such as `-ojson`. Returns the whole argument, the name of the flag, and the
 * value.
 */
function shortFlagOf(argument: string, flags: CommandFlagTable): readonly (string | undefined)[] {
  const [, letter, inline] = shortFlag.exec(argument) ?? []
  const found = Object.entries(flags).find(
    ([, { short }]) => short !== undefined && short === letter,
  )
  return [argument, found?.[0], inline]
}

/** Returns an error for each flag whose value is missing. */
export const missingValues = ({ values }: Pick<CommandFlags, 'values'>): string[] =>
  [...values].flatMap(([name, value]) =>
    value === '' ? [`--${name} needs a value: --${name}=…`] : [],
  )
