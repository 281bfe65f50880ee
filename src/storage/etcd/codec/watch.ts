/** The requests and responses on a watch stream. */
import { readHeaderRevision } from './header.ts'
import { type KeyValue, readKeyValue } from './kv-response.ts'
import {
  bytesTag,
  MalformedMessage,
  type WireReader,
  varintTag,
} from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type WatchCreate = {
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array | undefined
  /**
   * The first revision whose events are delivered. If 0 or absent, only new events are delivered.
   */
  readonly startRevision?: number | undefined
  /** Includes the key-value pair before the change in each event, if it has not been compacted. */
  readonly prevKv?: boolean | undefined
  /**
   * Requests progress notifications at intervals (10 minutes by default) while there are no events.
   */
  readonly progressNotify?: boolean | undefined
  /**
   * Lets etcd split a response that exceeds its request limit. The class `Fragments` joins the
   * parts.
   */
  readonly fragment?: boolean | undefined
  /** Type of events that etcd filters out. */
  readonly without?: 'put' | 'delete' | undefined
}

export type EtcdEvent = {
  readonly type: 'put' | 'delete'
  /**
   * The new key-value pair. For a delete, it contains only the key and the revision of the
   * deletion.
   */
  readonly kv: KeyValue
  readonly prevKv?: KeyValue
}

export type WatchAnswer = {
  readonly revision: number
  readonly watchId: number
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  readonly fragment: boolean
  readonly events: EtcdEvent[]
}

export function encodeWatchCreate(watchId: number, create: WatchCreate): Buffer {
  const writer = new WireWriter(create.key.length + (create.rangeEnd?.length ?? 0))
  const mark = writer.length
  writer.bool(8, create.fragment)
  writer.number(7, watchId)
  writer.bool(6, create.prevKv)
  if (create.without !== undefined) {
    // A repeated enumeration in packed form: NOPUT is 0, NODELETE is 1.
    writer.bytes(5, Uint8Array.of(create.without === 'put' ? 0 : 1))
  }
  writer.bool(4, create.progressNotify)
  writer.number(3, create.startRevision)
  writer.bytes(2, create.rangeEnd)
  writer.bytes(1, create.key)
  writer.nested(1, mark)
  return writer.frame()
}

export function encodeWatchCancel(watchId: number): Buffer {
  const writer = new WireWriter(0)
  const mark = writer.length
  writer.number(1, watchId)
  writer.nested(2, mark)
  return writer.frame()
}

export function encodeWatchProgress(): Buffer {
  const writer = new WireWriter(0)
  writer.nested(3, writer.length)
  return writer.frame()
}

export function readWatch(reader: WireReader): WatchAnswer {
  let revision = 0
  let watchId = 0
  let created = false
  let canceled = false
  let compactRevision = 0
  let cancelReason = ''
  let fragment = false
  const events: EtcdEvent[] = []
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(11)) events.push(readEvent(reader))
    else if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else if (tag === varintTag(2)) watchId = reader.number()
    else if (tag === varintTag(3)) created = reader.bool()
    else if (tag === varintTag(4)) canceled = reader.bool()
    else if (tag === varintTag(5)) compactRevision = reader.number()
    else if (tag === bytesTag(6)) cancelReason = reader.string()
    else if (tag === varintTag(7)) fragment = reader.bool()
    else reader.skip(tag)
  }
  return { revision, watchId, created, canceled, compactRevision, cancelReason, fragment, events }
}

function readEvent(reader: WireReader): EtcdEvent {
  const outer = reader.enter()
  let type: EtcdEvent['type'] = 'put'
  let kv: KeyValue | undefined
  let prevKv: KeyValue | undefined
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(2)) kv = readKeyValue(reader)
    else if (tag === varintTag(1)) type = reader.enumeration() === 1 ? 'delete' : 'put'
    else if (tag === bytesTag(3)) prevKv = readKeyValue(reader)
    else reader.skip(tag)
  }
  reader.leave(outer)
  if (kv === undefined) throw new MalformedMessage('an event without a key-value')
  return prevKv === undefined ? { type, kv } : { type, kv, prevKv }
}
