/**
 * Writes src/registry/catalogue/: the types from facts about the pinned version of Kubernetes
 * (test/support/tools/kubernetes), the table of resources from what the reference answered
 * (test/recorded/golden). Run by hand when the pin changes, never at build; what it writes is
 * reviewed and kept. The form is explained in src/objects/schema/read-types.ts. By hand are
 * apidiscovery.ts, unserved.ts and, in all files, the marks of gates.
 *
 * It also says where src/api/gate-rows.ts is not what that version has; the table itself is written
 * by hand.
 *
 *   node scripts/catalogue.ts            writes
 *   node scripts/catalogue.ts --check    writes nothing; exits 1 when what is kept is not what it would write
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Facts, readFacts } from './catalogue/facts.ts'
import { gateFaults } from './catalogue/gates.ts'
import { catalogueFolder as out, readByHand, readGates } from './catalogue/kept.ts'
import { resourcesText } from './catalogue/resources-text.ts'
import { typesTexts } from './catalogue/types-text.ts'

/**
 * Our files, and the versions of the group that go into each. Versions that no path serves are in
 * unserved.ts.
 */
const files: Readonly<Record<string, readonly string[]>> = {
  meta: ['v1'],
  core: ['v1'],
  admissionregistration: ['v1', 'v1alpha1', 'v1beta1'],
  apiextensions: ['v1'],
  apiserverinternal: ['v1alpha1'],
  apiregistration: ['v1'],
  apps: ['v1'],
  authentication: ['v1'],
  authorization: ['v1'],
  autoscaling: ['v1', 'v2'],
  batch: ['v1'],
  certificates: ['v1', 'v1alpha1', 'v1beta1'],
  coordination: ['v1', 'v1alpha2', 'v1beta1'],
  discovery: ['v1'],
  events: ['v1'],
  flowcontrol: ['v1'],
  networking: ['v1', 'v1beta1'],
  node: ['v1'],
  policy: ['v1'],
  rbac: ['v1'],
  resource: ['v1alpha3', 'v1beta1', 'v1beta2'],
  scheduling: ['v1'],
  storage: ['v1', 'v1alpha1', 'v1beta1'],
  storagemigration: ['v1alpha1'],
}

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const pinned = readFacts()
const stale = [...texts(pinned)].filter(
  ([file, text]) => readFileSync(join(out, file), 'utf8') !== text,
)
const faults = gateFaults(pinned)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
if (options.check) {
  for (const [file] of stale) console.error(`${file} is not what node scripts/catalogue.ts writes`)
  if (stale.length > 0) process.exitCode = 1
} else for (const [file, text] of stale) writeFileSync(join(out, file), text)
console.log(`catalogue: ${stale.length} files ${options.check ? 'differ' : 'written'}`)

function* texts(facts: Facts): Generator<readonly [file: string, text: string]> {
  const names = Object.entries(files).flatMap(([group, versions]) =>
    versions.map((version) => `${group}/${version}`),
  )
  const gone = names.filter((name) => facts.packages[name] === undefined)
  if (gone.length > 0)
    throw new Error(`not there any more: ${gone.join(', ')}; take them out of the table of files`)
  const gates = readGates()
  const parts = typesTexts(facts, names, { byHand: readByHand(), gates })
  checkGates(gates, facts)
  for (const [group, versions] of Object.entries(files)) {
    const text = versions.map((version) => parts.get(`${group}/${version}`)).join('\n')
    yield [`${group}.ts`, module(`${group}Types`, text)]
  }
  const groups = new Map(
    Object.entries(facts.packages).map(([name, { group }]) => [group, name.split('/')[0] ?? '']),
  )
  yield [
    'resources.ts',
    module(
      'resourceTable',
      resourcesText((group) => groups.get(group) ?? ''),
    ),
  ]
}

/** A mark would be lost with its field. */
function checkGates(gates: ReadonlyMap<string, string>, { packages }: Facts): void {
  const fields = Object.entries(packages).flatMap(([name, { types }]) =>
    types.flatMap((type) => type.fields.map((field) => `${name} ${type.name}.${field.name}`)),
  )
  const lost = [...gates.keys()].filter((id) => !fields.includes(id))
  if (lost.length > 0)
    throw new Error(`fields with a gate are not there any more: ${lost.join(', ')}`)
}

function module(name: string, text: string): string {
  if (/[`\\]|\$(?!schema|ref)/.test(text))
    throw new Error(`${name} has a character that a template would read`)
  const reader =
    name === 'resourceTable'
      ? 'registry/read-resources.ts'
      : 'objects/schema/read-types.ts, and by hand only the marks gate='
  return `/** Written by scripts/catalogue.ts. The form: ${reader}. */\nexport const ${name} = \`\n${text}\`\n`
}
