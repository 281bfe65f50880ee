/**
 * Parses command-line arguments into flags and their raw values. `Values` validates the values
 * later.
 */
import { didYouMean } from '../lib/text/suggest.ts'
import { type FlagName, flags, flagsOf, isFlagName } from './flags.ts'

/**
 * All values of each flag, in the order of the command line. The flags are sorted by their last
 * occurrence.
 */
export type RawFlags = ReadonlyMap<FlagName, readonly string[]>

/** A command with its own flags. Error messages and hints contain its name. */
export type NamedCommand = {
  /** The words that the user typed, such as `keelson dev`. */
  readonly command: string
  /** The flags that the command has in addition to those in the flag table. */
  readonly ownFlags: readonly string[]
}

export const serveCommand: NamedCommand = { command: 'keelson serve', ownFlags: [] }

/**
 * Flag names of other servers, with the flags of Keelson that have the same purpose. Their names
 * are so different that a search for similar names does not find them. An error message suggests
 * the first flag in the list that the command has.
 */
const replacements: ReadonlyMap<string, readonly string[]> = new Map([
  ['address', ['bind-address']],
  ['host', ['bind-address']],
  ['listen', ['bind-address']],
  ['port', ['secure-port']],
  ['endpoints', ['etcd-servers']],
  ['in-memory', ['ephemeral', 'store']],
  ['memory', ['ephemeral', 'store']],
  ['log-level', ['v']],
  ['verbose', ['v']],
])

/**
 * Parses `--name=value`, `--name value`, `--name` for booleans, and `-v4`. As in kube-apiserver,
 * the words of a flag name can also be separated by `_`.
 */
export function parseArgs(
  args: readonly string[],
  { command, ownFlags }: NamedCommand = serveCommand,
): {
  readonly raw: RawFlags
  readonly faults: readonly string[]
  readonly hints: readonly string[]
} {
  const raw = new Map<FlagName, string[]>()
  const faults: string[] = []
  const hints: string[] = []
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (isDeclined(argument)) continue
    const match = longFlag.exec(argument) ?? verbosityFlag.exec(argument)
    const [, given = '', inline] = match ?? []
    const name = given.replaceAll('_', '-')
    if (match === null) {
      faults.push(notAFlag(argument, command))
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
      hints.push(...suggestionFor(name, ownFlags))
      // The next argument can be the value of the unknown flag. Skip it, so that it does not cause
      // another error.
      if (inline === undefined && rest[0]?.startsWith('-') === false) rest.shift()
    }
  }
  if (faults.length > 0) hints.push(`${command} --help lists the flags`)
  return { raw, faults, hints }
}

const dashed = (name: string): string => `--${name}`

function suggestionFor(name: string, ownFlags: readonly string[]): string[] {
  const names: string[] = [...ownFlags, ...flagsOf().map(([flag]) => flag)]
  // Bounded: a name has only a few replacements, so the flags are searched only a few times.
  const known = replacements.get(name)?.find((one) => names.includes(one))
  const found =
    known === undefined ? didYouMean(name, names, dashed) : `did you mean ${dashed(known)}?`
  return found === undefined ? [] : [`--${name}: ${found}`]
}

/** Whether an argument is --help or --version with the value false. Such an argument is ignored. */
const isDeclined = (argument: string): boolean =>
  /^--(?:help|version)=(?:0|f|F|false|False|FALSE)$/.test(argument)

const longFlag = /^--([^=]+)(?:=([\s\S]*))?$/
const verbosityFlag = /^-(v)(?:=?([\s\S]+))?$/

function notAFlag(argument: string, command: string): string {
  const letter = /^-([^-])/.exec(argument)?.[1]
  if (letter !== undefined) return `unknown shorthand flag: '${letter}' in ${argument}`
  return `"${command}" does not take any arguments, got [${JSON.stringify(argument)}]`
}
