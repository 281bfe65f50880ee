/**
 * Measures how long objects of the maximum size block the event loop, kind by kind: `node
 * test/chaos/hostile/kind-turns.ts [KIND] [MiB] [ms] [PATH]`. Fills each list and map of each kind
 * up to the maximum body size, with items of several shapes. Prints the operations that block the
 * event loop without a pause for more than 50 ms of CPU time, or another number of `ms`. Also
 * prints operations that take more than a second in total. Measuring all kinds takes an hour. PATH
 * limits the fields to those whose path begins with it, such as spec.affinity.
 */
import { FAULTS_MAX } from '../../../src/api/field-fault.ts'
import { isFields, type Json } from '../../../src/api/object.ts'
import { ApiError, invalid } from '../../../src/api/errors.ts'
import { decodeBody } from '../../../src/objects/codec/decode-body.ts'
import { parts } from '../../../src/lib/scheduling/parts.ts'
import { Slices } from '../../../src/lib/scheduling/slices.ts'
import { systemTime } from '../../../src/lib/time/timers.ts'
import type { Resource } from '../../../src/registry/resource.ts'
import { validateCreate } from '../../../src/registry/validate.ts'
import type { Schema, Struct } from '../../../src/objects/schema/schema.ts'
import { loadSeeds } from '../properties/seeds.ts'

const STEP_MS_MAX = Number(process.argv[4] ?? 50)
/** Total time above which an operation might be quadratic. */
const TOTAL_MS_MAX = 1000
const RUNS = 4
const DEPTH_MAX = 9

const [wanted = '', mib = '3', , under = ''] = process.argv.slice(2)
const BYTES = Number(mib) * (1 << 20) - 4096

type Path = readonly string[]
type CollectionField = {
  readonly path: Path
  readonly schema: Extract<Schema, { type: 'list' | 'map' }>
}

function listsOf(schema: Schema, path: Path, seen: ReadonlySet<Struct>): CollectionField[] {
  if (path.length > DEPTH_MAX) return []
  if (schema.type === 'list') return [{ path, schema }, ...listsOf(schema.of, [...path, '0'], seen)]
  if (schema.type === 'map') return [{ path, schema }, ...listsOf(schema.of, [...path, 'k'], seen)]
  if (schema.type !== 'struct' || seen.has(schema)) return []
  const all = new Set([...seen, schema])
  return schema.fields.flatMap(({ name, schema: own }) => listsOf(own, [...path, name], all))
}

/**
 * Returns functions that generate items of a schema: first the smallest possible item, then items
 * of other shapes.
 */
function formsOf(schema: Schema): readonly ((at: number) => Json)[] {
  switch (schema.type) {
    case 'string':
      return [() => '', (at) => `a${at.toString(36)}`, (at) => `/A ${at.toString(36)}`]
    case 'struct': {
      const texts = schema.fields
        .filter(({ schema: { type } }) => type === 'string')
        .map(({ name }) => name)
      return [
        () => ({}),
        ...texts.slice(0, 3).map((name) => (at: number) => ({ [name]: `a${at.toString(36)}` })),
      ]
    }
    case 'list':
      return [() => []]
    case 'map':
    case 'any':
      return [() => ({})]
    case 'boolean':
      return [() => true]
    case 'quantity':
    case 'intOrString':
    case 'int32':
    case 'int64':
    case 'float64':
      return [(at) => at % 100]
    case 'bytes':
    case 'time':
    case 'microTime':
    case 'raw':
      return [() => 'YQ==']
  }
}

const size = (value: Json): number => JSON.stringify(value).length + 1

function filled({ type }: CollectionField['schema'], make: (at: number) => Json): Json {
  let bytes = 0
  if (type === 'list') {
    const items: Json[] = []
    for (let at = 0; bytes < BYTES; at++) bytes += size(items[items.push(make(at)) - 1] ?? null)
    return items
  }
  const fields: { [name: string]: Json } = {}
  for (let at = 0; bytes < BYTES; at++) {
    const name = `k${at.toString(36)}`
    fields[name] = make(at)
    bytes += size(name) + size(fields[name] ?? null)
  }
  return fields
}

