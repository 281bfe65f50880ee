/**
 * Types of the steps of a case. Requests are plain data, so that they can be stored, sent again and
 * reduced.
 */
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { deleteAt, type Path, setAt, valueAt } from './json-positions.ts'

/**
 * A request. In all strings, `$ns` stands for the case's namespace, and `${id.path}` for a value in
 * an earlier response of the same server. A body of the form {$base: id, $edits: […]} is an earlier
 * response with changes.
 */
export type Step = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query?: { readonly [name: string]: string }
  readonly type?: string
  readonly accept?: string
  readonly body?: Json
  /** The request body as text, sent instead of `body`. Only `$ns` and `${…}` are replaced in it. */
  readonly raw?: string
  /**
   * Whether the request is repeated until the response has status 200 or the time limit in
   * target.ts is reached. The response is not compared.
   */
  readonly wait?: boolean
}

export type Edit = ['set', Path, Json] | ['del', Path]

export type Answer = {
  readonly status: number
  readonly contentType: string
  readonly warnings: readonly string[]
  readonly body: Json
}

export type ReceivedAnswers = Answer & { readonly keelson: Answer }

/**
 * A generator of steps. It receives the responses of kube-apiserver and of Keelson to each step
 * that it yields.
 */
export type Case = Generator<Step, void, ReceivedAnswers>

export type Variables = { readonly ns: string; readonly answers: Map<string, Json> }

export const fillText = (text: string, { ns, answers }: Variables): string =>
  text.replaceAll('$ns', ns).replace(/\$\{(\w+)\.([\w.]+)\}/g, (_, id: string, path: string) => {
    const value = valueAt(answers.get(id), path.split('.'))
    if (value === undefined || value === null) return ''
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  })

export function fill(value: Json, variables: Variables): Json {
  if (typeof value === 'string') return fillText(value, variables)
  if (Array.isArray(value)) return value.map((entry) => fill(entry, variables))
  if (!isRecord(value)) return value
  const { $base: base, $edits: edits } = value
  if (typeof base === 'string' && Array.isArray(edits)) return edited(base, edits, variables)
  const entries = Object.entries(value).map(([key, entry]) => [
    fillText(key, variables),
    fill(entry, variables),
  ])
  return Object.fromEntries(entries)
}

function edited(base: string, edits: readonly Json[], variables: Variables): Json {
  const answer = variables.answers.get(base)
  const body: Json = isRecord(answer) ? structuredClone(answer) : {}
  for (const edit of edits) {
    if (!isEdit(edit))
      throw new Error(`${JSON.stringify(edit)} is neither ['set', path, value] nor ['del', path]`)
    if (edit[0] === 'set') setAt(body, edit[1], fill(edit[2], variables))
    else deleteAt(body, edit[1])
  }
  return body
}

const isEdit = (value: Json): value is Edit =>
  Array.isArray(value) &&
  Array.isArray(value[1]) &&
  (value[0] === 'del' || (value[0] === 'set' && value.length === 3))

/** Returns the path and query with all references replaced. */
export function fillTarget({ path, query = {} }: Step, variables: Variables): string {
  const pairs = Object.entries(query).map(
    ([name, value]) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(fillText(value, variables))}`,
  )
  const target = encodeURI(fillText(path, variables)).replaceAll('%25', '%')
  return pairs.length === 0 ? target : `${target}?${pairs.join('&')}`
}

/** Whether a value that was read from a file has the form of a step. */
export const isStep = (value: unknown): value is Step =>
  isRecord(value) && ['id', 'method', 'path'].every((key) => typeof value[key] === 'string')
