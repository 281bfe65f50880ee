/** Arguments to flags and their raw values. Nothing is checked here but that the flags exist. */
import { type FlagName, flags, isFlagName } from './flags.ts'

/** All values of each flag that was given, in order. */
export type RawFlags = ReadonlyMap<FlagName, readonly string[]>

/** `--name=value`, `--name value`, and `--name` alone for booleans. */
export function parseArgs(args: readonly string[]): { readonly raw: RawFlags; readonly faults: readonly string[] } {
  const raw = new Map<FlagName, string[]>()
  const faults: string[] = []
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument)
    const [, name = '', inline] = match ?? []
    if (match === null) {
      faults.push(`${JSON.stringify(argument)} is not a flag: flags begin with "--"; keelson serve --help lists them`)
    } else if (!isFlagName(name)) {
      faults.push(`--${name} is not a flag that keelson serve knows: keelson serve --help lists those it does`)
      // Its value must not look like another mistake.
      if (inline === undefined && rest[0] !== undefined && !rest[0].startsWith('-')) rest.shift()
    } else {
      const value = inline ?? (flags[name].type === 'boolean' ? 'true' : rest.shift())
      if (value === undefined) faults.push(`--${name} needs a value: --${name}=…`)
      else raw.set(name, [...(raw.get(name) ?? []), value])
    }
  }
  return { raw, faults }
}
