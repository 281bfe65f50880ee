/** Metadata without a creation time, as the JSON of a release shows it. */

/** The first release that omits a creation time that is not set, instead of showing null. */
const OMITTED_SINCE = 34

/** Returns the metadata of an object that has no metadata, such as a review. */
export const emptyMetadata = (release: number): { readonly creationTimestamp?: null } =>
  release >= OMITTED_SINCE ? {} : { creationTimestamp: null }
