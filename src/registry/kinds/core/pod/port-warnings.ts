/** Ports of containers that stand in each other's way. */
import { type Fields, itemsOf, numberOf, textOf } from '../../../../api/object.ts'
import { quote } from '../../../../api/quote.ts'

type Placed = { readonly port: Fields; readonly at: string }

export function portWarnings(spec: Fields, path: string): string[] {
  const placed = ['initContainers', 'containers'].flatMap((list) =>
    itemsOf(spec[list]).map(({ ports }, index) =>
      itemsOf(ports).map((port, at): Placed => ({ port, at: `${path}.${list}[${index}].ports[${at}]` })),
    ),
  )
  return [...placed.flatMap(sameContainer), ...sameName(placed.flat())]
}

function sameContainer(ports: readonly Placed[]): string[] {
  return ports.flatMap(({ port, at }, index) => {
    const alone =
      textOf(port['hostIP']) !== '' && numberOf(port['hostPort']) === 0
        ? [`${at}: hostIP set without hostPort: ${goPort(port)}`]
        : []
    const others = ports.slice(0, index).flatMap((other) => {
      const what = conflictOf(port, other.port)
      return what === undefined ? [] : [`${at}: ${what} port definition with ${other.at}`]
    })
    return [...alone, ...others]
  })
}

function conflictOf(one: Fields, other: Fields): string | undefined {
  if (one['containerPort'] !== other['containerPort'] || one['protocol'] !== other['protocol']) return undefined
  const [port, otherPort] = [numberOf(one['hostPort']), numberOf(other['hostPort'])]
  const [ip, otherIp] = [textOf(one['hostIP']), textOf(other['hostIP'])]
  if (port === otherPort && ip === otherIp) return 'duplicate'
  if (port === 0 || otherPort === 0) return 'overlapping'
  if (port !== otherPort) return undefined
  return ip === '' || otherIp === '' ? 'dangerously ambiguous' : undefined
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
