/**
 * Frames watch events in the format that the client accepts: lines of JSON, CBOR documents, or
 * protobuf messages with a length prefix. An event is framed once for all watches with the same
 * format. A Table contains ages, so its events are framed separately for each watch.
 */
import type { Status } from '../../../api/errors.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { Headers } from '../../../api/request.ts'
import { partsIfLong, type ObjectEvent, type WatchEvent } from '../../../storage/cache/event.ts'
import { encodeCbor } from '../../../objects/codec/cbor/encode.ts'
import { printOrdered } from '../../../objects/codec/json.ts'
import type { Conversion, Form } from '../../../objects/codec/negotiate.ts'
import { printWire } from '../../../objects/codec/object.ts'
import {
  encodeEvent,
  encodeObject,
  eventWrapper,
} from '../../../objects/codec/protobuf/envelope.ts'
import type { Row } from '../../../objects/codec/table.ts'
import { partialStruct, statusStruct } from '../../../registry/meta-types.ts'
import { apiVersionOf, type Resource } from '../../../registry/resource.ts'
import { cborEvent, cborObject } from './cbor.ts'
import type { ResourceForms } from './forms.ts'
import { FrameMemory } from './frame-memory.ts'
import { type StreamForm, streamHeaders } from './headers.ts'
import { partialCbor, partialJson, partialKind, partialOf } from './partial.ts'
import { tableParts } from './represent.ts'
import { includedObject, printEventTable } from './table.ts'

/** The framing for one client. */
export type Framing = {
  readonly headers: Headers
  /**
   * Returns the frame of an event. Returns undefined if the event cannot be represented, which ends
   * the stream.
   */
  readonly event: (event: WatchEvent) => Buffer | undefined
  /**
   * Returns the frame of a long event as several buffers, so that the event is not copied. Returns
   * undefined for other events, whose frames are single buffers. This function is absent if each
   * frame is a single buffer.
   */
  readonly parts?: (event: WatchEvent) => readonly Buffer[] | undefined
  readonly error: (status: Status) => Buffer
  /** Whether no frame is shared with other watches. */
  readonly isUnshared: boolean
  /**
   * Memory for events that only this watch sends. Undefined if each of these events has its own
   * memory.
   */
  readonly memory: FrameMemory | undefined
}

type Bookmark = Extract<WatchEvent, { type: 'BOOKMARK' }>

/**
 * Functions that create frames. `shown` creates the frame of an event with a cached object.
 * `bookmark` creates the frame of a bookmark, which only this watch sends.
 */
type Frames = {
  readonly shown: (shown: ObjectEvent) => Buffer
  readonly bookmark: (object: KubeObject) => Buffer
}

/**
 * Creates the framing. `keepsFrames` means that frames are read after later frames were requested,
 * or that each frame must be a single buffer.
 */
export function framingOf(
  form: Form,
  forms: ResourceForms,
  { query, keepsFrames }: { readonly query: URLSearchParams; readonly keepsFrames: boolean },
): Framing {
  const type = streamForm(form)
  const error = errors[type]
  const headers = streamHeaders[type]
  if (form.as?.kind === 'PartialObjectMetadataList') {
    return { headers, error, event: () => undefined, isUnshared: true, memory: undefined }
  }
  // Only protobuf frames reuse memory. Frames in other formats are created from strings or, for
  // JSON, from cached bytes. Creating them takes longer than collecting them as garbage.
  const memory =
    keepsFrames || type !== 'protobuf' || form.as !== undefined ? undefined : new FrameMemory()
  const { shown, bookmark } = framesOf(form, forms, { query, memory })
  const isUnshared = form.as?.kind === 'Table'
  const event = (one: WatchEvent): Buffer =>
    one.type === 'BOOKMARK' ? bookmark(bookmarkObject(forms.resource, one, form.as)) : shown(one)
  if (type !== 'json' || form.as !== undefined || keepsFrames)
    return { headers, error, event, isUnshared, memory }
  return { headers, error, event, parts: longParts, isUnshared, memory }
}

const longParts = (event: WatchEvent): readonly Buffer[] | undefined =>
  event.type === 'BOOKMARK' ? undefined : partsIfLong(event)

type FrameOptions = { readonly query: URLSearchParams; readonly memory: FrameMemory | undefined }

function framesOf(form: Form, forms: ResourceForms, { query, memory }: FrameOptions): Frames {
  const { as } = form
  if (as?.kind === 'Table') return tableFrames({ ...form, as }, forms, query)
  const type = streamForm(form)
  return as === undefined ? objectFrames[type](forms, memory) : partialFrames[type](as, forms)
}

const streamForm = ({ type }: Form): StreamForm => (type === 'yaml' ? 'json' : type)

const line = (type: string, json: string): Buffer =>
  Buffer.from(`{"type":"${type}","object":${json}}\n`)

const objectLines = ({ resource: { shape } }: ResourceForms): Frames => ({
  shown: (shown) => shown.frame(),
  bookmark: (object) => line('BOOKMARK', printWire(object, shape).bytes.toString().trimEnd()),
})

function objectMessages(forms: ResourceForms, memory: FrameMemory | undefined): Frames {
  const { shape, kind, group, version } = forms.resource
  const wrap = eventWrapper({ kind, apiVersion: apiVersionOf({ group, version }) })
  const frameIn =
    (allocate?: (bytes: number) => Buffer) =>
    (shown: ObjectEvent): Buffer =>
      isAsStored(shown)
        ? wrap(shown.type, forms.message(shown.item), allocate)
        : encodeEvent(shown.type, encodeObject(objectAt(shown), shape.struct))
  const own = memory && frameIn((bytes) => memory.take(bytes))
  return {
    shown: forms.frames('protobuf', frameIn(), own),
    bookmark: (object) => encodeEvent('BOOKMARK', encodeObject(object, shape.struct)),
  }
}

