/**
 * The outcome of a product on a server: the responses of all steps and all final objects, without
 * values that differ between runs. If a product behaves the same on two servers, the outcomes are
 * equal.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { sortManagedFields } from '../../recorded/compat/diff.ts'
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import { textAt } from './fields.ts'
import type { Stage } from './stage.ts'

export type Outcome = { readonly steps: JsonObject; readonly objects: JsonObject }

/**
 * Number of consecutive equal reads, with a pause between them, after which objects count as
 * settled.
 */
const SETTLED_TIMES = 3
const SETTLED_PAUSE_MS = 2_000
const SETTLED_ATTEMPTS_MAX = 60

/**
 * Matches resources that are left out: those that depend on time (Leases, Events), and those that a
 * server creates for itself (APIServices, FlowSchemas).
 */
const left =
  /\/(leases|leasecandidates|events|apiservices|flowschemas|prioritylevelconfigurations|componentstatuses)$/

/** Fields that have new values in each run: keys, certificates, versions. */
const madeFields: ReadonlySet<string> = new Set([
  'caBundle',
  'resourceVersion',
  'ca.crt',
  'ca.key',
  'tls.crt',
  'tls.key',
  'kube-root-ca.crt',
])

/**
 * Numbers that are at least this large are masked, because they are ports, which differ between
 * runs. All other numbers in the objects of the products are much smaller.
 */
const PORT_MIN = 10_000

/** Matches the suffix of generated names. */
const GENERATED_SUFFIX = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g

/** Takes the final snapshot and returns the outcome. */
export async function outcomeOf(stage: Stage): Promise<Outcome> {
  await takeSnapshot(stage, 'the end')
  const text = (value: string): string => plain(value, new Map(), stage)
  const steps = stage.steps.map(({ name, status, warnings, body }): [string, Json] => [
    name,
    { status, warnings: warnings.map(text), body: normalise(sortManagedFields(body), text) },
  ])
  const objects = [...stage.snapshots].flatMap(([moment, all]) =>
    Object.entries(all).map(([place, object]): [string, Json] => [`${moment}: ${place}`, object]),
  )
  return { steps: Object.fromEntries(steps), objects: Object.fromEntries(objects) }
}

/** Waits until controllers are idle and records all objects. */
export async function takeSnapshot(stage: Stage, moment: string): Promise<void> {
  let objects = await listObjects(stage)
  let times = 0
  for (let attempt = 0; times < SETTLED_TIMES; attempt++) {
    if (attempt === SETTLED_ATTEMPTS_MAX) throw new Error('the objects keep changing')
    await sleep(SETTLED_PAUSE_MS)
    const now = await listObjects(stage)
    times = isDeepStrictEqual(now, objects) ? times + 1 : 0
    objects = now
  }
  stage.snapshots.set(moment, objects)
  console.log(`    ${Object.keys(objects).length} objects: ${moment}`)
}

async function listObjects(stage: Stage): Promise<JsonObject> {
  const found: [string, JsonObject][] = []
  for (const path of await stage.listables()) {
    if (left.test(path)) continue
    for (const object of await stage.list(path)) found.push([`${path} ${nameOf(object)}`, object])
  }
  // Owner references are compared by the path of the owner, because uids differ between runs.
  const places = new Map<string, string>()
  for (const [place, object] of found) places.set(textAt(object, 'metadata', 'uid'), place)
  const text = (value: string): string => plain(value, places, stage)
  const named = found.map(([place, object]): [string, Json] => [
    text(place),
    normalise(sortManagedFields(comparable(place, object)), text),
  ])
  return Object.fromEntries(numbered(named))
}

/** Removes secrets, and values that depend on the timing of a product's processes. */
function comparable(place: string, object: JsonObject): JsonObject {
  const { metadata, data } = object
  if (place.startsWith('/api/v1/secrets ') && isRecord(data))
    return { ...object, data: Object.keys(data) }
  // One of Gatekeeper's processes reports its status repeatedly, and each report increments the
  // generation. The number of reports depends on timing.
  if (
    !/podstatuses /.test(place) ||
    typeof metadata !== 'object' ||
    metadata === null ||
    Array.isArray(metadata)
  )
    return object
  const { generation: _generation, ...rest } = metadata
  return { ...object, metadata: rest }
}

const nameOf = (object: JsonObject): string =>
  `${textAt(object, 'metadata', 'namespace')}/${textAt(object, 'metadata', 'name')}`

/**
 * If several objects have the same name after the generated suffix is masked, adds numbers to their
 * names.
 */
function numbered(objects: readonly [string, Json][]): [string, Json][] {
  const groups = Map.groupBy(objects, ([place]) => place)
  return [...groups].flatMap(([place, group]) =>
    group
      .map(([, object]) => object)
      .toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
      .map((object, index): [string, Json] => [
        index === 0 ? place : `${place} (${index + 1})`,
        object,
      ]),
  )
}

function normalise(value: Json, text: (value: string) => string): Json {
  if (typeof value === 'string') return text(value)
  if (typeof value === 'number' && value >= PORT_MIN) return text(String(value))
  if (Array.isArray(value)) return value.map((entry) => normalise(entry, text))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, entry]): [string, Json] => [
    text(key),
    madeFields.has(key) && typeof entry === 'string' && entry !== ''
      ? '<made>'
      : normalise(ordered(key, entry), text),
  ])
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Sorts finalizers, because controllers add them in any order. */
const ordered = (key: string, value: Json): Json =>
  key === 'finalizers' && Array.isArray(value)
    ? value.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
    : value

function plain(text: string, places: ReadonlyMap<string, string>, stage: Stage): string {
  return (
    stage
      .hide(text)
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (uid) => {
        const place = places.get(uid)
        return place === undefined ? '<uid>' : `<uid of ${stage.hide(place)}>`
      })
      // Remove the rest of this message. It is a diff of Go structs, in which Keelson differs from
      // kube-apiserver (docs/differences.md).
      .replace(/(pod updates may not change fields other than [^\n]*)\n[^]*$/, '$1')
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replace(GENERATED_SUFFIX, '-xxxxx')
      // Mask Cluster API's hash of a template. It differs between runs, because the template
      // contains generated names.
      .replace(/\b\d{6,10}(?=-xxxxx)/g, '<hash>')
      .replace(/\(0x[0-9a-f]{6,}\)/g, '(<pointer>)')
  )
}
