import { bytesTag, type WireReader, varintTag } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

/**
 * Reads only the revision of a response header, because most calls do not need the IDs and the raft
 * term.
 */
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

/** Reads the revision and the cluster ID of a response, and skips everything else. */
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

/** Reads a response of which only the header is needed. */
export function readHeaderOnly(reader: WireReader): { readonly revision: number } {
  let revision = 0
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(1)) revision = readHeaderRevision(reader)
    else reader.skip(tag)
  }
  return { revision }
}

/** Encodes a request without fields. */
export function emptyRequest(): Buffer {
  return new WireWriter(0).frame()
}