function objectDocuments(forms: ResourceForms): Frames {
  const { shape } = forms.resource
  const frame = (type: string, object: KubeObject): Buffer =>
    cborEvent(type, cborObject(object, shape))
  return {
    shown: forms.frames('cbor', (shown) => frame(shown.type, objectAt(shown))),
    bookmark: (object) => frame('BOOKMARK', object),
  }
}

function partialLines({ version }: Conversion, forms: ResourceForms): Frames {
  const { release } = forms.resource
  const { json } = forms.partials(version)
  const partial = (shown: ObjectEvent): string =>
    isAsStored(shown) ? json(shown.item).toString() : partialJson(objectAt(shown), version, release)
  return {
    shown: forms.frames(`partial ${version}`, (shown) => line(shown.type, partial(shown))),
    bookmark: (object) => line('BOOKMARK', partialJson(object, version, release)),
  }
}

function partialMessages({ version }: Conversion, forms: ResourceForms): Frames {
  const { release } = forms.resource
  const { protobuf } = forms.partials(version)
  const wrap = eventWrapper({ kind: partialKind, apiVersion: `meta.k8s.io/${version}` })
  const encode = (object: KubeObject): Buffer =>
    encodeObject(partialOf(object, version), partialStruct(release))
  const frame = (shown: ObjectEvent): Buffer =>
    isAsStored(shown)
      ? wrap(shown.type, protobuf(shown.item))
      : encodeEvent(shown.type, encode(objectAt(shown)))
  return {
    shown: forms.frames(`partial protobuf ${version}`, frame),
    bookmark: (object) => encodeEvent('BOOKMARK', encode(object)),
  }
}

function partialDocuments({ version }: Conversion, forms: ResourceForms): Frames {
  const { release } = forms.resource
  const frame = (type: string, object: KubeObject): Buffer =>
    cborEvent(type, partialCbor(object, version, release))
  return {
    shown: forms.frames(`partial cbor ${version}`, (shown) => frame(shown.type, objectAt(shown))),
    bookmark: (object) => frame('BOOKMARK', object),
  }
}

const objectFrames = { json: objectLines, protobuf: objectMessages, cbor: objectDocuments } as const
const partialFrames = {
  json: partialLines,
  protobuf: partialMessages,
  cbor: partialDocuments,
} as const

function tableFrames(
  form: Form & Required<Pick<Form, 'as'>>,
  forms: ResourceForms,
  query: URLSearchParams,
): Frames {
  // Check the includeObject parameter before the stream begins, because an error can then still be
  // sent as a Status.
  includedObject(query)
  const parts = tableParts(forms, form, query)
  const rowOfItem = parts.rowsOfItems()
  let isFirst = true
  const frame = (type: string, row: Row, resourceVersion = ''): Buffer => {
    const json = printEventTable({ row, resourceVersion }, parts, isFirst)
    isFirst = false
    return line(type, json)
  }
  const rowOf = (shown: ObjectEvent): Row =>
    isAsStored(shown) ? rowOfItem(shown.item) : parts.rowOfObject(objectAt(shown))
  return {
    shown: (shown) => frame(shown.type, rowOf(shown), `${shown.revision}`),
    bookmark: (object) =>
      frame('BOOKMARK', parts.rowOfObject(object), object.metadata.resourceVersion),
  }
}

/**
 * Whether the resourceVersion of the event is that of the stored object. The event of a deletion
 * has a later resourceVersion.
 */
const isAsStored = ({ item, revision }: ObjectEvent): boolean => item.revision === revision

/** Returns the object of an event, with the resourceVersion of the event. */
function objectAt(shown: ObjectEvent): KubeObject {
  const { item, revision } = shown
  const object = item.peek()
  if (isAsStored(shown)) return object
  return { ...object, metadata: { ...object.metadata, resourceVersion: `${revision}` } }
}

const errors: { readonly [type in StreamForm]: (status: Status) => Buffer } = {
  json: (status) => line('ERROR', printOrdered(status)),
  protobuf: (status) => encodeEvent('ERROR', encodeObject(status, statusStruct())),
  cbor: (status) => cborEvent('ERROR', encodeCbor(status)),
}

/**
 * Returns an empty object of the kind. It contains the resourceVersion from which the client can
 * resume.
 */
function bookmarkObject(
  resource: Resource,
  { revision, initialEventsEnd }: Bookmark,
  as: Conversion | undefined,
): KubeObject {
  const annotations = initialEventsEnd ? { annotations: endOfInitial(resource, as) } : {}
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: `${revision}`, ...annotations },
  }
}

/** The first release that marks the end of the initial events without an empty list of the kind. */
const NO_LIST_SINCE = 34

/**
 * Whether the mark of the end of the initial events contains an empty list of the kind. Clients
 * construct their list from it.
 */
export const marksWithList = ({ release }: Pick<Resource, 'release'>): boolean =>
  release < NO_LIST_SINCE

/** Returns the annotations that mark the end of the initial events. */
function endOfInitial(
  resource: Resource,
  as: Conversion | undefined,
): { readonly [key: string]: string } {
  const mark = { 'k8s.io/initial-events-end': 'true' }
  if (!marksWithList(resource)) return mark
  const typeMeta =
    as?.kind === 'PartialObjectMetadata'
      ? { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${as.version}` }
      : { kind: resource.listKind, apiVersion: apiVersionOf(resource) }
  const list = { ...typeMeta, metadata: {}, items: null }
  return {
    ...mark,
    'kubernetes.io/initial-events-list-blueprint': Buffer.from(`${printOrdered(list)}\n`).toString(
      'base64',
    ),
  }
}
