/**
 * Truncates events that are too large, by removing the objects of request and response. Events that
 * are still too large are lost.
 */
import { type AuditEvent, printedEvent } from './event.ts'
import type { ReportLost } from './lost.ts'

/** Returns undefined if the event is lost. */
export function truncated(
  event: AuditEvent,
  bytesMax: number,
  reportLost: ReportLost,
): AuditEvent | undefined {
  if (bytesMax === Infinity) return event
  // The JSON is longer than its parts, so it is not created if they alone are too large.
  const whole = event.printedBytes < bytesMax ? event.json : undefined
  if (whole !== undefined && fits(whole, bytesMax)) return event
  const hasObjects = event.level === 'Request' || event.level === 'RequestResponse'
  const json = hasObjects || whole === undefined ? event.truncated() : whole
  if (fits(json, bytesMax)) return printedEvent(event, Buffer.from(json))
  reportLost('truncate', [event], 'event is too large even after truncating')
  return undefined
}

/**
 * Whether the JSON fits. As in kube-apiserver, a newline is counted. Each character has between one
 * and three bytes.
 */
const fits = (json: string, bytesMax: number): boolean =>
  json.length < bytesMax && (json.length * 3 < bytesMax || Buffer.byteLength(json) < bytesMax)
