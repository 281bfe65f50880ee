/**
 * Writes src/registry/catalogue/, from the source of one version of each release of Kubernetes
 * (scripts/catalogue/versions.ts). Run by hand when a version changes, not at build time; the
 * output is reviewed and committed. src/objects/schema/read-types.ts explains the syntax of the
 * files. apidiscovery.ts, unserved.ts and the feature gates of fields (`gate=`) in all files are
 * written by hand.
 *
 * Also reports differences between the feature gates of the releases and src/api/gate-table.ts.
 *
 *   node scripts/catalogue.ts                  writes the files
 *   node scripts/catalogue.ts --check          exits with 1 if a file is out of date; compares only
 *                                              the lines of the default release, so that CI needs
 *                                              only the modules of that release
 *   node scripts/catalogue.ts --check --all    compares the lines of all releases
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultMinor } from '../src/api/releases.ts'
import { linesOfRelease } from '../src/objects/schema/release-lines.ts'
import { kubernetesFolder, readFacts } from './catalogue/facts.ts'
import { gateFaults } from './catalogue/gates.ts'
import { catalogueFolder as out, readByHand, readGates } from './catalogue/kept.ts'
import { type Block, mergeReleases } from './catalogue/merge-releases.ts'
import { resourceBlocks } from './catalogue/resources-text.ts'
import { packageBlocks } from './catalogue/types-text.ts'
import { versions } from './catalogue/versions.ts'

/**
 * The generated files, and the versions of the API group that each file contains. Versions that no
 * URL path serves are in unserved.ts.
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
  lifecycle: ['v1alpha1'],
  networking: ['v1', 'v1beta1'],
  node: ['v1'],
  policy: ['v1'],
  rbac: ['v1'],
  resource: ['v1', 'v1alpha3', 'v1beta1', 'v1beta2'],
  scheduling: ['v1', 'v1alpha1', 'v1alpha2', 'v1alpha3', 'v1beta1'],
  storage: ['v1', 'v1alpha1', 'v1beta1'],
  storagemigration: ['v1', 'v1alpha1', 'v1beta1'],
}

/** The oldest release whose types are generated. */
const oldest = defaultMinor

const { values: options } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
})
const isPartial = options.check && !options.all
const releases = versions
  .filter(([release]) => (isPartial ? release === defaultMinor : release >= oldest))
  .map(([release, version]) => ({
    release,
    facts: readFacts(version),
    folder: kubernetesFolder(version),
  }))
const newest = releases.at(-1)?.release ?? oldest
const stale = [...texts()].filter(
  ([file, text]) => compared(readFileSync(join(out, file), 'utf8')) !== compared(text),
)
const faults = [
  ...releases.flatMap(({ release, facts }) => gateFaults(release, facts.gates)),
  ...lostGates(),
]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
if (options.check) {
  for (const [file] of stale) console.error(`${file} is out of date: run node scripts/catalogue.ts`)
  if (stale.length > 0) process.exitCode = 1
} else for (const [file, text] of stale) writeFileSync(join(out, file), text)
console.log(`catalogue: ${stale.length} files ${options.check ? 'differ' : 'written'}`)

/**
 * Returns the text to compare. With `--check`, and without `--all`, only the lines of the default
 * release are compared.
 */
function compared(text: string): string {
  return isPartial ? linesOfRelease(text, defaultMinor).replaceAll(/\n+/g, '\n') : text
}

function* texts(): Generator<readonly [file: string, text: string]> {
  const names = Object.entries(files).flatMap(([group, groupVersions]) =>
    groupVersions.map((version) => `${group}/${version}`),
  )
  const gone = names.filter((name) =>
    releases.every(({ facts }) => facts.packages[name] === undefined),
  )
  if (gone.length > 0 && !isPartial)
    throw new Error(
      `${gone.join(', ')} no longer exist: remove them from the table of files in scripts/catalogue.ts`,
    )
  const ofReleases = releases.map(({ release, facts }) => ({
    release,
    packages: packageBlocks(facts, names, {
      byHand: readByHand(release),
      gates: readGates(release),
    }),
  }))
  for (const [group, groupVersions] of Object.entries(files)) {
    const parts = groupVersions.map((version) => {
      const [aliases, structs] = (['aliases', 'structs'] as const).map((part) =>
        mergeReleases(
          ofReleases.map(({ release, packages }) => ({
            release,
            blocks: packages.get(`${group}/${version}`)?.[part] ?? [],
          })),
          newest,
        ),
      )
      return packageText(`${group}/${version}`, aliases ?? [], structs ?? [])
    })
    yield [`${group}.ts`, module(`${group}Types`, parts.join('\n'))]
  }
  yield ['resources.ts', module('resourceTable', resourcesText())]
}

function packageText(name: string, aliases: readonly Block[], structs: readonly Block[]): string {
  const lines = aliases.map(({ head }) => head)
  if (lines.length > 0) lines.push('')
  return [`package ${name}`, '', ...lines, ...structs.flatMap(blockLines)].join('\n')
}

function blockLines({ head, lines }: Block): readonly string[] {
  return [head, ...lines.map((line) => `  ${line}`), '']
}

function resourcesText(): string {
  const blocks = releases.map(({ release, facts, folder }) => {
    const groups = new Map(
      Object.entries(facts.packages).map(([name, { group }]) => [group, name.split('/')[0] ?? '']),
    )
    const packageOf = (group: string): string => groups.get(group) ?? ''
    return { release, blocks: resourceBlocks({ release, folder, packageOf }) }
  })
  return mergeReleases(blocks, newest).flatMap(blockLines).join('\n')
}

/**
 * Returns an error for each field that has a handwritten `gate=`, but no longer exists in
 * Kubernetes. Generating the files would lose the `gate=` of such a field.
 */
function lostGates(): readonly string[] {
  const fields = new Set(
    releases.flatMap(({ facts }) =>
      Object.entries(facts.packages).flatMap(([name, { types }]) =>
        types.flatMap((type) => type.fields.map((field) => `${name} ${type.name}.${field.name}`)),
      ),
    ),
  )
  return releases.flatMap(({ release }) =>
    [...readGates(release).keys()]
      .filter((id) => !fields.has(id))
      .map((id) => `${id} is marked with a gate, but no longer exists`),
  )
}

function module(name: string, text: string): string {
  if (/[`\\]|\$(?!schema|ref)/.test(text))
    throw new Error(`${name} contains a character that has a meaning in a template literal`)
  const reader =
    name === 'resourceTable'
      ? 'registry/read-resources.ts'
      : 'objects/schema/read-types.ts. Only the marks gate= are written by hand'
  return `/** Generated by scripts/catalogue.ts. Syntax: ${reader}. */\nexport const ${name} = \`\n${text}\`\n`
}
