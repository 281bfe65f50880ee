/**
 * Specs that pass on the real binaries but not on Keelson, by package and full name, with the
 * reason for each.
 */
export const differences: { readonly [suite: string]: { readonly [spec: string]: string } } = {}
