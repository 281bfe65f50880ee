/**
 * Replays the smallest request sequences that revealed differences in earlier runs, one for each
 * root cause. data/object-probes.jsonl contains the sequences for built-in kinds and apply.
 */
import type { Json } from '../../../recorded/compat/json.ts'
import { readLines } from '../data.ts'
import { child } from '../json-positions.ts'
import { type Case, isStep } from '../step.ts'

export const probes: { readonly [area: string]: readonly Json[] } = {
  probes: readLines('probes.jsonl'),
  'object-probes': readLines('object-probes.jsonl'),
}

export const probesCase =
  (area: string) =>
  (_: unknown, __: unknown, number: number): Case =>
    stepsOf(probes[area]?.[number], `line ${number + 1} of data/${area}.jsonl`)

function* stepsOf(probe: Json | undefined, where: string): Case {
  const requests = child(probe, 'requests')
  if (!Array.isArray(requests)) throw new Error(`${where} has no requests`)
  for (const step of requests) if (isStep(step)) yield step
}
