/**
 * Reads the fields to which field selectors refer. Selectors with unsupported fields are rejected
 * with kube-apiserver's errors.
 */
import { badRequest } from '../../api/errors.ts'
import type { KubeObject } from '../../api/object.ts'
import { quote } from '../../api/quote.ts'
import { apiVersionOf, type Resource } from '../../registry/resource.ts'

/**
 * Returns a function that reads the field. Fails with BadRequest if the kind does not support the
 * field.
 */
export function fieldReader(resource: Resource, field: string): (object: KubeObject) => string {
  if (field === 'metadata.name') return ({ metadata }) => metadata.name ?? ''
  const own = resource.selection.fields
  const hasOwn = Object.keys(own).length > 0
  // Cluster-scoped kinds with additional selectable fields do not support metadata.namespace. All
  // other kinds do.
  if (field === 'metadata.namespace' && (resource.isNamespaced || !hasOwn)) {
    return ({ metadata }) => metadata.namespace ?? ''
  }
  const read = Object.hasOwn(own, field) ? own[field] : undefined
  if (read !== undefined) return read
  const isJob = resource.kind === 'Job' && resource.group === 'batch'
  if (isJob) throw badRequest(`field label ${quote(field)} not supported for Job`)
  if (resource.kind === 'ResourceSlice' && resource.group === 'resource.k8s.io') {
    throw badRequest(
      `field label not supported for ${apiVersionOf(resource)}, Kind=ResourceSlice: ${field}`,
    )
  }
  if (hasOwn || resource.isCustom) throw badRequest(`field label not supported: ${field}`)
  throw badRequest(
    `${quote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  )
}
