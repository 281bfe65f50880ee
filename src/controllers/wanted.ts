import type { Fields } from '../api/object.ts'

/** An object that is to be there; what is there already stays as it is. */
export type Wanted = {
  readonly collection: string
  readonly object: Fields
  /** Who owns its fields; kube-apiserver if absent. */
  readonly manager?: string
}
