/**
 * Prints tables as JSON. Apart from the ages in it, the row of an object stays the same until the
 * object changes. Therefore a row is cached as bytes and timestamps. When it is sent, the
 * timestamps are replaced by ages.
 */
import type { Fields, KubeObject } from '../../api/object.ts'
import { type Cell, type Column, durationText, type TableKind } from '../../api/table.ts'
import { once } from '../../lib/scheduling/parts.ts'
import { printOrdered, printString } from './json.ts'

/**
 * A row as pieces of JSON and timestamps. When the row is printed, each timestamp is replaced by
 * its age.
 */
export type Row = readonly (Buffer | number)[]

/** Returns the row of an object. `objectJson` is the object in this row as JSON, or `null`. */
export function rowOf(object: KubeObject, kind: TableKind, objectJson: string): Row {
  const row: (string | number)[] = ['{"cells":[']
  for (const [at, cell] of once('cells of a row', () => kind.cells(object)).entries()) {
    if (at > 0) row.push(',')
    addCell(row, cell)
  }
  const conditions = kind.conditions?.(object) ?? []
  const shown = conditions.length === 0 ? '' : `,"conditions":${printOrdered(conditions)}`
  row.push(`]${shown},"object":${objectJson}}`)
  return joined(row)
}

function addCell(row: (string | number)[], cell: Cell): void {
  if (typeof cell !== 'object' || cell === null) row.push(printOrdered(cell))
  else if ('sinceMs' in cell) row.push('"', cell.sinceMs, '"')
  else {
    const parts = cell.parts.map((part) =>
      typeof part === 'string' ? printString(part).slice(1, -1) : part.sinceMs,
    )
    // Bounded: a cell consists of only a few parts
    row.push('"', ...parts, '"')
  }
}

/** Joins strings that follow each other in a row. */
function joined(row: readonly (string | number)[]): Row {
  const texts: (string | number)[] = []
  for (const part of row) {
    const last = texts.at(-1)
    if (typeof part === 'string' && typeof last === 'string') texts[texts.length - 1] = last + part
    else texts.push(part)
  }
  return inOneBuffer(texts)
}

/**
 * Encodes the strings to one Buffer outside of Node's pool. Otherwise a small Buffer would be a
 * part of the pool, and each cached row would keep the whole pool in memory.
 */
function inOneBuffer(texts: readonly (string | number)[]): Row {
  const sizes = texts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : 0))
  const bytes = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + size, 0))
  let used = 0
  return texts.map((part) => {
    if (typeof part === 'number') return part
    const start = used
    used += bytes.write(part, start)
    return bytes.subarray(start, used)
  })
}

/** Returns the age of a timestamp as JSON, without quotes. */
export type Ages = (sinceMs: number) => Buffer

/**
 * Returns the ages of timestamps at a given time. Many objects in a list have the same age, so each
 * distinct age is encoded once.
 */
export function agesAt(nowMs: number): Ages {
  const known = new Map<string, Buffer>()
  return (sinceMs) => {
    const text = durationText(nowMs - sinceMs)
    const age = known.get(text) ?? Buffer.from(printString(text).slice(1, -1))
    known.set(text, age)
    return age
  }
}

export const partsOfRow = (row: Row, ages: Ages): readonly Buffer[] =>
  row.map((part) => (typeof part === 'number' ? ages(part) : part))

export const printRow = (row: Row, nowMs: number): string =>
  Buffer.concat(partsOfRow(row, agesAt(nowMs))).toString()

/** Memory that a Buffer uses in addition to its bytes. */
const BUFFER_BYTES = 200

export const bytesOfRow = (row: Row): number =>
  row.reduce<number>(
    (sum, part) => sum + (typeof part === 'number' ? 8 : part.length + BUFFER_BYTES),
    0,
  )

type Head = {
  readonly version: string
  readonly metadata: Fields
  readonly columns: readonly Column[] | null
}

/** Prints everything that comes before the first row. */
export const printTableHead = ({ version, metadata, columns }: Head): string =>
  `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${printOrdered(metadata)},"columnDefinitions":${
    columns === null ? 'null' : printOrdered(columns.map(({ ...column }) => column))
  },"rows":`
