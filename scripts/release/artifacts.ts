/** The files of a release, and the functions that write them. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { changelogSection, hasFile, type Manifest } from './checks.ts'

export const SUMS = 'SHA256SUMS'
export const NOTES = 'release-notes.md'

export type Kind = 'package' | 'executable' | 'image' | 'sbom' | 'python' | 'chart' | 'notes'

export type ArtifactFile = {
  readonly kind: Kind
  readonly file: string
}
export type Artifact = ArtifactFile & { readonly write: () => void }

export type ReleaseOptions = {
  readonly root: string
  /** The folder for the artifacts. */
  readonly folder: string
  readonly manifest: Manifest
}

const pythonFolder = join('clients', 'python')
const wheelArgs = ['-m', 'pip', 'wheel', '--no-deps']

/** Artifacts that take seconds to minutes to build. */
export const slowKinds: ReadonlySet<Kind> = new Set([
  'package',
  'executable',
  'image',
  'python',
  'chart',
])
/** Returns the artifacts of this platform in the order in which they must be built. */
export function artifactsOf(release: ReleaseOptions): Artifact[] {
  const { root, folder, manifest } = release
  const base = `${manifest.name}-${manifest.version}`
  const platform = `${process.platform}-${process.arch}`
  const executable = join(folder, `${base}-${platform}`)
  const script = (name: string, ...args: string[]): string =>
    run(root, process.execPath, [join('scripts', name), ...args])
  const artifact = (kind: Kind, name: string, write: (file: string) => void): Artifact => ({
    kind,
    file: join(folder, name),
    write: () => write(join(folder, name)),
  })
  return [
    artifact('sbom', `${base}.cdx.json`, (file) => script('sbom.ts', file)),
    artifact('notes', NOTES, (file) => writeNotes(release, file)),
    // The `prepack` script in package.json builds the program first.
    artifact('package', `${base}.tgz`, () =>
      run(root, 'npm', ['pack', '--pack-destination', folder]),
    ),
    artifact('executable', basename(executable), (file) => script('binary.ts', file)),
    ...(process.platform === 'linux'
      ? [
          artifact('image', `${base}-image-${platform}.tar.gz`, (file) =>
            writeImage(file, (dir) => script('image.ts', dir, executable)),
          ),
        ]
      : []),
    ...(hasFile(root, join(pythonFolder, 'pyproject.toml'))
      ? [
          artifact('python', wheelName(root, manifest.version), () =>
            run(root, 'python3', [...wheelArgs, '--wheel-dir', folder, pythonFolder]),
          ),
        ]
      : []),
    ...globSync('deploy/**/Chart.yaml', { cwd: root }).map((chart) =>
      artifact('chart', `${base}-chart.tgz`, (file) => writeChart(root, dirname(chart), file)),
    ),
  ]
}

/** Returns the artifacts in the folder that were built on machines of other platforms. */
export function otherPlatforms({ folder, manifest }: ReleaseOptions): ArtifactFile[] {
  const base = `${manifest.name}-${manifest.version}`
  return readdirSync(folder).flatMap((name): ArtifactFile[] => {
    const platform = name.startsWith(base) ? name.slice(base.length) : ''
    if (/^-image-linux-\w+\.tar\.gz$/.test(platform))
      return [{ kind: 'image', file: join(folder, name) }]
    return /^-(?:linux|darwin|win32)-\w+$/.test(platform)
      ? [{ kind: 'executable', file: join(folder, name) }]
      : []
  })
}

/**
 * Writes the archive of a container image. Its only top-level folder has the name of the archive.
 * `fill` writes the files of the image to this folder.
 */
function writeImage(file: string, fill: (folder: string) => void): void {
  inTemporaryFolder((dir) => {
    const name = imageName(file)
    fill(join(dir, name))
    run(dir, 'tar', ['--owner=0', '--group=0', '--sort=name', '-czf', file, name])
  })
}

/** Returns the name of the top-level folder in the archive of an image. */
export const imageName = (archive: string): string => basename(archive, '.tar.gz')

function wheelName(root: string, version: string): string {
  const project = readFileSync(join(root, pythonFolder, 'pyproject.toml'), 'utf8')
  const name = /^name = "([^"]+)"/m.exec(project)?.[1] ?? ''
  return `${name.replaceAll(/[-.]+/g, '_')}-${version}-py3-none-any.whl`
}

/**
 * Packs a Helm chart. Helm gives the file the same name as the npm package, so the file is renamed.
 */
function writeChart(root: string, chart: string, file: string): void {
  const installed = run(root, join('test', 'support', 'tools', 'install'), ['helm'])
  inTemporaryFolder((dir) => {
    run(root, installed.trim(), ['package', chart, '--destination', dir])
    for (const name of readdirSync(dir)) copyFileSync(join(dir, name), file)
  })
}

function writeNotes({ root, manifest }: ReleaseOptions, file: string): void {
  writeFileSync(file, changelogSection(root, manifest.version)?.notes ?? '')
}

/** Writes the SHA-256 digests of all files of a folder, in the format of `sha256sum --check`. */
export function writeSums(folder: string): void {
  const names = releaseFiles(folder)
  writeFileSync(join(folder, SUMS), names.map((name) => sumLine(folder, name)).join(''))
}

/** Returns the names of the files that users download, in alphabetical order. */
export const releaseFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name !== SUMS && name !== NOTES)
    .toSorted()

const sumLine = (folder: string, name: string): string =>
  `${createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')}  ${name}\n`

function inTemporaryFolder(use: (dir: string) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-release-'))
  try {
    use(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Runs a program and returns its output. If it fails, throws an error with all of its output. */
function run(cwd: string, program: string, args: readonly string[]): string {
  try {
    return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const told =
      error instanceof Error && 'stderr' in error && 'stdout' in error
        ? `${String(error.stdout)}${String(error.stderr)}`
        : String(error)
    throw new Error(`${program} ${args.join(' ')} failed:\n${told}`, { cause: error })
  }
}
