/** Server-side apply: who writes says what it wants to own, and the rest of the object stays as it is. */
import type { ResourceRequest } from '../registry/resource.ts'
import { unsupportedPart } from './unsupported.ts'
import type { Change, Writing } from './write.ts'
import type { PatchOptions } from './write-options.ts'

/** The body of an apply as a change of the object, which also makes one where there is none. */
export async function readApply(
  request: ResourceRequest,
  _body: Buffer,
  _writing: Writing & { readonly options: PatchOptions },
): Promise<Change> {
  throw unsupportedPart(request)
}
