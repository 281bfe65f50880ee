/**
 * Handles the data source of PersistentVolumeClaims. One of its fields depends on a feature gate.
 * If the gate is off, the whole data source must be dropped instead of this field.
 */
import { type Fields, fieldsOf, type Json, omit, textOf } from '../../../api/object.ts'
import type { GatedPart } from './pod/gated.ts'

const sourceOf = ({ spec }: Fields): Json | undefined => fieldsOf(spec)['dataSourceRef']
const isForeign = (claim: Fields): boolean => textOf(fieldsOf(sourceOf(claim))['namespace']) !== ''

/** Drops a data source in another namespace, unless the stored claim already has one. */
export const foreignSources: GatedPart = {
  gate: 'CrossNamespaceVolumeDataSource',
  isUsed: isForeign,
  isKept: (claim) => sourceOf(claim) !== undefined,
  drop: (claim) =>
    isForeign(claim) ? { ...claim, spec: omit(fieldsOf(claim['spec']), 'dataSourceRef') } : claim,
}
