/** Parses the query parameters of writes, and validates them with kube-apiserver's messages. */
import { invalid } from '../../api/errors.ts'
import {
  type FieldFault,
  forbiddenField,
  notSupported,
  notSupportedShown,
  required,
  tooMany,
} from '../../api/field-fault.ts'
import { goStrings } from '../../api/go-value.ts'
import { managerFaults } from '../../api/manager-name.ts'
import type { FieldValidation } from '../../objects/codec/decode-body.ts'
import { faultsOfRelease } from '../../registry/release-faults.ts'
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
  release: number,
): WriteOptions {
  return query.size === 0 ? plainOptions : parseOptions(query, { kind, release, kindFaults: [] })
}

export type PatchOptions = WriteOptions & {
  /** Whether an apply takes over fields from other managers. */
  readonly force: boolean
}

const plainPatchOptions: PatchOptions = { ...plainOptions, force: false }

export function parsePatchOptions(
  query: URLSearchParams,
  { isApply, release }: { readonly isApply: boolean; readonly release: number },
): PatchOptions {
  if (query.size === 0 && !isApply) return plainPatchOptions
  const faults: FieldFault[] = []
  if (!isApply && query.has('force')) {
    faults.push(forbiddenField('force', 'may not be specified for non-apply patch'))
  }
  if (isApply && (query.get('fieldManager') ?? '') === '') {
    faults.push(required('fieldManager', 'is required for apply patch'))
  }
  const options = parseOptions(query, { kind: 'PatchOptions', release, kindFaults: faults })
  return { ...options, force: parseBoolean(query.get('force')) }
}

type OptionsKind = {
  readonly kind: string
  readonly release: number
  readonly kindFaults: readonly FieldFault[]
}

function parseOptions(
  query: URLSearchParams,
  { kind, release, kindFaults }: OptionsKind,
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
  if (faults.length > 0)
    throw invalid({ group: 'meta.k8s.io', kind }, '', faultsOfRelease(faults, release))
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
  return [notSupportedShown('dryRun', goStrings(dryRun), ['All'])]
}

const validations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn']

const validationFaults = (validation: string): FieldFault[] =>
  validations.includes(validation) ? [] : [notSupported('fieldValidation', validation, validations)]
