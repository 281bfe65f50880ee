/**
 * Decodes the Huffman codes of header strings (RFC 7541, appendix B). There is no encoder, because
 * this server sends short strings, for which plain text is cheaper. Huffman codes of this kind
 * (canonical ones) are determined by the lengths of the codes of all 256 symbols. Decoding handles
 * whole bytes: one table of 256 entries for the first eight bits, and further tables for the rare
 * symbols with longer codes.
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
/** Maximum number of padding bits in the last byte. All padding bits are 1. */
const PADDING_BITS_MAX = 7

/**
 * The bit that marks an entry as a reference to another table. A table has an entry for each value
 * of the next byte: `symbol << 8 | number of bits used`, or `TABLE | number of the next table`, or
 * -1 if no code begins like this.
 */
const TABLE = 1 << 30
/**
 * The tables for decoding. They are built when the first Huffman-coded header arrives, so that
 * building them does not delay the start of the server.
 */
let builtTables: Int32Array | undefined

/** Number of tables that this code requires. */
const TABLES = 15

/**
 * Builds the tables. The first request of a process waits for this, so the function creates no
 * objects for the 256 symbols.
 */
function buildTables(): Int32Array {
  const tables = new Int32Array(TABLES << 8).fill(-1)
  const lengthOf = (symbol: number): number => lengths[symbol] ?? 0
  const symbols = [...lengths.keys()].toSorted((a, b) => lengthOf(a) - lengthOf(b) || a - b)
  let count = 1
  let code = 0
  let lengthBefore = 0
  for (const symbol of symbols) {
    let left = lengthOf(symbol)
    code <<= left - lengthBefore
    lengthBefore = left
    let table = 0
    for (; left > 8; left -= 8) {
      const next = table + ((code >>> (left - 8)) & 0xff)
      if (tables[next] === -1) tables[next] = TABLE | count++
      table = ((tables[next] ?? 0) & ~TABLE) << 8
    }
    const first = table + ((code << (8 - left)) & 0xff)
    tables.fill((symbol << 8) | left, first, first + (1 << (8 - left)))
    code++
  }
  return tables
}

/**
 * Writes the decoded text to `into`, which must have room for 8/5 of the encoded length. Returns
 * the length of the text, or -1 if the code is invalid.
 */
export function decodeHuffman(
  from: Buffer,
  { start, end }: { start: number; end: number },
  into: Buffer,
): number {
  const tables = (builtTables ??= buildTables())
  let bits = 0
  /**
   * `held` is the number of bits that were read but not decoded yet. `open` is the number of bits
   * after the last decoded symbol.
   */
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
  // The remaining bits are short symbols, followed by padding of 1 bits. Padding cannot be mistaken
  // for a symbol, because each code that is short enough contains a 0.
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
