/**
 * The CEL environments of Kubernetes versions. New expressions can use only features of the
 * previous minor version, so that they still work after a rollback. Stored expressions can use all
 * features.
 */
import type { Gates } from '../../api/gates.ts'
import { createEnvironment, type Environment, type Library } from './environment.ts'
import { authorizerLibrary } from './library/authorizer.ts'
import { formatLibraryOf } from './library/formats.ts'
import { ipLibrary } from './library/ip.ts'
import { includesLibrary, listsLibrary, setsLibrary } from './library/lists.ts'
import { moreListsLibraryOf } from './library/more-lists.ts'
import { optionalsLibrary } from './library/optionals.ts'
import { quantityLibrary } from './library/quantity.ts'
import { regexLibrary } from './library/regex.ts'
import { firstSemverLibrary, semverLibrary } from './library/semver.ts'
import { standardLibraryOf } from './library/standard.ts'
import { basicStringsOf, formattedStrings } from './library/strings.ts'
import { urlLibrary } from './library/url.ts'
import { bindingMacros, twoVariableMacros } from './macros.ts'
import { jsonPatchLibrary, withPatchTypes } from './patches.ts'

/** The minor version of Kubernetes from which on all expressions can use semantic versions. */
const SEMVER_SINCE = 33

type LibraryRow = Library | ((release: number) => Library)

/**
 * Libraries, each with the minor version of Kubernetes that introduced it. Later versions still
 * have all functions. In some libraries, costs and errors depend on the release that the server
 * emulates.
 */
const libraries: readonly (readonly [since: number, library: LibraryRow])[] = [
  [0, standardLibraryOf],
  [0, urlLibrary],
  [0, regexLibrary],
  [0, listsLibrary],
  [0, basicStringsOf],
  [27, authorizerLibrary],
  [29, optionalsLibrary],
  [29, quantityLibrary],
  [29, formattedStrings],
  [29, setsLibrary],
  [30, ipLibrary],
  [31, formatLibraryOf],
  [32, { macros: twoVariableMacros }],
  [SEMVER_SINCE, semverLibrary],
  [34, moreListsLibraryOf],
  [37, includesLibrary],
]

/** The two versions that determine how an expression is compiled. */
export type CelVersion = {
  /** The minor version that the server emulates. It determines costs and errors. */
  readonly release: number
  /** The minor version whose libraries the expression can use. */
  readonly libraries: number
}

/** Returns the version for stored expressions, which can use all libraries of a release. */
export const storedVersion = (release: number): CelVersion => ({ release, libraries: release })

/**
 * Returns the version for an expression in an object that a client writes. `isStored` means that
 * the stored object already contains the expression.
 */
export const celVersionOf = (
  { release, minCompatibility = release - 1 }: Pick<Gates, 'release' | 'minCompatibility'>,
  isStored: boolean,
): CelVersion => ({ release, libraries: isStored ? release : minCompatibility })

const environments = new Map<string, Environment>()

/** Returns the environment of a version. It is cached, because all expressions share it. */
export const kubernetesEnvironment = (version: CelVersion): Environment => once('', version, [])

/**
 * Returns the environment for device selectors. They can use cel.bind, and could use semantic
 * versions one release earlier than other expressions.
 */
export const deviceLibraries = (version: CelVersion): Environment =>
  once('device', version, [
    { macros: bindingMacros },
    ...(version.libraries < SEMVER_SINCE ? [firstSemverLibrary] : []),
  ])

/**
 * Returns the environment for mutating policies, whose expressions construct objects and JSON patch
 * operations.
 */
export const patchEnvironment = (version: CelVersion): Environment =>
  withPatchTypes(once('patch', version, [jsonPatchLibrary]))

function once(name: string, version: CelVersion, more: readonly Library[]): Environment {
  const key = `${version.release} ${version.libraries} ${name}`
  const known = environments.get(key) ?? make(version, more)
  environments.set(key, known)
  return known
}

const make = (version: CelVersion, more: readonly Library[]): Environment =>
  createEnvironment([
    ...libraries
      .filter(([since]) => since <= version.libraries)
      .map(([, library]) => (typeof library === 'function' ? library(version.release) : library)),
    ...more,
  ])
