/**
 * Converts a response to the form of a recording: only the parts that the step compares, with
 * variable values replaced.
 */
import { comparableEvent } from './audit.ts'
import { dropPaths } from './diff.ts'
import { asRecorded, isRecord, type Json, type JsonObject } from './json.ts'
import type { Normaliser } from './normalise.ts'
import type { CompareOptions, Step } from './steps.ts'
import type { Answer } from './take.ts'

/**
 * One step of a recording. The field `step` identifies the step for readers. It is not compared.
 */
export type RecordedStep = JsonObject & { readonly step: string; readonly status: number }

/** The steps that are recorded, because they have a response. */
type RecordableStep = Exclude<Step, { kind: 'sleep' | 'token' }>

export function recordStep(
  step: RecordableStep,
  index: number,
  answer: Answer,
  normaliser: Normaliser,
): RecordedStep {
  const isAudit = step.kind === 'audited' && Array.isArray(answer.body)
  const body = isAudit ? answer.body.map(comparableEvent) : answer.body
  const recorded = asRecorded({
    step: label(step, index),
    status: answer.status,
    ...(step.kind === 'watched' && step.end ? { ended: answer.ended } : {}),
    headers: comparedHeaders(step, answer, normaliser),
    ...(step.compare === 'status'
      ? {}
      : { body: comparedBody(step, { ...answer, body }, normaliser) }),
  })
  if (!isRecordedStep(recorded)) throw new Error('a recorded step is not an object')
  return recorded
}

export const isRecordedStep = (value: unknown): value is RecordedStep =>
  isRecord(value) && typeof value['step'] === 'string' && typeof value['status'] === 'number'

function label(step: RecordableStep, index: number): string {
  const path = 'path' in step ? step.path : ''
  const what =
    step.kind === 'request' ? `${step.method} ${path}` : `${step.kind} ${step.id ?? path}`
  return `${index} ${what}${step.note ? ` (${step.note})` : ''}`
}

function comparedHeaders(
  step: CompareOptions,
  { headers }: Answer,
  normaliser: Normaliser,
): Record<string, Json> | undefined {
  if (headers === undefined || !(step.compareHeaders || step.pickHeaders)) return undefined
  const compared = (step.compareHeaders ?? []).map((name): [string, Json] => {
    const value = name.startsWith('warning')
      ? upstreamWarnings(headers)
      : headers[name.replace('?', '')]
    if (value === undefined) return [name, null]
    return [name, name.endsWith('?') ? 'present' : normaliser.value(value)]
  })
  const pick = step.pickHeaders
  return { ...Object.fromEntries(compared), ...(pick && picked(() => pick(headers), {})) }
}

/**
 * Returns the value of the Warning header without the warnings that only Keelson sends
 * (docs/differences.md). Only these warnings have the agent `keelson`.
 */
function upstreamWarnings({ warning }: NonNullable<Answer['headers']>): string | undefined {
  const own = /(?:^|, )299 keelson "(?:[^"\\]|\\.)*"/g
  return warning === undefined
    ? undefined
    : warning.replace(own, '').replace(/^, /, '') || undefined
}

function comparedBody(step: CompareOptions, answer: Answer, normaliser: Normaliser): Json {
  normaliser.listRv = step.listRv ?? false
  const whole = normaliser.value(answer.body)
  const pick = step.pick
  const body = pick ? picked(() => pick(whole, answer.body, normaliser), { body: whole }) : whole
  dropPaths(body, step.ignore)
  return body
}

/**
 * Calls the function `pick` of a step. If it fails because the response has an unexpected shape,
 * this counts as a difference and does not abort the run.
 */
function picked<T>(pick: () => T, otherwise: JsonObject): T | JsonObject {
  try {
    return pick()
  } catch (error) {
    return { unexpected: error instanceof Error ? error.message : String(error), ...otherwise }
  }
}
