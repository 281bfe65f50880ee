/**
 * The metadata of objects without a creation time, as the releases of Kubernetes write them in
 * JSON.
 */

/** The first release that omits an absent creation time. Older releases write null. */
const OMITTED_SINCE = 34

/** Returns the metadata of an object that is never stored, such as a review. */
export const emptyMetadata = (release: number): { readonly creationTimestamp?: null } =>
  release >= OMITTED_SINCE ? {} : { creationTimestamp: null }
