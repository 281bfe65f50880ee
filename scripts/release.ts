/**
 * Prepares a release in a folder, and publishes it (CONTRIBUTING.md, "Release").
 *
 *   node scripts/release.ts [FLAGS] [FOLDER]
 *
 * Without flags it checks the commit, builds all artifacts of this platform, and prints the
 * commands that publish them. The default folder is .cache/release, which is removed first.
 *
 * - `--dry-run` skips the artifacts whose build takes long.
 * - `--only KIND` checks nothing and builds one kind, such as `package` or `executable`.
 * - `--keep` keeps what is in the folder, such as executables that other machines built.
 * - `--publish` also runs the commands. The commit must have the tag of the version.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Artifact,
  type ArtifactFile,
  artifactsOf,
  otherPlatforms,
  type ReleaseOptions,
  slowKinds,
  writeSums,
} from './release/artifacts.ts'
import { readManifest, releaseFaults, tagFaults } from './release/checks.ts'
import { type Command, publishCommands, shellText } from './release/commands.ts'

const root = join(import.meta.dirname, '..')
const defaultFolder = join(root, '.cache', 'release')

type Flags = {
  readonly 'dry-run': boolean
  readonly only?: string
  readonly keep: boolean
  readonly publish: boolean
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean', default: false },
      only: { type: 'string' },
      keep: { type: 'boolean', default: false },
      publish: { type: 'boolean', default: false },
    },
  })
  const folder = resolve(positionals[0] ?? defaultFolder)
  const release: ReleaseOptions = { root, folder, manifest: readManifest(root) }
  check(release, values)
  emptyFolder(folder, values.keep)
  const artifacts = artifactsOf(release)
  build(artifacts, values)
  if (values.only !== undefined) return
  writeSums(folder)
  publishOrPrint(release, artifacts, values)
}

function check({ manifest }: ReleaseOptions, { only, publish, 'dry-run': isDry }: Flags): void {
  if (publish && (isDry || only !== undefined))
    throw new Error('--publish needs all artifacts: run it without --dry-run and --only')
  if (only !== undefined) return
  const faults = releaseFaults(root).concat(publish ? tagFaults(root, manifest.version) : [])
  if (faults.length > 0)
    throw new Error(`${manifest.version} cannot be released:\n${faults.join('\n')}`)
}

/**
 * Removes the default folder. Another folder is not removed, because it might contain files of the
 * user.
 */
function emptyFolder(folder: string, keep: boolean): void {
  if (!keep && folder === defaultFolder) rmSync(folder, { recursive: true, force: true })
  if (!keep && existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${folder} contains files: choose an empty folder, or use --keep`)
  mkdirSync(folder, { recursive: true })
}

function build(artifacts: readonly Artifact[], { only, keep, 'dry-run': isDry }: Flags): void {
  if (only !== undefined && !artifacts.some(({ kind }) => kind === only)) {
    const kinds = [...new Set(artifacts.map(({ kind }) => kind))]
    throw new Error(`--only ${only}: use one of ${kinds.join(', ')}`)
  }
  for (const { kind, file, write } of artifacts) {
    // The image contains the executable, so building an image also builds the executable.
    const isNeeded =
      only === undefined || kind === only || (only === 'image' && kind === 'executable')
    if (!isNeeded) continue
    const name = relative(process.cwd(), file)
    if (isDry && slowKinds.has(kind)) console.log(`skipped  ${name}`)
    else if (keep && existsSync(file)) console.log(`kept     ${name}`)
    else {
      write()
      if (!existsSync(file)) throw new Error(`${kind}: the build did not write ${file}`)
      console.log(`written  ${name}`)
    }
  }
}

function publishOrPrint(
  release: ReleaseOptions,
  artifacts: readonly ArtifactFile[],
  { publish: isPublished }: Flags,
): void {
  const files = new Map([...artifacts, ...otherPlatforms(release)].map((one) => [one.file, one]))
  const commands = publishCommands(release, [...files.values()])
  if (!isPublished) {
    console.log('\nThese commands publish the release, and --publish runs them:\n')
    for (const command of commands) console.log(`  ${shellText(command)}`)
    return
  }
  for (const [index, command] of commands.entries()) runCommand(command, commands.slice(index))
}

/**
 * Runs a command. If it fails, the error lists the remaining commands, because some commands cannot
 * run twice.
 */
function runCommand(command: Command, left: readonly Command[]): void {
  const [program, ...args] = command
  console.log(`\n$ ${shellText(command)}`)
  try {
    execFileSync(program, args, { cwd: root, stdio: 'inherit' })
  } catch (error) {
    const rest = left.map((one) => `  ${shellText(one)}`).join('\n')
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw new Error(`${reason}\nMend the cause, then run what is left:\n${rest}`, { cause: error })
  }
}

try {
  main()
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
