/**
 * Parses command-line arguments into flags and their raw values. `Values` validates the values
 * later.
 */
import { type FlagName, flags, isFlagName } from './flags.ts'

/**
 * The values of each flag in the order given. The flags are in the order of their last occurrence.
 */
export type RawFlags = ReadonlyMap<FlagName, readonly string[]>

/**
 * Parses `--name=value`, `--name value`, `--name` for booleans, and `-v4`. As in kube-apiserver,
 * the words of a flag name can also be separated by `_`.
 */
export function parseArgs(args: readonly string[]): {
  readonly raw: RawFlags
  readonly faults: readonly string[]
  readonly hints: readonly string[]
} {
  const raw = new Map<FlagName, string[]>()
  const faults: string[] = []
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (isDeclined(argument)) continue
    const match = longFlag.exec(argument) ?? verbosityFlag.exec(argument)
    const [, given = '', inline] = match ?? []
    const name = given.replaceAll('_', '-')
    if (match === null) {
      faults.push(notAFlag(argument))
    } else if (isFlagName(name)) {
      const value = inline ?? (flags[name].type === 'boolean' ? 'true' : rest.shift())
      if (value === undefined)
        faults.push(
          `flag needs an argument: ${argument.startsWith('--') ? argument : `'${given}' in ${argument}`}`,
        )
      else {
        const earlier = raw.get(name) ?? []
        raw.delete(name)
        raw.set(name, [...earlier, value])
      }
    } else {
      faults.push(`unknown flag: --${given}`)
      // The next argument can be the value of the unknown flag. In this case, it must not cause
      // another error.
      if (inline === undefined && rest[0]?.startsWith('-') === false) rest.shift()
    }
  }
  return { raw, faults, hints: faults.length > 0 ? ['keelson serve --help lists the flags'] : [] }
}

/** Whether an argument is --help or --version with the value false. Such an argument is ignored. */
const isDeclined = (argument: string): boolean =>
  /^--(?:help|version)=(?:0|f|F|false|False|FALSE)$/.test(argument)

const longFlag = /^--([^=]+)(?:=([\s\S]*))?$/
const verbosityFlag = /^-(v)(?:=?([\s\S]+))?$/

function notAFlag(argument: string): string {
  const letter = /^-([^-])/.exec(argument)?.[1]
  if (letter !== undefined) return `unknown shorthand flag: '${letter}' in ${argument}`
  return `"keelson serve" does not take any arguments, got [${JSON.stringify(argument)}]`
}
