/** The releases of Kubernetes that Keelson knows, by their minor version. */

/** Minor versions of the releases that Keelson can serve, in ascending order. */
export const servedMinors: readonly number[] = [33]

/** Minor version of the release that Keelson serves by default. */
export const defaultMinor = 33

/** The oldest minor version that any release can emulate, as in kube-apiserver. */
export const oldestMinor = 31

export type ParsedRelease = { readonly minor: number } | { readonly fault: string }

/**
 * Parses the choice of a release, in the forms of setup-envtest: `1.34`, `1.34.x`, `1.34.4` or
 * `latest`. Keelson has one version of each release, so it accepts any patch version.
 */
export function parseRelease(
  text: string,
  minors: readonly number[] = servedMinors,
): ParsedRelease {
  const [, given] = /^1\.(0|[1-9]\d*)(?:\.(?:x|0|[1-9]\d*))?$/.exec(text) ?? []
  const minor = text === 'latest' ? minors.at(-1) : minors.find((one) => `${one}` === given)
  if (minor !== undefined) return { minor }
  const known = [...minors.map((one) => `1.${one}`), 'latest'].join(', ')
  return {
    fault: `Kubernetes version ${JSON.stringify(text)} is not known. Known versions: ${known}`,
  }
}
