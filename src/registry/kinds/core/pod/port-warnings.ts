/** Warnings about conflicting ports of containers. */
import { type Fields, itemsOf, numberOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'
import { TOLD_MAX } from '../../../../lib/long-lists.ts'

type Placed = { readonly port: Fields; readonly at: string; readonly index: number }

export function portWarnings(spec: Fields, path: string): string[] {
  const placed = ['initContainers', 'containers'].flatMap((list) =>
    itemsOf(spec[list]).map(({ ports }, containerAt) =>
      itemsOf(ports).map(
        (port, index): Placed => ({ port, index, at: `${path}.${list}[${containerAt}].ports[${index}]` }),
      ),
    ),
  )
  const warnings: string[] = []
  for (const ports of placed) warnOfContainer(ports, warnings)
  return [...warnings, ...sameName(placed.flat())]
}

function warnOfContainer(ports: readonly Placed[], warnings: string[]): void {
  const before = new PortsBefore()
  for (const placed of ports) {
    const { port, at } = placed
    if (textOf(port['hostIP']) !== '' && numberOf(port['hostPort']) === 0) {
      warnings.push(`${at}: hostIP set without hostPort: ${goPort(port)}`)
    }
    for (const other of before.conflicting(port)) {
      if (warnings.length >= TOLD_MAX) return
      warnings.push(`${at}: ${conflictOf(port, other.port)} port definition with ${other.at}`)
    }
    before.add(placed)
  }
}

/** The ports of a container so far, by the keys that conflicting ports share. */
class PortsBefore {
  readonly #known = new Map<string, Placed[]>()

  add(placed: Placed): void {
    const { any, sameHostPort, sameAddress } = keysOf(placed.port)
    for (const key of [any, sameHostPort, sameAddress]) {
      const known = this.#known.get(key)
      if (known === undefined) this.#known.set(key, [placed])
      else known.push(placed)
    }
  }

  /** In the order of the list. */
  conflicting(port: Fields): readonly Placed[] {
    const { any, noHostPort, sameHostPort, sameAddress, anyAddress } = keysOf(port)
    const at = (key: string): readonly Placed[] => this.#known.get(key) ?? []
    if (sameHostPort === noHostPort) return at(any)
    const same = sameAddress === anyAddress ? at(sameHostPort) : [...at(sameAddress), ...at(anyAddress)]
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

/** The kind of conflict between two ports. */
function conflictOf(one: Fields, other: Fields): string {
  const [port, otherPort] = [numberOf(one['hostPort']), numberOf(other['hostPort'])]
  if (port === otherPort && textOf(one['hostIP']) === textOf(other['hostIP'])) return 'duplicate'
  return port === 0 || otherPort === 0 ? 'overlapping' : 'dangerously ambiguous'
}

function sameName(ports: readonly Placed[]): string[] {
  const first = new Map<string, string>()
  return ports.flatMap(({ port, at }) => {
    const name = textOf(port['name'])
    const before = first.get(name)
    if (name === '') return []
    if (before === undefined) {
      first.set(name, at)
      return []
    }
    const why = `services and probes that select ports by name will use ${before}`
    return [`${at}: duplicate port name ${quote(name)} with ${before}, ${why}`]
  })
}

/** As Go prints it with %+v. */
const goPort = (port: Fields): string =>
  `{Name:${textOf(port['name'])} HostPort:${numberOf(port['hostPort'])} ContainerPort:${numberOf(port['containerPort'])} Protocol:${textOf(port['protocol'])} HostIP:${textOf(port['hostIP'])}}`
