/**
 * Builds a program with the tests of all packages, in which our files replace those that start a
 * server. A Go overlay cannot replace files in the module cache. Therefore the two modules are
 * linked below .cache, and go.mod has a replace directive for each of them.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isRecord } from '../recorded/compat/json.ts'
import {
  argv0Of,
  mainFile,
  type PackageLocation,
  planProgram,
  programPath,
  seenFolder,
  testsOf,
} from './program.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
export const cache: string = join(root, '.cache', 'upstream')
const sources = join(cache, 'src')
const OUTPUT_BYTES_MAX = 1 << 28

const modules = { kubernetes: 'v1.33.4', 'apiextensions-apiserver': 'v0.33.4' } as const

/** Maps each of our files to the file that it replaces. */
const replaced: Readonly<Record<string, string>> = {
  'kube_testserver.go': 'kubernetes/cmd/kube-apiserver/app/testing/testserver.go',
  'framework_test_server.go': 'kubernetes/test/integration/framework/test_server.go',
  'apiextensions_testserver.go': 'apiextensions-apiserver/pkg/cmd/server/testing/testserver.go',
}

const listed = join(here, 'packages.txt')
const binary = join(cache, 'bin', 'all.test')

/**
 * Linker flags: those with which test/support/tools/install builds kube-apiserver, and the one that
 * `go test` sets for the package `testing`.
 */
const linkerFlags =
  '-X testing.testBinary=1 -s -w -X k8s.io/component-base/version.gitVersion=v1.33.4 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=33'

/** The tests of one package. */
export type TestProgram = {
  readonly name: string
  readonly binary: string
  /** Working directory of the tests, because they read testdata. */
  readonly directory: string
  readonly argv0: string
  readonly tests: readonly string[]
}

/** Builds the program, which takes minutes, unless it exists and is newer than its sources. */
export async function buildProgram(): Promise<void> {
  mkdirSync(dirname(binary), { recursive: true })
  await linkModules()
  if (existsSync(binary) && statSync(binary).mtimeMs > newestSource()) return
  const main = placeOf('.')
  const entries = planProgram(readPackages().map(placeOf), main, join(cache, 'suites.go'))
  for (const [file, of] of Object.entries(replaced))
    entries.set(join(sources, of), join(here, 'overlay', file))
  entries.set(mainFile(main), join(here, 'overlay', 'program_main.go'))
  const etcd = seenFolder(placeOf('etcd'))
  entries.set(
    join(etcd, 'server.go'),
    withoutStart(join(placeOf('etcd').folder, 'etcd', 'server.go')),
  )
  entries.set(join(etcd, 'start.go'), join(here, 'overlay', 'etcd_start.go'))
  const overlay = join(cache, 'overlay.json')
  writeFileSync(overlay, JSON.stringify({ Replace: Object.fromEntries(entries) }, undefined, 2))
  const draft = `${binary}.${process.pid}`
  const flags = [
    '-trimpath',
    '-gcflags',
    `all=-trimpath=${await sourceNames()}`,
    `-ldflags=${linkerFlags}`,
  ]
  await go('build', ...flags, '-overlay', overlay, '-o', draft, programPath(main))
  renameSync(draft, binary)
}

/**
 * Returns a copy of the file server.go in package etcd. In the copy, the function that starts the
 * server has another name. The file cannot be replaced as a whole, because it also contains other
 * functions.
 */
function withoutStart(file: string): string {
  const copy = join(cache, 'etcd_server.go')
  const text = readFileSync(file, 'utf8')
  const renamed = text.replace('func StartRealAPIServerOrDie(', 'func startWithin(')
  if (renamed === text) throw new Error(`${file} has no StartRealAPIServerOrDie`)
  writeFileSync(copy, renamed)
  return copy
}

/** Returns the command that runs the tests of a package. The program must be built. */
export function testProgram(name: string): TestProgram {
  const place = placeOf(name)
  const directory =
    name === 'etcd' ? besideApi() : runnable(name, realpathSync(join(place.folder, place.within)))
  return { name, binary, directory, argv0: argv0Of(place), tests: testsOf(place) }
}

