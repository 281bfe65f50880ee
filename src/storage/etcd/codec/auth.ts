/** The requests and responses of etcd's Auth service. */
import { bytesTag, type WireReader } from '../../../net/grpc/codec/reader.ts'
import { WireWriter } from '../../../net/grpc/codec/writer.ts'

export type Permission = {
  readonly type: 'read' | 'write' | 'readwrite'
  readonly key: Uint8Array
  readonly rangeEnd?: Uint8Array | undefined
}

const permissionTypes: Readonly<Record<Permission['type'], number>> = {
  read: 0,
  write: 1,
  readwrite: 2,
}

/**
 * Encodes a request with one or two strings, such as a name and a password, or a user and a role.
 */
export function encodeNames(first: string, second = ''): Buffer {
  const writer = new WireWriter(first.length + second.length)
  writer.string(2, second)
  writer.string(1, first)
  return writer.frame()
}

export function encodeGrantPermission(role: string, permission: Permission): Buffer {
  const writer = new WireWriter(role.length + permission.key.length)
  const mark = writer.length
  writer.bytes(3, permission.rangeEnd)
  writer.bytes(2, permission.key)
  writer.number(1, permissionTypes[permission.type])
  writer.nested(2, mark)
  writer.string(1, role)
  return writer.frame()
}

export function readToken(reader: WireReader): string {
  let token = ''
  while (reader.more()) {
    const tag = reader.tag()
    if (tag === bytesTag(2)) token = reader.string()
    else reader.skip(tag)
  }
  return token
}
