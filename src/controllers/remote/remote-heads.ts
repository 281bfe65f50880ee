/**
 * Reads the metadata of a remote server's objects that controllers need. The server can send
 * anything, so its JSON is read field by field, in slices of time, and other fields are skipped.
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

/**
 * Maximum number of items in a list. A server that does not support paging can return all of its
 * objects.
 */
const ITEMS_MAX = 100_000

/** The metadata of an object of a remote server. */
export type RemoteHead = ObjectHead & {
  /** The namespace of the object. Empty if the object is cluster-scoped. */
  readonly namespace: string
  readonly name: string
  /** The resourceVersion, which is an opaque string. Empty if the object has no resourceVersion. */
  readonly resourceVersion: string
}

/** The fields of a page of a list, except for the items. */
export type ReadPage = {
  /** Number of objects on the pages after this one, or 0 if the server does not report it. */
  readonly remaining: number
  /** The continue token; empty on the last page. */
  readonly next: string
  readonly resourceVersion: string
}

export type RemoteEvent = {
  readonly type: string
  readonly head: RemoteHead
  readonly code: number
}

/** Accept headers that request only metadata, if the server supports that. */
export const acceptObject = acceptOf('PartialObjectMetadata')
export const acceptList = acceptOf('PartialObjectMetadataList')

function acceptOf(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`
}

/** Reads an object. Rejects if the JSON is not an object with a name and a uid. */
export async function readHead(json: Buffer): Promise<RemoteHead> {
  const metadata = new Map<string, Json>()
  await inSlices(readFields(json.toString(), { metadata: metadataSteps(metadata) }))
  return remoteHeadOf(metadata)
}

/**
 * Reads a page of a list. Calls `take` for each object, even if the object has no name or uid.
 * Rejects if the JSON is not a list.
 */
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
      // Go encodes a list without items as null.
      isList = scanner.peekType() === 'array' || scanner.peekType() === 'null'
      return eachItem(scanner, ITEMS_MAX, function* (item) {
        const metadata = new Map<string, Json>()
        yield* eachField(item, { metadata: metadataSteps(metadata) })
        take(headIn(metadata))
      })
    },
  })
  if (!isList) throw new Error('the response is not a list')
  return {
    next: textOf(page.get('continue')),
    resourceVersion: textOf(page.get('resourceVersion')),
    remaining: numberOf(page.get('remainingItemCount')),
  }
}

/** Reads a line of a watch. If the event has no object, its metadata is empty. */
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
 * Reads a field of an object. A value that is too large is ignored. Otherwise one such value would
 * prevent the other objects of the kind from being read.
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

/** An empty list, shared by all objects that have no finalizers or no owners. */
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
