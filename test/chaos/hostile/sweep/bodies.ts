/**
 * Generates the bodies of the sweep: objects in which one field is filled up to a number of bytes,
 * in several shapes.
 */
import { isFields, type Json } from '../../../../src/api/object.ts'
import type { Schema, Struct } from '../../../../src/objects/schema/schema.ts'
import type { Path, SweptField } from './fields.ts'

export const shapes = ['empty', 'equal', 'distinct', 'deep', 'long'] as const
export type Shape = (typeof shapes)[number]

/** Depth of nested values. Deeper values are rejected in most fields. */
const NESTING = 900
/** Maximum depth of values that are generated from a schema without an example. */
const SAMPLE_DEPTH_MAX = 6
/** Placeholder for the items of the filled field. It does not occur in real values. */
const MARK = '@@filled@@'

export type FillOptions = {
  readonly field: SweptField
  readonly shape: Shape
  readonly bytesMax: number
  /** Maximum number of items in the field. If this is undefined, as many items as fit are added. */
  readonly itemsMax?: number
  /** An item of the list, or a member of the map, that the server accepts. */
  readonly item: Json
}

/** Returns the JSON of the whole object with the field filled. */
export function objectText(
  filling: FillOptions,
  metadata: { readonly [name: string]: Json },
): string {
  const { field } = filling
  const { seed } = field.target
  const own = isFields(seed['metadata']) ? seed['metadata'] : {}
  const whole = withAt(
    { ...seed, metadata: { ...own, ...metadata } },
    field.path,
    MARK,
    field.target.struct,
  )
  return filledText(JSON.stringify(whole), filling)
}

/** Returns the JSON of a merge patch that has only the field. */
export function partialText(filling: FillOptions): string {
  return filledText(
    JSON.stringify(withAt({}, filling.field.path, MARK, { type: 'any', goName: '' })),
    filling,
  )
}

/** Returns a JSON patch that adds the field. The parent of the field must exist in the object. */
export function operationsText(filling: FillOptions): string {
  const steps = filling.field.path.map((step) => step.replaceAll('~', '~0').replaceAll('/', '~1'))
  return filledText(
    JSON.stringify([{ op: 'add', path: `/${steps.join('/')}`, value: MARK }]),
    filling,
  )
}

function filledText(text: string, filling: FillOptions): string {
  const [before = '', after = ''] = text.split(JSON.stringify(MARK))
  return (
    before +
    filled({ ...filling, bytesMax: filling.bytesMax - before.length - after.length }) +
    after
  )
}

function filled({
  field: { container, field, path },
  shape,
  bytesMax,
  itemsMax = Infinity,
  item,
}: FillOptions): string {
  const isMap = container.type === 'map'
  const [open, close] = isMap ? ['{', '}'] : ['[', ']']
  const name = (at: number): string => `${mapKey(path)}${at.toString(36)}`
  const member = (key: string, value: string): string =>
    isMap ? `${JSON.stringify(key)}:${value}` : value
  const room = bytesMax - 2
  switch (shape) {
    case 'empty':
      return open + repeated((at) => member(name(at), emptyText(container.of)), room) + close
    case 'equal': {
      const text = member('k', JSON.stringify(item))
      return open + repeated(() => text, room) + close
    }
    case 'distinct':
      return (
        open +
        repeated(
          (at) =>
            member(
              name(at),
              JSON.stringify(isMap ? item : varied(item, at, container.of, keysOf(field))),
            ),
          room,
          itemsMax,
        ) +
        close
      )
    case 'deep':
      return open + repeated((at) => member(name(at), deepText(container.of)), room) + close
    case 'long':
      return open + member(name(0), longText(container.of, item, room - 64)) + close
  }
}

const mapKey = (path: Path): string =>
  path.some((step) =>
    ['limits', 'requests', 'capacity', 'allocatable', 'hard', 'overhead'].includes(step),
  )
    ? 'example.com/k'
    : 'k'

function repeated(make: (at: number) => string, bytesMax: number, itemsMax = Infinity): string {
  const texts: string[] = []
  let bytes = 0
  for (let at = 0; ; at++) {
    const text = make(at)
    bytes += text.length + 1
    if (bytes > bytesMax || at >= itemsMax) return texts.join(',')
    texts.push(text)
  }
}

function emptyText({ type }: Schema): string {
  if (type === 'list') return '[]'
  if (type === 'struct' || type === 'map' || type === 'any' || type === 'raw') return '{}'
  if (type === 'boolean') return 'false'
  return type === 'int32' || type === 'int64' || type === 'float64' ? '0' : '""'
}

/**
 * Returns nested objects, in a field that accepts any value if there is one, otherwise in an
 * unknown field.
 */
function deepText(of: Schema): string {
  const nested = `${'{"a":'.repeat(NESTING)}1${'}'.repeat(NESTING)}`
  if (of.type !== 'struct') return nested
  const free = of.fields.find(({ schema: { type } }) => type === 'raw' || type === 'any')
  return `{${JSON.stringify(free?.name ?? 'unknown')}:${nested}}`
}

/**
 * Returns a value whose first string is long. Half of the string is plain text, and half of it
 * consists of characters that JSON and YAML escape.
 */
