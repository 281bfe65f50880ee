/**
 * Handles the field dataSourceRef of PersistentVolumeClaims. If it refers to another namespace, it
 * requires the feature gate CrossNamespaceVolumeDataSource. If the gate is off, the whole field is
 * dropped, not only its namespace.
 */
import { type Fields, fieldsOf, type Json, omit, textOf } from '../../../api/object.ts'
import type { GatedPart } from './pod/gated.ts'

const sourceOf = ({ spec }: Fields): Json | undefined => fieldsOf(spec)['dataSourceRef']
const isForeign = (claim: Fields): boolean => textOf(fieldsOf(sourceOf(claim))['namespace']) !== ''

/**
 * Drops a dataSourceRef to another namespace, unless the stored claim already has a dataSourceRef.
 */
export const foreignSources: GatedPart = {
  gate: 'CrossNamespaceVolumeDataSource',
  isUsed: isForeign,
  isKept: (claim) => sourceOf(claim) !== undefined,
  drop: (claim) =>
    isForeign(claim) ? { ...claim, spec: omit(fieldsOf(claim['spec']), 'dataSourceRef') } : claim,
}
