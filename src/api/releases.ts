/** The releases of Kubernetes that Keelson knows, by their minor version. */

/** Minor versions of the releases that Keelson can serve, in ascending order. */
export const servedMinors: readonly number[] = [33, 34, 35]

/** Releases that can be served only with an environment variable, because they are incomplete. */
const unfinishedMinors: readonly number[] = [36, 37]

/** All releases whose catalogue Keelson has, in ascending order. */
export const knownMinors: readonly number[] = [...servedMinors, ...unfinishedMinors]

/** The environment variable that makes unfinished releases available, for contributors. */
const UNFINISHED = 'KEELSON_UNFINISHED_RELEASES'

/** Minor version of the release that Keelson serves by default. */
export const defaultMinor = 33

/** The oldest minor version that any release can emulate, as in kube-apiserver. */
export const oldestMinor = 31

/** The number of earlier versions that a release can emulate. */
const EMULATED_MAX = 3

/**
 * Returns the oldest minor version that a release can emulate. It is also the oldest version with
 * which other servers of the cluster can be compatible.
 */
export const oldestOf = (release: number): number => Math.max(oldestMinor, release - EMULATED_MAX)

/**
 * Returns the default of the minimum compatibility version: the oldest minor version that other
 * servers of the cluster can have.
 */
export const minCompatibilityOf = (release: number, emulated = release): number =>
  Math.max(oldestOf(release), emulated - 1)

/** The patch version of each release that servers report, such as in /version. */
const patches: ReadonlyMap<number, number> = new Map([
  [33, 5],
  [34, 4],
  [35, 4],
  [36, 3],
  [37, 1],
])

/** Returns the version of a release in the form of a git tag, such as v1.33.5. */
export const gitVersionOf = (release: number): string =>
  `v1.${release}.${patches.get(release) ?? 0}`

/** Returns the releases that can be chosen in a process with these environment variables. */
export const releasesFor = (
  env: Readonly<Record<string, string | undefined>>,
): readonly number[] => (env[UNFINISHED] === '1' ? knownMinors : servedMinors)

const namesOf = (minors: readonly number[]): string[] => [
  ...minors.map((minor) => `1.${minor}`),
  'latest',
]

/** The names of the releases that Keelson can serve, for help texts and completions. */
export const releaseNames: readonly string[] = namesOf(servedMinors)

export type ParsedRelease = { readonly minor: number } | { readonly fault: string }

/**
 * Parses the release that a user has chosen. Like setup-envtest, accepts `1.34`, `1.34.x`, `1.34.4`
 * and `latest`. The patch version is ignored, because Keelson has one version of each release.
 */
export function parseRelease(
  text: string,
  minors: readonly number[] = servedMinors,
): ParsedRelease {
  const [, given] = /^1\.(0|[1-9]\d*)(?:\.(?:x|0|[1-9]\d*))?$/.exec(text) ?? []
  const minor = text === 'latest' ? minors.at(-1) : minors.find((one) => `${one}` === given)
  if (minor !== undefined) return { minor }
  const known = namesOf(minors).join(', ')
  return {
    fault: `Kubernetes version ${JSON.stringify(text)} is not known. Known versions: ${known}`,
  }
}
