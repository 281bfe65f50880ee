/**
 * Truncates events that are too large by removing the request and response objects. Events that are
 * still too large are lost.
 */
import { type AuditEvent, printedEvent } from './event.ts'
import type { ReportLost } from './lost.ts'

/**
 * Returns the event. An event that is too large is returned without its objects. If it is then
 * still too large, returns undefined, and the event is lost.
 */
export function truncated(
  event: AuditEvent,
  bytesMax: number,
  reportLost: ReportLost,
): AuditEvent | undefined {
  if (bytesMax === Infinity) return event
  // If the serialized parts alone are too large, the JSON of the whole event is not needed.
  const whole = event.printedBytes < bytesMax ? event.json : undefined
  if (whole !== undefined && fits(whole, bytesMax)) return event
  const hasObjects = event.level === 'Request' || event.level === 'RequestResponse'
  const json = hasObjects || whole === undefined ? event.truncated() : whole
  if (fits(json, bytesMax)) return printedEvent(event, Buffer.from(json))
  reportLost('truncate', [event], 'event is too large even after truncating')
  return undefined
}

/**
 * Whether the JSON is at most `bytesMax` bytes long. As in kube-apiserver, the newline at the end
 * is counted. In UTF-8, each UTF-16 code unit takes one to three bytes.
 */
const fits = (json: string, bytesMax: number): boolean =>
  json.length < bytesMax && (json.length * 3 < bytesMax || Buffer.byteLength(json) < bytesMax)
