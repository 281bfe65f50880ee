/**
 * Short descriptions of types and their fields, which `kubectl explain` shows. They are text files:
 * `texts/` in the source tree, and one file in the package. They are read when a client first
 * requests a description, because most servers never need them.
 *
 * The format of the files:
 *
 *     Pod: description of the type
 *       spec: description of the field
 *     EphemeralContainer like Container: the fields of Container describe the other fields
 *     rbac/Subject: a type whose name also exists in another group
 *     resource/v1beta2/Device: a type that differs from the same type in other versions
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { readIfThere } from '../../../lib/process/files.ts'
import type { Struct } from '../../../objects/schema/schema.ts'

/** Name of the file in the package. `scripts/build.ts` writes it. */
export const descriptionsName = 'descriptions.txt'

/** A built-in type, or the name of an entry that does not describe a type. */
export type DescribedType = string | Pick<Struct, 'name' | 'packageName' | 'embedded'>

type TypeDescription = {
  readonly text: string
  readonly like: string | undefined
  readonly fields: Map<string, string>
}

/** The name of the entry with the fields of every kind, such as `metadata`. */
const KIND = 'Kind'
/** The name of the entry for fields that have the same meaning in every type. */
const ANY = 'Any'

/** Finds descriptions. The files are read and parsed when the first description is needed. */
export class Descriptions {
  #types: ReadonlyMap<string, TypeDescription> | undefined

  /**
   * Returns the description of a type, or of one of its fields. Returns undefined if there is no
   * description.
   */
  of(type: DescribedType, field?: string): string | undefined {
    const types = (this.#types ??= parse(readTexts()))
    const names = namesOf(type)
    if (field === undefined) return firstOf(names, (name) => types.get(name)?.text)
    const like = firstOf(names, (name) => types.get(name)?.like)
    const all = [...names, ...(like === undefined ? [] : withPackage(like, type)), ...basesOf(type)]
    return firstOf(all, (name) => types.get(name)?.fields.get(field))
  }
}

/**
 * Returns the names of the entries that can describe a type, beginning with the most specific name.
 */
const namesOf = (type: DescribedType): readonly string[] =>
  withPackage(typeof type === 'string' ? type : type.name, type)

function withPackage(name: string, type: DescribedType): readonly string[] {
  if (typeof type === 'string') return [name]
  const [family = ''] = type.packageName.split('/')
  return [`${type.packageName}/${name}`, `${family}/${name}`, name]
}

/**
 * Returns the entries that describe those fields of a type that its own entry does not describe.
 */
function basesOf(type: DescribedType): readonly string[] {
  if (typeof type === 'string') return [KIND]
  if (type.embedded.some(({ struct }) => struct.name === 'TypeMeta')) return [KIND, ANY]
  return type.name.endsWith('Condition') ? ['Condition', ANY] : [ANY]
}

function firstOf(
  names: readonly string[],
  find: (name: string) => string | undefined,
): string | undefined {
  for (const name of names) {
    const found = find(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** Reads the description files from the single executable, the package or the source tree. */
function readTexts(): string {
  if (isSea()) return getAsset(descriptionsName, 'utf8')
  return readIfThere(join(import.meta.dirname, descriptionsName)) ?? readSources()
}

/** Reads the description files from the source tree. */
export function readSources(): string {
  const folder = join(import.meta.dirname, 'texts')
  const files = readdirSync(folder).toSorted()
  return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('')
}

function parse(texts: string): Map<string, TypeDescription> {
  const types = new Map<string, TypeDescription>()
  let last: TypeDescription | undefined
  for (const line of texts.split('\n')) {
    const at = line.indexOf(': ')
    if (at === -1) continue
    const text = line.slice(at + 2)
    const name = line.slice(0, at).trim()
    if (line.startsWith(' ')) {
      last?.fields.set(name, text)
      continue
    }
    const [type = '', like] = name.split(' like ')
    last = { text, like, fields: new Map() }
    types.set(type, last)
  }
  return types
}