function longText(of: Schema, item: Json, bytesMax: number): string {
  const text = 'x'.repeat(bytesMax / 2) + '\\n\\"'.repeat(bytesMax / 8)
  if (of.type !== 'struct' || !isFields(item)) return `"${text}"`
  const texts = of.fields
    .filter(({ schema: { type } }) => type === 'string')
    .map(({ name }) => name)
  const name = texts.find((one) => typeof item[one] === 'string') ?? texts[0] ?? 'unknown'
  return JSON.stringify({ ...item, [name]: MARK }).replace(JSON.stringify(MARK), () => `"${text}"`)
}

function keysOf(field: SweptField['field']): readonly string[] {
  const { topology, patch } = field ?? {}
  if (topology?.type === 'map') return topology.keys
  return patch?.key === undefined ? [] : [patch.key]
}

const identities = [
  'name',
  'key',
  'uid',
  'ip',
  'path',
  'mountPath',
  'devicePath',
  'topologyKey',
  'type',
  'manager',
  'host',
  'secretName',
]

/**
 * Returns the item with a different identity. Changes the list map keys and other fields that
 * usually identify an item.
 */
export function varied(item: Json, at: number, of: Schema, keys: readonly string[]): Json {
  if (of.type === 'string' && of.values !== undefined)
    return of.values[at % of.values.length] ?? item
  if (typeof item === 'string') return variedText(item, at)
  if (typeof item === 'number') return 1 + (at % 65_000)
  if (!isFields(item) || of.type !== 'struct') return item
  const named = [...keys, ...identities].filter((name) => item[name] !== undefined)
  const names =
    keys.length > 0
      ? named.filter((name) => keys.includes(name) || name === 'name')
      : named.slice(0, 1)
  const changed: Record<string, Json> = {}
  for (const name of names) {
    const schema = of.byName.get(name)?.schema
    if (schema?.type === 'string' && schema.values !== undefined && keys.length > 1) continue
    changed[name] = varied(item[name] ?? null, at, { type: 'any', goName: '' }, [])
  }
  return { ...item, ...changed }
}

function variedText(text: string, at: number): string {
  if (/^\d+\.\d+\.\d+\.\d+(\/\d+)?$/.test(text)) {
    const [, mask = ''] = /(\/\d+)$/.exec(text) ?? []
    return `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}${mask === '' ? '' : '/32'}`
  }
  return `${text}${at.toString(36)}`
}

/**
 * Returns the first item of the field in the seed object, or an item that is generated from the
 * schema.
 */
export function itemOf({ target: { seed }, path, container }: SweptField): Json {
  const found = valueAt(seed, path)
  if (Array.isArray(found) && found[0] !== undefined) return found[0]
  if (isFields(found)) {
    const [first] = Object.values(found)
    if (first !== undefined) return first
  }
  return sample(container.of)
}

/** Generates a value of a schema. Objects get only their required fields and a name. */
export function sample(schema: Schema, depth = 0): Json {
  switch (schema.type) {
    case 'string':
      return schema.values?.[0] ?? 'b'
    case 'struct':
      return sampleOf(schema, depth)
    case 'list':
      return depth > SAMPLE_DEPTH_MAX ? [] : [sample(schema.of, depth + 1)]
    case 'map':
    case 'any':
    case 'raw':
      return {}
    case 'boolean':
      return true
    case 'bytes':
      return 'YQ=='
    case 'time':
      return '2026-01-01T00:00:00Z'
    case 'microTime':
      return '2026-01-01T00:00:00.000000Z'
    case 'quantity':
      return '1'
    case 'intOrString':
    case 'int32':
    case 'int64':
    case 'float64':
      return 1
  }
}

function sampleOf({ fields }: Struct, depth: number): { readonly [name: string]: Json } {
  if (depth > SAMPLE_DEPTH_MAX) return {}
  const wanted = fields.filter(({ isRequired, name }) => isRequired || name === 'name')
  return Object.fromEntries(wanted.map(({ name, schema }) => [name, sample(schema, depth + 1)]))
}

export function valueAt(value: Json | undefined, [step, ...rest]: Path): Json | undefined {
  if (step === undefined) return value
  if (Array.isArray(value)) return valueAt(value[0], rest)
  if (!isFields(value)) return undefined
  return valueAt(step === 'k' ? Object.values(value)[0] : value[step], rest)
}

/** Returns a copy with a value at a path. Missing parents are generated from the schema. */
export function withAt(
  value: Json | undefined,
  [step, ...rest]: Path,
  put: Json,
  schema: Schema,
): Json {
  if (step === undefined) return put
  if (schema.type === 'list') {
    return [withAt(Array.isArray(value) ? value[0] : undefined, rest, put, schema.of)]
  }
  const fields = isFields(value)
    ? value
    : schema.type === 'struct'
      ? sampleOf(schema, SAMPLE_DEPTH_MAX - 2)
      : {}
  const inside =
    schema.type === 'struct'
      ? schema.byName.get(step)?.schema
      : schema.type === 'map'
        ? schema.of
        : undefined
  return {
    ...fields,
    [step]: withAt(fields[step], rest, put, inside ?? { type: 'any', goName: '' }),
  }
}
