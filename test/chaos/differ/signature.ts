/**
 * Computes the signature of a difference. Signatures contain no values, names or positions.
 * Differences with the same cause therefore have the same signature, and only the first of them is
 * reported.
 */
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { causesOf } from './compare.ts'
import { statusOf } from './known.ts'
import { textAt } from './json-positions.ts'
import type { Step } from './step.ts'

const SHOWN_LENGTH_MAX = 260

export function signatureOf(step: Step, { want, got, lines }: SignatureInput): string {
  const head = `${step.method} ${resource(step.path)} ${step.type ?? ''} ${statusOf(want)}/${statusOf(got)}`
  const refusals = ofRefusals(want, got)
  if (refusals !== undefined) return `${head} ${refusals}`
  const telling = lines.filter(
    (line) => !/^\$\.body\.(message|code)\b|^\$\.status\b/.test(line) || lines.length < 3,
  )
  return `${head} ${telling.slice(0, 2).map(general).join(' ; ')}`
}

export type SignatureInput = {
  readonly want: Json
  readonly got: Json
  readonly lines: readonly string[]
}

/** Returns the signature with a placeholder instead of the kind. */
export const ofAnyKind = (signature: string): string =>
  signature
    .replace(/^(\w+) \S+?(\/(?:status|scale))? /, '$1 K$2 ')
    .replace(/^((?:POST|PUT|PATCH) )K(\S*) \S* /, '$1K$2 ')

/**
 * Whether the difference matters to the client: the status codes are of different classes, or both
 * servers return an object and the objects differ.
 */
export function changesOutcome({ want, got, lines }: SignatureInput): boolean {
  const [wanted, came] = [statusOf(want), statusOf(got)]
  if (Math.floor(wanted / 100) !== Math.floor(came / 100)) return true
  return wanted < 300 && lines.some((line) => line.startsWith('$.body'))
}

const resource = (path: string): string =>
  path
    .replace(/^\/apis?\//, '')
    .replace(/namespaces\/[^/]+\//, '')
    .replace(/\$ns[\w.-]*/g, '$ns')

const general = (line: string): string =>
  line
    .replace(/\[\d+\]/g, '[]')
    .replace(/(expected|got) (\{|\[).*?(?=, (got|absent)|$)/gs, '$1 tree')
    .replace(/\\"([^"\\]|\\\\.)*\\"/g, '"_"')
    .replace(/\d+(\.\d+)?(e[+-]?\d+)?/g, 'N')
    .slice(0, SHOWN_LENGTH_MAX)

/**
 * If both servers reject a request, describes how the causes in their responses differ. Returns
 * undefined if a response has no causes, or if both responses have the same causes.
 */
function ofRefusals(want: Json, got: Json): string | undefined {
  const [wanted, came] = [causeTexts(want), causeTexts(got)]
  if (wanted.length === 0 || came.length === 0) return undefined
  const [missing] = without(wanted, came)
  const [extra] = without(came, wanted)
  if (missing === undefined && extra === undefined) return undefined
  return `missing ${plain(missing)} ; extra ${plain(extra)}`
    .replace(/properties\[[^\]]*\]|\.items\b|additionalProperties/g, 'P')
    .replace(/P(\.P)+/g, 'P')
}

/**
 * Returns the entries that occur more often in `list` than in `other`, once for each additional
 * occurrence.
 */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other]
  return list.filter((entry) => {
    const index = left.indexOf(entry)
    if (index >= 0) left.splice(index, 1)
    return index < 0
  })
}

const plain = (text = 'nothing'): string =>
  general(
    text
      .replace(/"[^"]*"/g, '"_"')
      .replace(/^(spec\.jobTemplate\.)?(spec\.)?template\.spec\./, 'spec.')
      .replace(/ownerReferences\.\w+/, 'ownerReferences'),
  )

function causeTexts(answer: Json): string[] {
  return causesOf(isRecord(answer) ? (answer['body'] ?? null) : null).map(
    (cause) =>
      `${textAt(cause, 'field')} ${textAt(cause, 'reason')} ${withoutExpression(textAt(cause, 'message'))}`,
  )
}

/** Removes the parts of an error message that depend on the tested CEL expression. */
const withoutExpression = (message: string): string =>
  message
    .replace(/ValidationRule\{.*\}: /s, 'ValidationRule: ')
    .replace(/^Invalid value: ".*": (?=compilation failed)/s, '')
    .replace(/(compilation failed: ERROR: )<input>:\d+:\d+: (.*?)\n.*$/s, '$1$2')
    .replace(/^(Invalid value: "object": )?=.*$/s, '=value')
    .replace(/evaluating rule: .*$/s, 'evaluating rule')
    .replace(/failed rule: .*$/s, 'failed rule')
