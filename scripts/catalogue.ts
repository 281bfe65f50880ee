/**
 * Writes src/registry/catalogue/: the types from facts about the pinned version of Kubernetes (test/tools/kubernetes), the table of
 * resources from what the reference answered (test/golden). Run by hand when the pin changes, never at build; what it writes is reviewed
 * and kept. The form is explained in src/schema/read-types.ts. apidiscovery.ts and unserved.ts are written by hand.
 *
 *   node scripts/catalogue.ts            writes
 *   node scripts/catalogue.ts --check    writes nothing; exits 1 when what is kept is not what it would write
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { splitPackages } from '../src/schema/read-types.ts'
import { type Facts, readFacts } from './catalogue/facts.ts'
import { resourcesText } from './catalogue/resources-text.ts'
import { type ByHand, typesTexts } from './catalogue/types-text.ts'

/** Our files, and the versions of the group that go into each. Versions that no path serves are in unserved.ts. */
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

const out = join(import.meta.dirname, '..', 'src', 'registry', 'catalogue')

const { values: options } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const stale = [...texts(readFacts())].filter(([file, text]) => readFileSync(join(out, file), 'utf8') !== text)
if (options.check) {
  for (const [file] of stale) console.error(`${file} is not what node scripts/catalogue.ts writes`)
  if (stale.length > 0) process.exitCode = 1
} else for (const [file, text] of stale) writeFileSync(join(out, file), text)
console.log(`catalogue: ${stale.length} files ${options.check ? 'differ' : 'written'}`)

function* texts(facts: Facts): Generator<readonly [file: string, text: string]> {
  const names = Object.entries(files).flatMap(([group, versions]) => versions.map((version) => `${group}/${version}`))
  const gone = names.filter((name) => facts.packages[name] === undefined)
  if (gone.length > 0) throw new Error(`not there any more: ${gone.join(', ')}; take them out of the table of files`)
  const parts = typesTexts(facts, names, readByHand())
  for (const [group, versions] of Object.entries(files)) {
    const text = versions.map((version) => parts.get(`${group}/${version}`)).join('\n')
    yield [`${group}.ts`, module(`${group}Types`, text)]
  }
  const groups = new Map(Object.entries(facts.packages).map(([name, { group }]) => [group, name.split('/')[0] ?? '']))
  yield [
    'resources.ts',
    module(
      'resourceTable',
      resourcesText((group) => groups.get(group) ?? ''),
    ),
  ]
}

function readByHand(): ByHand {
  const types = new Set<string>()
  const named = new Set<string>()
  for (const file of ['apidiscovery.ts', 'unserved.ts']) {
    for (const [name, text] of splitPackages(readFileSync(join(out, file), 'utf8'))) {
      for (const [type] of text.matchAll(/^\w+/gm)) types.add(`${name} ${type}`)
      for (const [word] of text.matchAll(/(?<![\w./])[A-Z]\w*/g)) named.add(`${name} ${word}`)
    }
  }
  return { types, named }
}

function module(name: string, text: string): string {
  if (/[`\\]|\$(?!schema|ref)/.test(text)) throw new Error(`${name} has a character that a template would read`)
  return `export const ${name} = \`\n${text}\`\n`
}