/** Returns the folders of integration tests that packages.txt lists. */
export function readPackages(): string[] {
  return readFileSync(listed, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
}

function placeOf(name: string): PackageLocation {
  const isExtension = /^apiextensions(\/|$)/.test(name)
  const module = isExtension ? 'apiextensions-apiserver' : 'kubernetes'
  const within = isExtension ? name.slice('apiextensions/'.length) : name
  return {
    name,
    folder: join(sources, module, 'test', 'integration'),
    path: `k8s.io/${module}/test/integration`,
    within,
  }
}

async function go(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', CGO_ENABLED: '0' }
  return await output('go', args, { cwd: here, env })
}

async function output(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    ...options,
    maxBuffer: OUTPUT_BYTES_MAX,
  })
  return stdout
}

async function linkModules(): Promise<void> {
  mkdirSync(sources, { recursive: true })
  for (const [module, version] of Object.entries(modules)) {
    if (existsSync(join(sources, module))) continue
    // Run the command outside of our module. The module is incomplete before these links exist.
    const env = { ...process.env, GOFLAGS: '' }
    const text = await output('go', ['mod', 'download', '-json', `k8s.io/${module}@${version}`], {
      cwd: tmpdir(),
      env,
    })
    const downloaded: unknown = JSON.parse(text)
    if (!isRecord(downloaded) || typeof downloaded['Dir'] !== 'string')
      throw new Error(`go mod download: ${text}`)
    symlinkSync(downloaded['Dir'], join(sources, module))
  }
}

/**
 * Maps the paths of source files to the names in Kubernetes' own build, as
 * test/support/tools/install does.
 */
async function sourceNames(): Promise<string> {
  const folder = (await go('env', 'GOMODCACHE')).trim()
  const pins = readFileSync(join(here, '..', 'support', 'tools', 'kubernetes', 'go.mod'), 'utf8')
  const names = [...pins.matchAll(/^\tk8s\.io\/([a-z-]*) => (.*) (v.*)$/gm)].map(
    ([, name, path, version]) => `${folder}/${path}@${version}=>/src/k8s.io/${name};`,
  )
  return `${names.join('')}${folder}/k8s.io/kubernetes@${modules.kubernetes}=>k8s.io/kubernetes;${folder}=>`
}

const newestSource = (): number => {
  const files = ['extserver', 'overlay'].flatMap((folder) =>
    readdirSync(join(here, folder)).map((file) => join(here, folder, file)),
  )
  return Math.max(
    ...[...files, listed, join(here, 'program.ts'), join(here, 'go.mod')].map(
      (file) => statSync(file).mtimeMs,
    ),
  )
}

/**
 * Creates the folder in which the tests of package etcd run. They expect the testdata of k8s.io/api
 * at its path in Kubernetes' repository. The modules do not contain this path.
 */
function besideApi(): string {
  const tree = join(cache, 'tree')
  const staging = join(tree, 'staging', 'src', 'k8s.io')
  const directory = join(tree, 'test', 'integration', 'etcd')
  mkdirSync(directory, { recursive: true })
  mkdirSync(staging, { recursive: true })
  const api = join(dirname(realpathSync(join(sources, 'apiextensions-apiserver'))), 'api@v0.33.4')
  if (!existsSync(join(staging, 'api'))) symlinkSync(api, join(staging, 'api'))
  return directory
}

/**
 * Returns the folder in which the tests of a package run. This is usually the package's own folder.
 * If its testdata contains scripts, it is a copy, because files in the module cache are not
 * executable.
 */
function runnable(name: string, directory: string): string {
  const testdata = join(directory, 'testdata')
  const files = existsSync(testdata)
    ? readdirSync(testdata, { withFileTypes: true }).filter((file) => file.isFile())
    : []
  if (!files.some((file) => file.name.endsWith('.sh'))) return directory
  const copy = join(cache, 'work', name)
  mkdirSync(join(copy, 'testdata'), { recursive: true })
  for (const file of files) {
    // All scripts are made executable, except for one that the tests of package `client` need
    // without this permission.
    const mode = file.name.endsWith('.sh') && !file.name.includes('not-executable') ? 0o755 : 0o644
    writeFileSync(join(copy, 'testdata', file.name), readFileSync(join(testdata, file.name)), {
      mode,
    })
  }
  return copy
}
