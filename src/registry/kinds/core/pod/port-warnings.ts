/** Warns about conflicting ports of containers. */
import { type Fields, itemsOf, numberOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { once } from '../../../../lib/scheduling/parts.ts'
import { warningsOfEach } from '../../../rules/warnings.ts'

export function portWarnings(spec: Fields, path: string): string[] {
  const firsts = once('first ports by name', () => new Map<string, string>())
  const ofContainers = (
    warningsOf: (ports: readonly Fields[], path: string) => string[],
  ): string[] =>
    ['initContainers', 'containers'].flatMap((list) =>
      warningsOfEach(itemsOf(spec[list]), ({ ports }, at) =>
        ports === undefined ? [] : warningsOf(itemsOf(ports), `${path}.${list}[${at}].ports`),
      ),
    )
  return [
    ...ofContainers(conflictWarnings),
    ...ofContainers((ports, own) =>
      warningsOfEach(ports, (port, index) =>
        repeatedName(textOf(port['name']), `${own}[${index}]`, firsts),
      ),
    ),
  ]
}

type LocatedPort = { readonly port: Fields; readonly index: number }

function conflictWarnings(ports: readonly Fields[], path: string): string[] {
  const before = once('ports before', () => new PortsBefore())
  return warningsOfEach(ports, (port, index) => {
    const at = `${path}[${index}]`
    const isWithoutPort = textOf(port['hostIP']) !== '' && numberOf(port['hostPort']) === 0
    const warnings = isWithoutPort ? [`${at}: hostIP set without hostPort: ${goPort(port)}`] : []
    for (const other of before.conflicting(port)) {
      warnings.push(
        `${at}: ${conflictOf(port, other.port)} port definition with ${path}[${other.index}]`,
      )
    }
    before.add({ port, index })
    return warnings
  })
}

/** Earlier ports of a container, indexed by keys that are equal for conflicting ports. */
class PortsBefore {
  readonly #known = new Map<string, LocatedPort[]>()

  add(placed: LocatedPort): void {
    const { any, sameHostPort, sameAddress } = keysOf(placed.port)
    for (const key of [any, sameHostPort, sameAddress]) {
      const known = this.#known.get(key)
      if (known === undefined) this.#known.set(key, [placed])
      else known.push(placed)
    }
  }

  /** Returns the earlier ports that conflict with a port, in list order. */
  conflicting(port: Fields): readonly LocatedPort[] {
    const { any, noHostPort, sameHostPort, sameAddress, anyAddress } = keysOf(port)
    const at = (key: string): readonly LocatedPort[] => this.#known.get(key) ?? []
    if (sameHostPort === noHostPort) return at(any)
    const same =
      sameAddress === anyAddress ? at(sameHostPort) : [...at(sameAddress), ...at(anyAddress)]
    return [...at(noHostPort), ...same].toSorted((one, other) => one.index - other.index)
  }
}

type Keys = {
  readonly any: string
  readonly noHostPort: string
  readonly sameHostPort: string
  readonly sameAddress: string
  readonly anyAddress: string
}

function keysOf({ containerPort, protocol, hostPort, hostIP }: Fields): Keys {
  const any = `${numberOf(containerPort)}/${textOf(protocol)}`
  const sameHostPort = `${any} ${numberOf(hostPort)}`
  return {
    any,
    noHostPort: `${any} 0`,
    sameHostPort,
    sameAddress: `${sameHostPort} ip ${textOf(hostIP)}`,
    anyAddress: `${sameHostPort} ip `,
  }
}

/** Returns a description of the conflict between two ports. */
function conflictOf(one: Fields, other: Fields): string {
  const [port, otherPort] = [numberOf(one['hostPort']), numberOf(other['hostPort'])]
  if (port === otherPort && textOf(one['hostIP']) === textOf(other['hostIP'])) return 'duplicate'
  return port === 0 || otherPort === 0 ? 'overlapping' : 'dangerously ambiguous'
}

/**
 * Warns about a repeated port name. `firsts` contains the path of the first port with each name.
 */
function repeatedName(name: string, at: string, firsts: Map<string, string>): string[] {
  if (name === '') return []
  const before = firsts.get(name)
  if (before === undefined) {
    firsts.set(name, at)
    return []
  }
  const why = `services and probes that select ports by name will use ${before}`
  return [`${at}: duplicate port name ${quote(name)} with ${before}, ${why}`]
}

/** Formats a port as Go does with %+v. */
const goPort = (port: Fields): string =>
  `{Name:${textOf(port['name'])} HostPort:${numberOf(port['hostPort'])} ContainerPort:${numberOf(port['containerPort'])} Protocol:${textOf(port['protocol'])} HostIP:${textOf(port['hostIP'])}}`
