/**
 * Compares src/access/rbac/bootstrap-policy.ts with the default roles and bindings that the source
 * of each Kubernetes release lists. All of them are compared with the default feature gates. The
 * roles of users are also compared with all ALPHA and BETA gates enabled. Run by hand, because it
 * downloads the modules of all releases.
 *
 *   node scripts/roles.ts     prints differences; exits with 1 if there are any
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrapPolicy } from '../src/access/rbac/bootstrap-policy.ts'
import { readPolicy } from '../src/access/rbac/read-policy.ts'
import { defaultGatesOf, type Gates, gatesOf } from '../src/api/gates.ts'
import { type Fields, fieldsOf, isFields, itemsOf, textOf } from '../src/api/object.ts'
import { defaultMinor } from '../src/api/releases.ts'
import { parseYaml } from '../src/objects/codec/yaml-parse.ts'
import { sourceOf } from './catalogue/facts.ts'
import { versions } from './catalogue/versions.ts'

const folder = 'plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata'
const files = [
  'cluster-roles',
  'controller-roles',
  'namespace-roles',
  'cluster-role-bindings',
  'controller-role-bindings',
  'namespace-role-bindings',
]
const filesWithAllGates = ['cluster-roles-featuregates']

type Objects = ReadonlyMap<string, readonly string[]>

let differences = 0
for (const [release, version] of versions.filter(([minor]) => minor >= defaultMinor)) {
  const source = sourceOf(version)
  compare(`1.${release}`, readLists(source, files), objectsWith(defaultGatesOf(release)))
  const ofUsers = readLists(source, filesWithAllGates)
  const own = objectsWith(allGatesOf(release))
  const common = [...own].filter(([name]) => ofUsers.has(name) || !name.includes(':controller:'))
  const roles = new Map(common.filter(([name]) => name.startsWith('ClusterRole ')))
  compare(`1.${release} with all gates`, ofUsers, roles)
}
console.log(`roles: ${differences} objects differ`)
if (differences > 0) process.exitCode = 1

/** Returns the state of all feature gates of a release when AllAlpha and AllBeta are enabled. */
function allGatesOf(release: number): Gates {
  const { states } = gatesOf(release)
  return {
    release,
    isOn: (name) => {
      const state = states.get(name)
      if (state === undefined) return false
      const isSet = !state.isLocked && (state.stage === 'ALPHA' || state.stage === 'BETA')
      return isSet || state.isOnByDefault
    },
  }
}

function readLists(source: string, names: readonly string[]): Objects {
  const lists = names.map((name) => parseYaml(readFileSync(join(source, folder, `${name}.yaml`))))
  return printed(lists.flatMap(({ value }) => (isFields(value) ? itemsOf(value['items']) : [])))
}

function objectsWith(gates: Gates): Objects {
  return printed(readPolicy(bootstrapPolicy, gates).map(({ object }) => object))
}

/** Maps the kind and name of each object to the other contents of the object, as lines. */
function printed(objects: readonly Fields[]): Objects {
  return new Map(
    objects.map((object) => {
      const { kind, metadata, rules, aggregationRule, roleRef, subjects } = object
      const { name, namespace, labels, annotations } = fieldsOf(metadata)
      const parts = { labels, annotations, aggregationRule, roleRef, subjects }
      const place = [kind, namespace, name].map(textOf).filter(Boolean).join(' ')
      return [place, [sorted(parts), ...itemsOf(rules).map(sorted)]]
    }),
  )
}

/** Prints a value as JSON with sorted keys. */
function sorted(value: object): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : part,
  )
}

function compare(title: string, wanted: Objects, found: Objects): void {
  for (const name of new Set([...wanted.keys(), ...found.keys()])) {
    const [there, here] = [wanted.get(name) ?? [], found.get(name) ?? []]
    if (there.join('\n') === here.join('\n')) continue
    differences++
    console.log(`${title}: ${name}`)
    for (const line of here.filter((one) => !there.includes(one))) console.log(`  - ${line}`)
    for (const line of there.filter((one) => !here.includes(one))) console.log(`  + ${line}`)
  }
}
