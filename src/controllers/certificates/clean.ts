/**
 * The certificatesigningrequest-cleaner-controller. It deletes CSRs that are no longer needed: an
 * hour after they were issued, denied or failed, a day after their creation if they are still
 * pending, and when their certificate has expired.
 */
import { X509Certificate } from 'node:crypto'
import { fieldsOf, itemsOf, type KubeObject, textOf } from '../../api/object.ts'
import { ObjectController, type ObjectControllerOptions } from '../object-controller.ts'

/** Retention times, as in kube-controller-manager. */
const DECIDED_MS = 60 * 60_000
const PENDING_MS = 24 * 60 * 60_000

export const cleanRequests = (
  wallMs: () => number,
  options: ObjectControllerOptions,
): AsyncDisposable =>
  new ObjectController(
    {
      name: 'the deletion of an old certificate signing request',
      queue: 'csrcleaner',
      workersMax: 1,
      group: 'certificates.k8s.io',
      plural: 'certificatesigningrequests',
      concerns: () => true,
      work: async (object, write) => {
        const leftMs = endOf(object) - wallMs()
        if (leftMs > 0) return leftMs === Infinity ? undefined : leftMs
        await write.delete()
        return undefined
      },
    },
    options,
  )

/**
 * Returns the time at which the CSR can be deleted. Infinity means that the CSR is kept until it
 * changes.
 */
export function endOf({ metadata, status }: KubeObject): number {
  const { certificate, conditions } = fieldsOf(status)
  const issued = textOf(certificate)
  const all = itemsOf(conditions)
  if (all.length === 0) return timeOf(metadata.creationTimestamp ?? undefined) + PENDING_MS
  const ends = all.map(({ type, lastUpdateTime }) => {
    const isOver = type === 'Denied' || type === 'Failed' || (type === 'Approved' && issued !== '')
    return isOver ? timeOf(textOf(lastUpdateTime)) + DECIDED_MS : Infinity
  })
  const isApproved = all.some(({ type }) => type === 'Approved')
  const first = ends.reduce((least, end) => Math.min(least, end), Infinity)
  return Math.min(first, isApproved && issued !== '' ? expiryOf(issued) : Infinity)
}

/** Parses a time. Returns Infinity for an invalid time, so that the CSR is kept. */
function timeOf(text: string | undefined): number {
  const ms = Date.parse(text ?? '')
  return Number.isNaN(ms) ? Infinity : ms
}

/**
 * Returns the expiration of the first certificate. A certificate that cannot be parsed is ignored.
 */
function expiryOf(base64: string): number {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).validToDate.getTime()
  } catch {
    return Infinity
  }
}
