/** Parses the query parameters of writes, and validates them with kube-apiserver's messages. */
import { quote } from '../../api/quote.ts'
import { invalid } from '../../api/errors.ts'
import {
  type FieldFault,
  forbiddenField,
  notSupported,
  required,
  tooMany,
} from '../../api/field-fault.ts'
import { managerFaults } from '../../api/manager-name.ts'
import type { FieldValidation } from '../../objects/codec/decode-body.ts'
import { parseBoolean } from './options.ts'

export type WriteOptions = {
  readonly isDryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
}

const plainOptions: WriteOptions = { isDryRun: false, fieldManager: '', fieldValidation: 'Warn' }

/** Parses the options of a create or an update. Fails with Invalid, and reports all errors. */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: 'CreateOptions' | 'UpdateOptions',
): WriteOptions {
  return query.size === 0 ? plainOptions : parseOptions(query, kind, [])
}

export type PatchOptions = WriteOptions & {
  /** Whether an apply takes over fields from other managers. */
  readonly force: boolean
}

const plainPatchOptions: PatchOptions = { ...plainOptions, force: false }

export function parsePatchOptions(
  query: URLSearchParams,
  { isApply }: { readonly isApply: boolean },
): PatchOptions {
  if (query.size === 0 && !isApply) return plainPatchOptions
  const faults: FieldFault[] = []
  if (!isApply && query.has('force')) {
    faults.push(forbiddenField('force', 'may not be specified for non-apply patch'))
  }
  if (isApply && (query.get('fieldManager') ?? '') === '') {
    faults.push(required('fieldManager', 'is required for apply patch'))
  }
  return { ...parseOptions(query, 'PatchOptions', faults), force: parseBoolean(query.get('force')) }
}

function parseOptions(
  query: URLSearchParams,
  kind: string,
  kindFaults: readonly FieldFault[],
): WriteOptions {
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const validation = query.get('fieldValidation') ?? ''
  const faults = [
    ...kindFaults,
    ...managerFaults('fieldManager', fieldManager),
    ...dryRunFaults(dryRun),
    ...validationFaults(validation),
  ]
  if (faults.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', faults)
  const fieldValidation = validation === 'Ignore' || validation === 'Strict' ? validation : 'Warn'
  return { isDryRun: dryRun.length > 0, fieldManager, fieldValidation }
}

/** Maximum number of values. Only `All` is valid, and clients send it once. */
const STAGES_MAX = 100

export const validateStageCount = (count: number, path = 'dryRun'): FieldFault[] =>
  count > STAGES_MAX ? [tooMany(path, count, STAGES_MAX)] : []

/** Validates the dryRun parameter of a write, or the dryRun field in the body of a delete. */
export function dryRunFaults(dryRun: readonly string[]): FieldFault[] {
  if (dryRun.length > STAGES_MAX) return validateStageCount(dryRun.length)
  if (dryRun.every((stage) => stage === 'All')) return []
  const shown = `[]string{${dryRun.map((stage) => quote(stage)).join(', ')}}`
  const message = `Unsupported value: ${shown}: supported values: "All"`
  return [{ path: 'dryRun', reason: 'FieldValueNotSupported', message }]
}

const validations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

const validationFaults = (validation: string): FieldFault[] =>
  validations.includes(validation) ? [] : [notSupported('fieldValidation', validation, validations)]
