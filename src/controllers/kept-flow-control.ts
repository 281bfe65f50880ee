/**
 * Keeps the built-in FlowSchemas and PriorityLevelConfigurations current, as kube-apiserver does.
 * Mandatory objects are reset whenever they are changed. Suggested objects are also reset, unless
 * an annotation or an earlier change shows that a user maintains them. Objects that only other
 * releases have are deleted.
 */
import { type Fields, fieldsOf, itemsOf, numberOf, textOf } from '../api/object.ts'
import { objectInSlices, request } from '../api/own-request.ts'
import type { Handler } from '../api/request.ts'
import { parseGoBoolean } from '../lib/text/go-literals.ts'
import { isSame } from '../objects/schema/equal.ts'
import { create, pathOf, type RequiredObject } from './wanted.ts'

/** Interval between checks, as in kube-apiserver. */
export const KEEP_FLOWS_MS = 60_000

const annotation = 'apf.kubernetes.io/autoupdate-spec'
const mandatoryNames: ReadonlySet<string> = new Set(['exempt', 'catch-all'])

/** Checks all objects once. Rejects if any object cannot be read or written. */
export async function keepFlowControl(
  handle: Handler,
  all: readonly RequiredObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const collection of new Set(all.map((one) => one.collection))) {
    const found = await listed(handle, collection, signal)
    // Bounded: `all` contains only the built-in objects, so it is short
    const wanted = all.filter((one) => one.collection === collection)
    for (const one of wanted)
      await keep(handle, one, { found: found.get(nameOf(one.object)), signal })
    const names = new Set(wanted.map(({ object }) => nameOf(object)))
    for (const [name, object] of found) {
      if (names.has(name) || parseGoBoolean(annotationOf(object)) !== true) continue
      const path = `${collection}/${name}`
      const { status } = await request(handle, { method: 'DELETE', path, signal })
      if (status !== OK && status !== NOT_FOUND)
        throw new Error(`${path} could not be removed: status ${status}`)
    }
  }
}

type KeepOptions = { readonly found: Fields | undefined; readonly signal: AbortSignal }

async function keep(
  handle: Handler,
  wanted: RequiredObject,
  { found, signal }: KeepOptions,
): Promise<void> {
  const path = pathOf(wanted)
  if (found === undefined) {
    const refused = await create(handle, wanted, signal)
    if (refused !== undefined) throw new Error(`${path} could not be written: status ${refused}`)
    return
  }
  const body = revised(found, wanted.object)
  if (body === undefined) return
  const { manager } = wanted
  const { status } = await request(handle, { method: 'PUT', path, body, manager, signal })
  // After a conflict, the object is checked again in the next pass.
  if (status !== OK && status !== CONFLICT && status !== NOT_FOUND) {
    throw new Error(`${path} could not be written: status ${status}`)
  }
}

/** Returns the corrected object, or undefined if it is already correct or a user maintains it. */
function revised(found: Fields, wanted: Fields): Fields | undefined {
  const isOurs = mandatoryNames.has(nameOf(wanted)) || isAutoUpdated(found)
  const isMarked = parseGoBoolean(annotationOf(found)) === isOurs
  const isChanged = isOurs && !isSame(comparedSpec(found, found), comparedSpec(wanted, found))
  if (isMarked && !isChanged) return undefined
  const metadata = fieldsOf(found['metadata'])
  const annotations = { ...fieldsOf(metadata['annotations']), [annotation]: `${isOurs}` }
  return {
    ...found,
    metadata: { ...metadata, annotations },
    ...(isChanged ? { spec: wanted['spec'] ?? {} } : {}),
  }
}

/**
 * Whether the server may update an object. The annotation of the object decides. Without an
 * annotation, the server may update the object until a user has changed its spec.
 */
const isAutoUpdated = (found: Fields): boolean =>
  parseGoBoolean(annotationOf(found)) ?? numberOf(fieldsOf(found['metadata'])['generation']) === 1

/**
 * Returns the part of the spec that is compared with the default. For an exempt priority level,
 * leaves out the number of shares and the lendable percentage, which operators can change.
 */
function comparedSpec(object: Fields, found: Fields): Fields {
  const spec = fieldsOf(object['spec'])
  if (spec['type'] !== 'Exempt') return spec
  const hasExempt = fieldsOf(found['spec'])['exempt'] !== undefined
  return hasExempt && spec['exempt'] !== undefined ? { ...spec, exempt: {} } : spec
}

const nameOf = (object: Fields): string => textOf(fieldsOf(object['metadata'])['name'])

const annotationOf = (object: Fields): string =>
  textOf(fieldsOf(fieldsOf(object['metadata'])['annotations'])[annotation])

async function listed(
  handle: Handler,
  path: string,
  signal: AbortSignal,
): Promise<Map<string, Fields>> {
  const response = await request(handle, {
    method: 'GET',
    path,
    query: { resourceVersion: '0' },
    signal,
  })
  // A failed list must not be treated as an empty list.
  if (response.status !== OK) throw new Error(`${path} returned status ${response.status}`)
  return new Map(
    itemsOf(fieldsOf(await objectInSlices(response))['items']).map((item) => [nameOf(item), item]),
  )
}

const OK = 200
const NOT_FOUND = 404
const CONFLICT = 409
