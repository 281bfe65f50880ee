import { bytesTag, type WireReader, varintTag } from './reader.ts'
import { WireWriter } from './writer.ts'

/** Of the header of an answer only the revision is read: ids and the raft term serve nobody on the hot path. */
export function readHeaderRevision(reader: WireReader): number {
  const outer = reader.enter()
  let revision = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(3)) revision = reader.number()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return revision
}

export type Header = { readonly revision: number; readonly clusterId: bigint }

/** The header of an answer of which nothing else counts, with the cluster that gave it. */
export function readClusterHeader(reader: WireReader): Header {
  let header: Header = { revision: 0, clusterId: 0n }
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) header = readHeader(reader)
    else reader.skip(tag)
  }
  return header
}

function readHeader(reader: WireReader): Header {
  const outer = reader.enter()
  let revision = 0
  let clusterId = 0n
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === varintTag(1)) clusterId = reader.unsignedId()
    else if (tag === varintTag(3)) revision = reader.number()
    else reader.skip(tag)
  }
  reader.leave(outer)
  return { revision, clusterId }
}

/** An answer of which nothing but the header counts. */
export function readHeaderOnly(reader: WireReader): { readonly revision: number } {
  let revision = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else reader.skip(tag)
  }
  return { revision }
}

/** A request without fields. */
export function emptyRequest(): Buffer {
  return new WireWriter(0).frame()
}
