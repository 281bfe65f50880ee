/**
 * Measures the cost of OpenAPI documents: building all of them for the first time, serving one from
 * the cache, and how long other work waits in the meantime.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { defaultGates } from '../../../src/api/gates.ts'
import { encodeV2, encodeV3 } from '../../../src/request/discovery/openapi/gnostic.ts'
import { OpenApiLibrary } from '../../../src/request/discovery/openapi/library.ts'
import { systemClock } from '../../../src/lib/time/clock.ts'
import { builtInResources } from '../../../src/registry/built-in.ts'
import { Registry } from '../../../src/registry/registry.ts'
import type { Figure } from '../../report/figure.ts'

const FIRST_MS_MAX = 300
const CACHED_MS_MAX = 5

export async function benchOpenApi(): Promise<Figure[]> {
  const registry = new Registry(builtInResources())
  const library = new OpenApiLibrary({
    registry,
    hasIssuer: true,
    clock: systemClock,
    gates: defaultGates,
  })
  const all = async (): Promise<void> => {
    for (const key of library.keys) await library.v3(key)
  }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const first = await timed(all)
  delay.disable()
  const cached = await timed(() => library.v3('api/v1'))
  const whole = await timed(() => library.v2())
  const protobuf = await timed(async () => {
    for (const key of library.keys) await (await library.v3(key))?.protobuf(encodeV3)
    await (await library.v2()).protobuf(encodeV2)
  })
  return [
    {
      name: 'OpenAPI v3, all documents for the first time',
      value: first,
      unit: 'ms CPU',
      target: { below: FIRST_MS_MAX },
    },
    {
      name: 'OpenAPI v3, longest wait of other work meanwhile',
      value: delay.max / 1e6,
      unit: 'ms',
    },
    {
      name: 'OpenAPI v3, one cached document',
      value: cached,
      unit: 'ms CPU',
      target: { below: CACHED_MS_MAX },
    },
    { name: 'OpenAPI v2, first time', value: whole, unit: 'ms CPU' },
    {
      name: 'OpenAPI as protobuf, all documents of both versions',
      value: protobuf,
      unit: 'ms CPU',
    },
  ]
}

/** Returns CPU time in milliseconds, because wall-clock time depends on other load. */
async function timed(work: () => Promise<unknown> | undefined): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
