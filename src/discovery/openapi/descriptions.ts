/** What types and their fields are for, in a few words: what `kubectl explain` shows. */
import { commonTexts } from './texts/common.ts'
import { podTexts } from './texts/pods.ts'
import { workloadTexts } from './texts/workloads.ts'
import { clusterTexts } from './texts/cluster.ts'

type Described = { readonly text: string; readonly like: string | undefined; readonly fields: Map<string, string> }

/** Of any type, where nothing is said of the type itself. */
const ANY = 'Any'

/** They are read when the first is asked for. */
export class Descriptions {
  #types: ReadonlyMap<string, Described> | undefined

  /** Of a type, or of a field of it. Undefined where we have nothing to say. */
  of(type: string, field?: string): string | undefined {
    const types = (this.#types ??= read([commonTexts, podTexts, workloadTexts, clusterTexts].join('\n')))
    const own = types.get(type)
    if (field === undefined) return own?.text
    const like = own?.like ?? (type.endsWith('Condition') ? 'Condition' : ANY)
    return [own, types.get(like), types.get(ANY)].find((one) => one?.fields.has(field))?.fields.get(field)
  }
}

/**
 *     Pod: what it is
 *       spec: what the field is for
 *     InitContainer like Container: fields that are not told here are as there
 */
function read(texts: string): Map<string, Described> {
  const types = new Map<string, Described>()
  let last: Described | undefined
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
