/**
 * Builds the options of an operation for webhooks and policies: CreateOptions, UpdateOptions or
 * DeleteOptions.
 */
import { type Fields, present } from '../api/object.ts'

const apiVersion = 'meta.k8s.io/v1'

/**
 * Returns the options in the query. Options that the client did not set are absent. The options of
 * a patch have the kind UpdateOptions.
 */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions',
  query: URLSearchParams,
): Fields {
  const dryRun = query.getAll('dryRun')
  return present({
    kind,
    apiVersion,
    dryRun: dryRun.length === 0 ? undefined : dryRun,
    fieldManager: query.get('fieldManager') || undefined,
    fieldValidation: query.get('fieldValidation') || undefined,
  })
}

/** Options of an operation. All fields except `isDryRun` are only for deletes. */
export type OperationOptions = {
  readonly isDryRun: boolean
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly gracePeriodSeconds?: number | bigint | undefined
  readonly orphanDependents?: boolean | undefined
  readonly propagation?: string | undefined
}

export function deleteOptions(given: OperationOptions): Fields {
  const { uid, resourceVersion, gracePeriodSeconds, orphanDependents, propagation, isDryRun } =
    given
  const hasPreconditions = uid !== undefined || resourceVersion !== undefined
  return present({
    kind: 'DeleteOptions',
    apiVersion,
    gracePeriodSeconds,
    preconditions: hasPreconditions ? present({ uid, resourceVersion }) : undefined,
    orphanDependents,
    propagationPolicy: propagation,
    dryRun: isDryRun ? ['All'] : undefined,
  })
}
