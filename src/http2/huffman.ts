/**
 * Decodes the Huffman codes of header strings (RFC 7541, appendix B). Nothing is encoded: what we send is short, and plain text
 * costs less. The code is canonical, so the lengths of all 256 symbols define it. It is decoded by whole bytes: a table of 256
 * entries for the first eight bits, and further tables for the rare symbols that are longer.
 */

// biome-ignore format: a table of numbers
const lengths = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28,
  28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13,
  6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6,
  6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23,
  23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23,
  22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22,
  25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22,
  21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
]
const LENGTH_MAX = 30
/** At most seven one bits pad the last byte. */
const PADDING_BITS_MAX = 7

/**
 * For each table and each next byte: `symbol << 8 | bits used of the byte`, or `TABLE | number of the next table`, or -1 (no symbol
 * has this code).
 */
const TABLE = 1 << 30
/** Built for the first header that is coded: a start has no time for it. */
let builtTables: Int32Array | undefined

function buildTables(): Int32Array {
  const built: number[][] = [newTable()]
  let code = 0
  for (let length = 1; length <= LENGTH_MAX; length++) {
    for (const [symbol, its] of lengths.entries()) if (its === length) place(built, { symbol, code: code++, length })
    code <<= 1
  }
  return Int32Array.from(built.flat())
}

function newTable(): number[] {
  return Array.from({ length: 256 }, () => -1)
}

function place(built: number[][], { symbol, code, length }: { symbol: number; code: number; length: number }): void {
  let table = built[0] ?? []
  let left = length
  for (; left > 8; left -= 8) {
    const next = (code >>> (left - 8)) & 0xff
    if (table[next] === -1) {
      table[next] = TABLE | built.length
      built.push(newTable())
    }
    table = built[(table[next] ?? 0) & ~TABLE] ?? []
  }
  const first = (code << (8 - left)) & 0xff
  for (let rest = 0; rest < 1 << (8 - left); rest++) table[first + rest] = (symbol << 8) | left
}

/** Writes the text to `into`, which has room for 8/5 of the coded length. Returns its length, or -1 if the code is invalid. */
export function decodeHuffman(from: Buffer, { start, end }: { start: number; end: number }, into: Buffer): number {
  const tables = (builtTables ??= buildTables())
  let bits = 0
  /** `held`: bits that are read but not decoded; `open`: all bits since the last whole symbol. */
  let held = 0
  let open = 0
  let table = 0
  let written = 0
  for (let at = start; at < end; at++) {
    bits = (bits << 8) | (from[at] ?? 0)
    held += 8
    open += 8
    while (held >= 8) {
      const found = tables[table + ((bits >>> (held - 8)) & 0xff)] ?? -1
      if (found === -1) return -1
      if ((found & TABLE) !== 0) {
        table = (found & ~TABLE) << 8
        held -= 8
        continue
      }
      table = 0
      held -= found & 0xff
      open = held
      into[written++] = found >>> 8
    }
  }
  // The last byte is padded with ones, which begin no symbol that is as short as what is left.
  while (held > 0) {
    const found = tables[table + (((bits << (8 - held)) | (0xff >>> held)) & 0xff)] ?? -1
    if (found === -1 || (found & TABLE) !== 0 || (found & 0xff) > held) break
    table = 0
    held -= found & 0xff
    open = held
    into[written++] = found >>> 8
  }
  const ones = (1 << open) - 1
  return open <= PADDING_BITS_MAX && (bits & ones) === ones ? written : -1
}
