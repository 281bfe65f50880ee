/**
 * Specs that pass on the real binaries and not on Keelson, by package and full name, each with its
 * reason.
 */
export const differences: { readonly [suite: string]: { readonly [spec: string]: string } } = {}
