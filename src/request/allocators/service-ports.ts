/** Determines which node ports a Service needs, and allocates them. */
import { type Fields, itemsOf, numberOf, textOf } from '../../api/object.ts'
import { type ApiError, internalError, invalid, unclassified } from '../../api/errors.ts'
import { invalidValue } from '../../api/field-fault.ts'
import {
  mayHaveNodePorts,
  needsHealthPort,
  needsNodePorts,
  nodePortsOf,
} from '../../registry/kinds/core/service-needs.ts'
import { PortError, type NumberSet } from './number-set.ts'

export type PortAssignment = {
  readonly spec: Fields
  /** Node ports that the Service did not have before. */
  readonly taken: readonly number[]
}

/**
 * Assigns node ports to a Service. `before` is the stored spec. Fails with an ApiError if a port
 * cannot be assigned.
 */
export function assignPorts(
  name: string,
  given: Fields,
  before: Fields | undefined,
  pool: NumberSet,
): PortAssignment {
  const taken: number[] = []
  const ports = recording(pool, taken)
  let spec = given
  if (mayHaveNodePorts(given)) {
    const list =
      before === undefined ? newPorts(name, given, ports) : changedPorts(name, given, before, ports)
    if (itemsOf(given['ports']).length > 0) spec = { ...spec, ports: list }
  }
  if (needsHealthPort(given) && !(before !== undefined && needsHealthPort(before))) {
    spec = {
      ...spec,
      healthCheckNodePort: takeHealthPort(numberOf(given['healthCheckNodePort']), ports),
    }
  }
  return { spec, taken }
}

/**
 * Whether any port must be allocated. Most Services have no node ports, and most updates do not
 * change them.
 */
export function lacksPorts(spec: Fields, before: Fields | undefined): boolean {
  const held = new Set(before === undefined ? [] : portsHeld(before))
  const isUnnumbered =
    needsNodePorts(spec) && itemsOf(spec['ports']).some(({ nodePort }) => numberOf(nodePort) === 0)
  const isOther = mayHaveNodePorts(spec) && nodePortsOf(spec).some((port) => !held.has(port))
  const isUnchecked = needsHealthPort(spec) && !(before !== undefined && needsHealthPort(before))
  return isUnnumbered || isOther || isUnchecked
}

/** Returns all node ports of a Service, including its health check port. */
export function portsHeld(spec: Fields): readonly number[] {
  const health = needsHealthPort(spec) ? numberOf(spec['healthCheckNodePort']) : 0
  const held = mayHaveNodePorts(spec) ? nodePortsOf(spec) : []
  return [...new Set(health === 0 ? held : [...held, health])]
}

type Pool = { readonly take: (port: number) => void; readonly takeAny: () => number }

const recording = (ports: NumberSet, taken: number[]): Pool => ({
  take: (port) => {
    ports.take(port)
    taken.push(port)
  },
  takeAny: () => {
    const port = ports.takeAny()
    taken.push(port)
    return port
  },
})

/**
 * Assigns the ports of a new Service. All protocols of a port number share one node port, so that
 * fewer node ports are used.
 */
function newPorts(name: string, spec: Fields, pool: Pool): readonly Fields[] {
  const ports = itemsOf(spec['ports'])
  const byNumber = new Map<number, number>()
  const namedPorts = namedByNumber(ports)
  return ports.map((port, at) => {
    const number = numberOf(port['port'])
    const wanted = numberOf(port['nodePort'])
    if (wanted === 0 && !needsNodePorts(spec)) return port
    const known = byNumber.get(number)
    if (known !== undefined) {
      if (wanted !== 0 && wanted !== known) takeNamed(name, { at, port: wanted }, pool)
      return { ...port, nodePort: wanted === 0 ? known : wanted }
    }
    const named = wanted === 0 ? (namedPorts.get(number) ?? 0) : wanted
    if (named !== 0) takeNamed(name, { at, port: named }, pool)
    const nodePort = named === 0 ? takeAny(pool) : named
    byNumber.set(number, nodePort)
    return { ...port, nodePort }
  })
}

/**
 * Returns the requested node ports by port number. If several ports with the same number request a
 * node port, the first request is used.
 */
function namedByNumber(ports: readonly Fields[]): ReadonlyMap<number, number> {
  const named = new Map<number, number>()
  for (const { port, nodePort } of ports) {
    const [number, wanted] = [numberOf(port), numberOf(nodePort)]
    if (wanted !== 0 && !named.has(number)) named.set(number, wanted)
  }
  return named
}

function changedPorts(name: string, spec: Fields, before: Fields, pool: Pool): readonly Fields[] {
  const held = new Set(mayHaveNodePorts(before) ? portsHeld(before) : [])
  const seen = new Set<string>()
  return itemsOf(spec['ports']).map((port, at) => {
    const wanted = numberOf(port['nodePort'])
    if (wanted === 0) return needsNodePorts(spec) ? { ...port, nodePort: takeAny(pool) } : port
    if (!held.has(wanted)) takeNamed(name, { at, port: wanted }, pool)
    held.add(wanted)
    const shown = `{${textOf(port['protocol'])} ${wanted}}`
    if (seen.has(shown)) throw unclassified(`duplicate nodePort: ${shown}`)
    seen.add(shown)
    return port
  })
}

function takeNamed(
  name: string,
  { at, port }: { readonly at: number; readonly port: number },
  pool: Pool,
): void {
  translate(
    () => pool.take(port),
    (why) =>
      invalid({ group: '', kind: 'Service' }, name, [
        invalidValue(`spec.ports[${at}].nodePort`, port, why),
      ]),
  )
}

const takeAny = (pool: Pool): number =>
  translate(
    () => pool.takeAny(),
    (why) => internalError(`failed to allocate a nodePort: ${why}`),
  )

function takeHealthPort(wanted: number, pool: Pool): number {
  if (wanted === 0) {
    return translate(
      () => pool.takeAny(),
      (why) => internalError(`failed to allocate a HealthCheck NodePort: ${why}`),
    )
  }
  translate(
    () => pool.take(wanted),
    (why) => internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${why}`),
  )
  return wanted
}

function translate<T>(take: () => T, toError: (why: string) => ApiError): T {
  try {
    return take()
  } catch (error) {
    throw error instanceof PortError ? toError(error.message) : error
  }
}
