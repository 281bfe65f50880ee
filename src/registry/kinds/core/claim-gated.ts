/** The gated part of a PersistentVolumeClaim that is more than one field. */
import { type Fields, fieldsOf, type Json, omit, textOf } from '../../../api/object.ts'
import type { GatedPart } from './pod/gated.ts'

const sourceOf = ({ spec }: Fields): Json | undefined => fieldsOf(spec)['dataSourceRef']
const isForeign = (claim: Fields): boolean => textOf(fieldsOf(sourceOf(claim))['namespace']) !== ''

/** A data source in another namespace is dropped, unless the stored claim already has a source. */
export const foreignSources: GatedPart = {
  gate: 'CrossNamespaceVolumeDataSource',
  isUsed: isForeign,
  isKept: (claim) => sourceOf(claim) !== undefined,
  drop: (claim) =>
    isForeign(claim) ? { ...claim, spec: omit(fieldsOf(claim['spec']), 'dataSourceRef') } : claim,
}
