/**
 * The CEL environments of Kubernetes versions. New expressions can use only features of the
 * previous minor version, so that they still work after a rollback. Stored expressions can use all
 * features.
 */
import { createEnvironment, type Environment, type Library } from './environment.ts'
import { authorizerLibrary } from './library/authorizer.ts'
import { formatLibrary } from './library/formats.ts'
import { ipLibrary } from './library/ip.ts'
import { listsLibrary, setsLibrary } from './library/lists.ts'
import { optionalsLibrary } from './library/optionals.ts'
import { quantityLibrary } from './library/quantity.ts'
import { regexLibrary } from './library/regex.ts'
import { firstSemverLibrary, semverLibrary } from './library/semver.ts'
import { standardLibrary } from './library/standard.ts'
import { basicStrings, formattedStrings } from './library/strings.ts'
import { urlLibrary } from './library/url.ts'
import { bindingMacros, twoVariableMacros } from './macros.ts'
import { jsonPatchLibrary, withPatchTypes } from './patches.ts'

/** Libraries, each with the minor version of Kubernetes that introduced it, in ascending order. */
const libraries: readonly (readonly [number, Library])[] = [
  [0, standardLibrary],
  [0, urlLibrary],
  [0, regexLibrary],
  [0, listsLibrary],
  [0, basicStrings],
  [27, authorizerLibrary],
  [29, optionalsLibrary],
  [29, quantityLibrary],
  [29, formattedStrings],
  [29, setsLibrary],
  [30, ipLibrary],
  [31, formatLibrary],
  [32, { macros: twoVariableMacros }],
  [33, semverLibrary],
]

export type KubernetesVersion = '1.32' | '1.33'

const environments = new Map<string, Environment>()

/**
 * Returns the environment of a Kubernetes version. It is cached, because all expressions share it.
 */
export const kubernetesEnvironment = (version: KubernetesVersion): Environment =>
  once(version, version, [])

/**
 * Returns the environment for device selectors, which can use cel.bind. In device selectors,
 * semantic versions were available earlier than in other expressions.
 */
export const deviceLibraries = (version: KubernetesVersion): Environment =>
  once(`${version} device`, version, [
    { macros: bindingMacros },
    ...(version === '1.32' ? [firstSemverLibrary] : []),
  ])

/**
 * Returns the environment for mutating policies, whose expressions construct objects and JSON patch
 * operations.
 */
export const patchEnvironment = (version: KubernetesVersion): Environment =>
  withPatchTypes(once(`${version} patch`, version, [jsonPatchLibrary]))

function once(name: string, version: KubernetesVersion, more: readonly Library[]): Environment {
  const known = environments.get(name) ?? make(Number(version.slice(2)), more)
  environments.set(name, known)
  return known
}

const make = (minor: number, more: readonly Library[]): Environment =>
  createEnvironment([
    ...libraries.filter(([since]) => since <= minor).map(([, library]) => library),
    ...more,
  ])
