/** The commands that publish a release. The address of the repository is in package.json. */
import { basename, join } from 'node:path'
import { type ArtifactFile, imageName, NOTES, type ReleaseOptions, SUMS } from './artifacts.ts'
import { hasFile } from './checks.ts'

/** A program and its arguments. */
export type Command = readonly [program: string, ...args: string[]]

/** Maps Node's names of architectures to the names that images use. */
const imageArchitectures: { readonly [arch: string]: string } = { x64: 'amd64', arm64: 'arm64' }

/** Returns the name of the repository on GitHub as `owner/name`. */
export function repositoryOf(url: string): string {
  const found = /github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?$/.exec(url)?.[1]
  if (found === undefined)
    throw new Error(`repository.url in package.json is not a repository on GitHub: ${url}`)
  return found
}

/**
 * Returns the commands in the order in which they run. The last one creates the release on GitHub.
 */
export function publishCommands(
  release: ReleaseOptions,
  artifacts: readonly ArtifactFile[],
): Command[] {
  const { version, repository } = release.manifest
  const filesOf = (kind: ArtifactFile['kind']): string[] =>
    artifacts.filter((one) => one.kind === kind).map(({ file }) => file)
  const repo = repositoryOf(repository.url)
  const isPrerelease = version.includes('-')
  return [
    ...filesOf('package').map((file): Command => {
      const tag = isPrerelease ? ['--tag', 'next'] : []
      return ['npm', 'publish', file, '--provenance', '--access', 'public', ...tag]
    }),
    ...imageCommands(filesOf('image'), repo, release),
    ...filesOf('chart').map(
      (file): Command => ['helm', 'push', file, `oci://ghcr.io/${repo.split('/', 1)[0]}/charts`],
    ),
    ...filesOf('python').map((file): Command => ['pipx', 'run', 'twine', 'upload', file]),
    ...goCommands(release),
    [
      'gh',
      ...['release', 'create', `v${version}`, '--repo', repo, '--verify-tag'],
      ...['--title', `v${version}`, '--notes-file', join(release.folder, NOTES)],
      ...(isPrerelease ? ['--prerelease'] : []),
      ...artifacts.filter(({ kind }) => kind !== 'notes').map(({ file }) => file),
      join(release.folder, SUMS),
    ],
  ]
}

/** Builds and pushes an image for each architecture, and one tag that refers to all of them. */
function imageCommands(
  archives: readonly string[],
  repo: string,
  { folder, manifest }: ReleaseOptions,
): Command[] {
  if (archives.length === 0) return []
  const image = `ghcr.io/${repo}`
  const source = `org.opencontainers.image.source=https://github.com/${repo}`
  const unpacked = `${folder}-images`
  const pushed = archives.map((archive) => {
    const node = basename(archive).replace(/^.*-linux-(\w+)\.tar\.gz$/, '$1')
    const arch = imageArchitectures[node] ?? node
    const context = join(unpacked, imageName(archive))
    return { archive, arch, context, tag: `${image}:${manifest.version}-${arch}` }
  })
  const tags = manifest.version.includes('-') ? [manifest.version] : [manifest.version, 'latest']
  return [
    ['mkdir', '-p', unpacked],
    ...pushed.flatMap(({ archive, arch, context, tag }): Command[] => [
      ['tar', '-xzf', archive, '-C', unpacked],
      [
        'docker',
        ...['buildx', 'build', '--push', '--platform', `linux/${arch}`, '--label', source],
        ...['--tag', tag, '--file', join(context, 'Containerfile'), context],
      ],
    ]),
    [
      'docker',
      'buildx',
      'imagetools',
      'create',
      ...tags.flatMap((tag) => ['--tag', `${image}:${tag}`]),
      ...pushed.map(({ tag }) => tag),
    ],
  ]
}

/**
 * Returns the commands that create and push the tag of the Go module. The module is in a subfolder,
 * so Go expects the path of this folder at the beginning of the tag.
 */
function goCommands({ root, manifest }: ReleaseOptions): Command[] {
  if (!hasFile(root, 'clients/go/go.mod')) return []
  const tag = `clients/go/v${manifest.version}`
  return [
    ['git', 'tag', '--force', tag],
    ['git', 'push', 'origin', tag],
  ]
}

/** Returns a command as shell text that yields the same arguments. */
export const shellText = (command: Command): string =>
  command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
