/** Encodes put and range requests as gRPC messages, so that h2load can send them to etcd. */

export const putRequest = (key: string, value: string): Buffer =>
  Buffer.concat([field(1, key), field(2, value)])

/** Encodes a linearizable read of one key. */
export const rangeRequest = (key: string): Buffer => field(1, key)

/** Returns an uncompressed gRPC message, which begins with its length. */
export function frame(message: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

function field(number: number, value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
