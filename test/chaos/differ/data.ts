/**
 * Reads the data from which cases are generated: lists of values, shapes of objects and templates
 * of expressions.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, type Json, type JsonObject } from '../../recorded/compat/json.ts'

const read = (name: string): string => readFileSync(join(import.meta.dirname, 'data', name), 'utf8')

export function readObject(name: string): JsonObject {
  const value: Json = JSON.parse(read(name))
  if (!isRecord(value)) throw new Error(`data/${name} is not an object`)
  return value
}

export const readLines = (name: string): readonly Json[] => parseLines(read(name))

export const parseLines = (text: string): Json[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Json => JSON.parse(line))

/** A JSON object whose values are lists. */
export class Lists {
  readonly #name: string
  readonly #lists: JsonObject

  constructor(name: string, lists: JsonObject = readObject(name)) {
    this.#name = name
    this.#lists = lists
  }

  has(key: string): boolean {
    return Array.isArray(this.#lists[key])
  }

  of(key: string): readonly Json[] {
    const list = this.#lists[key]
    if (!Array.isArray(list)) throw new Error(`data/${this.#name} has no list ${key}`)
    return list
  }

  texts(key: string): readonly string[] {
    return this.of(key).map(String)
  }
}
