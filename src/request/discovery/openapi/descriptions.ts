/** Short descriptions of types and their fields, which `kubectl explain` shows. */
import { commonTexts } from './texts/common.ts'
import { podTexts } from './texts/pods.ts'
import { workloadTexts } from './texts/workloads.ts'
import { clusterTexts } from './texts/cluster.ts'

type TypeDescription = {
  readonly text: string
  readonly like: string | undefined
  readonly fields: Map<string, string>
}

/** The type that describes fields for types without their own description of them. */
const ANY = 'Any'

/** Finds descriptions. The texts are parsed when the first description is needed. */
export class Descriptions {
  #types: ReadonlyMap<string, TypeDescription> | undefined

  /** Returns the description of a type, or of one of its fields. Undefined if there is none. */
  of(type: string, field?: string): string | undefined {
    const types = (this.#types ??= read(
      [commonTexts, podTexts, workloadTexts, clusterTexts].join('\n'),
    ))
    const own = types.get(type)
    if (field === undefined) return own?.text
    const like = own?.like ?? (type.endsWith('Condition') ? 'Condition' : ANY)
    return [own, types.get(like), types.get(ANY)]
      .find((one) => one?.fields.has(field))
      ?.fields.get(field)
  }
}

/**
 * Parses texts in this format:
 *
 *     Pod: what it is
 *       spec: what the field is for
 *     InitContainer like Container: fields that are not described here are described there
 */
function read(texts: string): Map<string, TypeDescription> {
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