function withAt(value: Json | undefined, [step, ...rest]: Path, put: Json): Json {
  if (step === undefined) return put
  if (step === '0' && (value === undefined || Array.isArray(value))) {
    return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put)]
  }
  const fields = isFields(value) ? value : {}
  return { ...fields, [step]: withAt(fields[step], rest, put) }
}

const reported: { readonly ms: number; readonly text: string }[] = []

type Measurement<T> = { readonly made: T; readonly longestMs: number; readonly totalMs: number }

/**
 * Runs an operation in parts, as the server does, and measures the longest part and the total time.
 */
function measured<T>(work: () => T): Measurement<T> {
  const slices = new Slices(systemTime, { isExpensive: true })
  const steps = parts(work, slices)
  let [longestMs, totalMs] = [0, 0]
  for (;;) {
    slices.begin()
    const before = process.threadCpuUsage()
    const { done, value } = steps.next()
    const { user, system } = process.threadCpuUsage(before)
    longestMs = Math.max(longestMs, (user + system) / 1000)
    totalMs += (user + system) / 1000
    if (done === true) return { made: value, longestMs, totalMs }
  }
}

/**
 * Runs an operation several times and records the best result, because some runs also compile code
 * or collect garbage.
 */
function timed<T>(what: string, work: () => T): T {
  let best = measured(work)
  const isLong = (): boolean => best.longestMs > STEP_MS_MAX || best.totalMs > TOTAL_MS_MAX
  for (let runs = 1; runs < RUNS && isLong(); runs++) {
    const { made, longestMs, totalMs } = measured(work)
    best = {
      made,
      longestMs: Math.min(best.longestMs, longestMs),
      totalMs: Math.min(best.totalMs, totalMs),
    }
  }
  const [longest, total] = [best.longestMs, best.totalMs].map((ms) => ms.toFixed(0).padStart(6))
  if (isLong())
    reported.push({ ms: best.longestMs, text: `${longest} ms, ${total} ms in total: ${what}` })
  return best.made
}

function tryOne(resource: Resource, given: Json, about: string): void {
  const bytes = Buffer.from(JSON.stringify(given))
  const { shape } = resource
  try {
    const { object } = timed(`decode ${about}`, () => decodeBody({ bytes }, resource, 'Ignore'))
    const whole = timed(`defaults ${about}`, () => shape.setDefaults(object))
    const faults = timed(`validate ${about}`, () => validateCreate(whole, resource))
    if (faults.length > 4 * FAULTS_MAX) console.log(`${faults.length} faults of ${about}`)
    if (faults.length > 0)
      timed(`report ${faults.length} of ${about}`, () => invalid(resource, 'x', faults))
    timed(`warn ${about}`, () => resource.rules.warnings(whole, undefined))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

const seen = new Set<string>()
for (const { resource, object } of await loadSeeds()) {
  if (
    seen.has(resource.plural + resource.group + resource.version) ||
    !resource.kind.includes(wanted)
  )
    continue
  seen.add(resource.plural + resource.group + resource.version)
  const seed: Json = JSON.parse(JSON.stringify(object))
  for (const found of listsOf(resource.shape.struct, [], new Set())) {
    if (!found.path.join('.').startsWith(under)) continue
    for (const [form, make] of formsOf(found.schema.of).entries()) {
      const given = withAt(seed, found.path, filled(found.schema, make))
      tryOne(
        resource,
        given,
        `${resource.group}/${resource.version} ${resource.kind} ${found.path.join('.')} (form ${form})`,
      )
    }
  }
}
for (const { text } of reported.toSorted((one, other) => other.ms - one.ms)) console.log(text)
