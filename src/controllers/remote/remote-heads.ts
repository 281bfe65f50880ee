/**
 * Reads what controllers ask of the objects of a remote server, which may say anything: in slices,
 * field by field, the rest is skipped.
 */
import {
  eachField,
  eachItem,
  PartTooLarge,
  readFields,
  readPart,
  skip,
} from '../../api/bounded-json.ts'
import type { JsonScanner } from '../../api/json-scanner.ts'
import { type Json, numberOf, textOf } from '../../api/object.ts'
import { inSlices, type Steps } from '../../lib/scheduling/slices.ts'
import { headFrom, type ObjectHead } from '../object-head.ts'

/** A server that does not know pages may list all that it has. */
const ITEMS_MAX = 100_000

/** An object of a remote server. */
export type RemoteHead = ObjectHead & {
  /** Empty: it is cluster-scoped. */
  readonly namespace: string
  readonly name: string
  /** Opaque; empty: it has none. */
  readonly resourceVersion: string
}

/** The end of a page. */
export type ReadPage = {
  /** How many follow, if the server says it. */
  readonly remaining: number
  /** Empty: it was the last one. */
  readonly next: string
  readonly resourceVersion: string
}

export type RemoteEvent = {
  readonly type: string
  readonly head: RemoteHead
  readonly code: number
}

/** Metadata alone, if the server knows that. */
export const acceptObject = acceptOf('PartialObjectMetadata')
export const acceptList = acceptOf('PartialObjectMetadataList')

function acceptOf(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}

/** Fails if it is no object. */
export async function readHead(json: Buffer): Promise<RemoteHead> {
  const metadata = new Map<string, Json>()
  await inSlices(readFields(json.toString(), { metadata: metadataSteps(metadata) }))
  return remoteHeadOf(metadata)
}

/** `take` is called for each object, whatever it lacks. Fails if it is no list. */
export const readPage = (json: Buffer, take: (head: RemoteHead) => void): Promise<ReadPage> =>
  inSlices(pageSteps(json.toString(), take))

function* pageSteps(text: string, take: (head: RemoteHead) => void): Steps<ReadPage> {
  const page = new Map<string, Json>()
  let isList = false
  yield* readFields(text, {
    metadata: (scanner) =>
      eachField(scanner, {
        continue: into(page, 'continue'),
        resourceVersion: into(page, 'resourceVersion'),
        remainingItemCount: into(page, 'remainingItemCount'),
      }),
    items: (scanner) => {
      // Go writes a list without items as null.
      isList = scanner.peekType() === 'array' || scanner.peekType() === 'null'
      return eachItem(scanner, ITEMS_MAX, function* (item) {
        const metadata = new Map<string, Json>()
        yield* eachField(item, { metadata: metadataSteps(metadata) })
        take(headIn(metadata))
      })
    },
  })
  if (!isList) throw new Error('it is no list')
  return {
    next: textOf(page.get('continue')),
    resourceVersion: textOf(page.get('resourceVersion')),
    remaining: numberOf(page.get('remainingItemCount')),
  }
}

/** A line of a watch. The head of an event without an object is empty. */
export async function readEvent(line: string): Promise<RemoteEvent> {
  const event = new Map<string, Json>()
  const metadata = new Map<string, Json>()
  const object = (scanner: JsonScanner): Steps<void> =>
    eachField(scanner, { metadata: metadataSteps(metadata), code: into(event, 'code') })
  await inSlices(readFields(line, { type: into(event, 'type'), object }))
  return {
    type: textOf(event.get('type')),
    head: headIn(metadata),
    code: numberOf(event.get('code')),
  }
}

const wanted = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'deletionTimestamp',
  'finalizers',
  'ownerReferences',
] as const

const metadataSteps =
  (found: Map<string, Json>) =>
  (scanner: JsonScanner): Steps<void> =>
    eachField(scanner, Object.fromEntries(wanted.map((name) => [name, into(found, name)])))

/**
 * A value that is too large is as if it were not there: one object must not keep the others of its
 * kind from being read.
 */
const into = (found: Map<string, Json>, name: string) =>
  function* (scanner: JsonScanner): Steps<void> {
    scanner.peekType()
    const start = scanner.at
    yield* skip(scanner)
    const end = scanner.at
    scanner.at = start
    try {
      found.set(name, yield* readPart(scanner))
    } catch (error) {
      if (!(error instanceof PartTooLarge)) throw error
      scanner.at = end
    }
  }

function remoteHeadOf(metadata: ReadonlyMap<string, Json>): RemoteHead {
  const head = headIn(metadata)
  if (head.name === '' || head.uid === '') throw new Error('an object has no name or no uid')
  return head
}

/** Most objects have neither: they share these. */
const none: readonly never[] = []

function headIn(metadata: ReadonlyMap<string, Json>): RemoteHead {
  const { uid, isMarked, finalizers, owners } = headFrom(Object.fromEntries(metadata))
  return {
    uid,
    isMarked,
    finalizers: finalizers.length === 0 ? none : finalizers,
    owners: owners.length === 0 ? none : owners,
    name: textOf(metadata.get('name')),
    namespace: textOf(metadata.get('namespace')),
    resourceVersion: textOf(metadata.get('resourceVersion')),
  }
}
