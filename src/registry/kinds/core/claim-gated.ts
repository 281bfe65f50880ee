/** What in a claim is gated and is more than a field. */
import { type Fields, fieldsOf, type Json, omit, textOf } from '../../../api/object.ts'
import type { GatedPart } from './pod/gated.ts'

const sourceOf = ({ spec }: Fields): Json | undefined => fieldsOf(spec)['dataSourceRef']
const isForeign = (claim: Fields): boolean => textOf(fieldsOf(sourceOf(claim))['namespace']) !== ''

/** A source in another namespace is dropped whole, unless the stored claim has a source already. */
export const foreignSources: GatedPart = {
  gate: 'CrossNamespaceVolumeDataSource',
  isUsed: isForeign,
  isKept: (claim) => sourceOf(claim) !== undefined,
  drop: (claim) => (isForeign(claim) ? { ...claim, spec: omit(fieldsOf(claim['spec']), 'dataSourceRef') } : claim),
}
