/** Reads and writes the integers of network protocols, most significant byte first. */

/** Returns the byte at this position, or 0 if the position is beyond the end. */
export const byte = (from: Buffer, at: number): number => from[at] ?? 0

export function writeUint32(into: Buffer, at: number, value: number): void {
  into[at] = value >>> 24
  into[at + 1] = value >>> 16
  into[at + 2] = value >>> 8
  into[at + 3] = value
}

export function readUint32(from: Buffer, at: number): number {
  return (
    (byte(from, at) * 0x1000000 +
      (byte(from, at + 1) << 16) +
      (byte(from, at + 2) << 8) +
      byte(from, at + 3)) >>>
    0
  )
}
