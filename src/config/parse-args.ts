/** Converts arguments to flags and their raw values. Only unknown and unsupported flags are refused here. */
import { type FlagName, flags, isFlagName, upstreamDefault } from './flags.ts'
import { unsupportedReason } from './unsupported-reasons.ts'

/** All values of each flag that was given, in order; flags in the order in which they were given last. */
export type RawFlags = ReadonlyMap<FlagName, readonly string[]>

/** `--name=value`, `--name value`, and `--name` alone for booleans. */
export function parseArgs(args: readonly string[]): {
  readonly raw: RawFlags
  readonly faults: readonly string[]
  readonly hints: readonly string[]
} {
  const raw = new Map<FlagName, string[]>()
  const faults: string[] = []
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^(?:--|-(?=v\b))([^=]+)(?:=([\s\S]*))?$/.exec(argument)
    const [, name = '', inline] = match ?? []
    if (match === null) {
      faults.push(notAFlag(argument))
    } else if (isFlagName(name)) {
      const value = inline ?? (flags[name].type === 'boolean' ? 'true' : rest.shift())
      if (value === undefined) faults.push(`flag needs an argument: --${name}`)
      else {
        const earlier = raw.get(name) ?? []
        raw.delete(name)
        raw.set(name, [...earlier, value])
      }
    } else {
      const fault = refuse(name, inline ?? takeValue(name, rest))
      if (fault !== undefined) faults.push(fault)
    }
  }
  const isLost = faults.some((fault) => !fault.startsWith('--'))
  return { raw, faults, hints: isLost ? ['keelson serve --help lists the flags'] : [] }
}

function notAFlag(argument: string): string {
  const letter = /^-([^-])/.exec(argument)?.[1]
  if (letter !== undefined) return `unknown shorthand flag: '${letter}' in ${argument}`
  return `"keelson serve" does not take any arguments, got [${JSON.stringify(argument)}]`
}

/** Takes the value of a flag that is not supported, so that it is not reported as another error. */
function takeValue(name: string, rest: string[]): string | undefined {
  const isBoolean = /^(true|false)$/.test(upstreamDefault(name) ?? '')
  if (isBoolean) return 'true'
  return rest[0] === undefined || rest[0].startsWith('-') ? undefined : rest.shift()
}

/** Undefined if the flag has no effect: an unsupported flag with kube-apiserver's default. */
function refuse(name: string, value: string | undefined): string | undefined {
  const byDefault = upstreamDefault(name)
  if (byDefault === undefined) return `unknown flag: --${name}`
  if (value === byDefault) return undefined
  const advice = byDefault === '' ? 'leave it out' : `leave it out, or give it its default (${byDefault})`
  return `--${name} is not supported, since ${unsupportedReason(name)}: ${advice}`
}
