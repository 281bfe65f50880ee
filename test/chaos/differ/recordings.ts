/**
 * Stores cases with kube-apiserver's responses on disk, as compressed JSON lines, one file for each
 * area.
 */
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'
import { parseLines } from './data.ts'
import { isStep, type Step } from './step.ts'

export type RecordedCase = {
  readonly area: string
  readonly seed: number
  readonly number: number
  readonly steps: readonly Step[]
  /** kube-apiserver's normalized responses to the steps that are compared. */
  readonly answers: readonly Json[]
}

const folder = join(import.meta.dirname, 'recorded')
const ending = '.jsonl.br'
const fileOf = (area: string): string => join(folder, `${area}${ending}`)

export const recordedAreas = (): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))

export function readCases(area: string): RecordedCase[] {
  const path = fileOf(area)
  if (!existsSync(path)) return []
  return parseLines(brotliDecompressSync(readFileSync(path)).toString('utf8')).map((value) => {
    if (!isCase(value)) throw new Error(`${path} has an invalid case; restore the file from git`)
    return { ...value, area }
  })
}

/** Adds cases to the stored ones. Returns the number of new cases. */
export function addCases(area: string, cases: readonly RecordedCase[]): number {
  const before = readCases(area)
  const known = new Set(before.map(idOf))
  const added = cases.filter((recorded) => !known.has(idOf(recorded)))
  if (added.length === 0) return 0
  const all = [...before, ...added].toSorted((a, b) => a.seed - b.seed || a.number - b.number)
  const text = all
    .map((recorded) => `${JSON.stringify({ ...recorded, area: undefined })}\n`)
    .join('')
  // Write to a temporary file first, so that an interrupted run does not leave a truncated file.
  const draft = `${fileOf(area)}.${process.pid}`
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  writeFileSync(draft, brotliCompressSync(text, { params }))
  renameSync(draft, fileOf(area))
  return added.length
}

export const idOf = ({
  area,
  seed,
  number,
}: Pick<RecordedCase, 'area' | 'seed' | 'number'>): string => `${area}/${number} of seed ${seed}`

const isCase = (value: Json): value is Omit<RecordedCase, 'area'> & JsonObject =>
  isRecord(value) &&
  typeof value['seed'] === 'number' &&
  typeof value['number'] === 'number' &&
  Array.isArray(value['answers']) &&
  Array.isArray(value['steps']) &&
  value['steps'].every(isStep)
