/** The smallest sequences that once showed a difference, one for each root cause: data/probes.jsonl. */
import { child } from '../places.ts'
import { readLines } from '../data.ts'
import { type Case, isStep } from '../step.ts'

export const probes = readLines('probes.jsonl')

export function* probesCase(_: unknown, __: unknown, number: number): Case {
  const requests = child(probes[number % probes.length], 'requests')
  if (!Array.isArray(requests)) throw new Error(`data/probes.jsonl has no requests in line ${number + 1}`)
  for (const step of requests) if (isStep(step)) yield step
}
