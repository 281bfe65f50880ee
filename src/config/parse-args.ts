/** Converts arguments to flags and their raw values. Only unknown and unsupported flags are refused here. */
import { type FlagName, flags, isFlagName, upstreamDefault } from './flags.ts'

/** All values of each flag that was given, in order; flags in the order in which they were given last. */
export type RawFlags = ReadonlyMap<FlagName, readonly string[]>

/** `--name=value`, `--name value`, and `--name` alone for booleans. */
export function parseArgs(args: readonly string[]): { readonly raw: RawFlags; readonly faults: readonly string[] } {
  const raw = new Map<FlagName, string[]>()
  const faults: string[] = []
  const rest = [...args]
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const match = /^(?:--|-(?=v\b))([^=]+)(?:=([\s\S]*))?$/.exec(argument)
    const [, name = '', inline] = match ?? []
    if (match === null) {
      faults.push(`${JSON.stringify(argument)} is not a flag: flags begin with "--"; keelson serve --help lists them`)
    } else if (isFlagName(name)) {
      const value = inline ?? (flags[name].type === 'boolean' ? 'true' : rest.shift())
      if (value === undefined) faults.push(`--${name} needs a value: --${name}=…`)
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
  return { raw, faults }
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
  if (byDefault === undefined) {
    return `--${name} is not a flag that keelson serve knows: keelson serve --help lists those it does`
  }
  if (value === byDefault) return undefined
  return `--${name} is not supported yet: leave it out${byDefault === '' ? '' : `, or give it its default (${byDefault})`}`
}
