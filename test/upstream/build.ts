/**
 * Builds the test program of a package, with our files in the place of those that start a server. Go does not replace files of its
 * module cache by an overlay: so the two modules are also reachable by links under .cache, and go.mod has a replace for each.
 */
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { isRecord } from '../compat/json.ts'

const here = import.meta.dirname
const root = join(here, '..', '..')
export const cache: string = join(root, '.cache', 'upstream')
const sources = join(cache, 'src')
const OUTPUT_BYTES_MAX = 1 << 28

const modules = { kubernetes: 'v1.33.4', 'apiextensions-apiserver': 'v0.33.4' } as const

/** Of our files: what each of them takes the place of. */
const replaced: Readonly<Record<string, string>> = {
  'kube_testserver.go': 'kubernetes/cmd/kube-apiserver/app/testing/testserver.go',
  'framework_test_server.go': 'kubernetes/test/integration/framework/test_server.go',
  'apiextensions_testserver.go': 'apiextensions-apiserver/pkg/cmd/server/testing/testserver.go',
}

/** The flags that test/tools/install builds kube-apiserver with: what it has compiled is not compiled again. */
const versionFlags =
  '-s -w -X k8s.io/component-base/version.gitVersion=v1.33.4 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=33'

export type TestProgram = {
  readonly name: string
  readonly binary: string
  /** Where its tests run: they read testdata. */
  readonly directory: string
  /** Clients name themselves after it, and tests expect that. */
  readonly argv0: string
}

export class Builder {
  readonly #overlay: string
  readonly #flags: readonly string[]

  private constructor(overlay: string, flags: readonly string[]) {
    this.#overlay = overlay
    this.#flags = flags
  }

  static async prepare(): Promise<Builder> {
    mkdirSync(join(cache, 'bin'), { recursive: true })
    await linkModules()
    const overlay = join(cache, 'overlay.json')
    const entries = Object.entries(replaced).map(([file, of]) => [join(sources, of), join(here, 'overlay', file)])
    writeFileSync(overlay, JSON.stringify({ Replace: Object.fromEntries(entries) }, undefined, 2))
    return new Builder(overlay, ['-trimpath', '-gcflags', `all=-trimpath=${await sourceNames()}`])
  }

  /** Takes a minute or so where the binary is not there, or older than our files. */
  async build(name: string): Promise<TestProgram> {
    const path = importPath(name)
    const binary = join(cache, 'bin', `${name.replaceAll('/', '-')}.test`)
    const isStale = !existsSync(binary) || statSync(binary).mtimeMs < newestSource()
    if (isStale) {
      const draft = `${binary}.${process.pid}`
      const flags = [...this.#flags, '-overlay', this.#overlay, `-ldflags=${versionFlags}`]
      // Upstream's own checks are not ours, and vet goes through all that the tests import.
      await go('test', '-c', '-vet=off', ...flags, '-o', draft, path)
      renameSync(draft, binary)
    }
    const directory = runnable(name, (await go('list', '-f', '{{.Dir}}', path)).trim())
    return { name, binary, directory, argv0: `${basename(path)}.test` }
  }
}

const importPath = (name: string): string =>
  /^apiextensions(\/|$)/.test(name)
    ? `k8s.io/apiextensions-apiserver/test/integration${name.slice('apiextensions'.length)}`
    : `k8s.io/kubernetes/test/integration/${name}`

async function go(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, GOFLAGS: '-mod=mod -buildvcs=false', CGO_ENABLED: '0' }
  return await output('go', args, { cwd: here, env })
}

async function output(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { ...options, maxBuffer: OUTPUT_BYTES_MAX })
  return stdout
}

async function linkModules(): Promise<void> {
  mkdirSync(sources, { recursive: true })
  for (const [module, version] of Object.entries(modules)) {
    if (existsSync(join(sources, module))) continue
    // Outside of our own module, which is not whole before the links are there.
    const env = { ...process.env, GOFLAGS: '' }
    const text = await output('go', ['mod', 'download', '-json', `k8s.io/${module}@${version}`], { cwd: tmpdir(), env })
    const downloaded: unknown = JSON.parse(text)
    if (!isRecord(downloaded) || typeof downloaded['Dir'] !== 'string') throw new Error(`go mod download: ${text}`)
    symlinkSync(downloaded['Dir'], join(sources, module))
  }
}

/** Source files under the names that they have in upstream's own build, as test/tools/install has them. */
async function sourceNames(): Promise<string> {
  const folder = (await go('env', 'GOMODCACHE')).trim()
  const pins = readFileSync(join(here, '..', 'tools', 'kubernetes', 'go.mod'), 'utf8')
  const names = [...pins.matchAll(/^\tk8s\.io\/([a-z-]*) => (.*) (v.*)$/gm)].map(
    ([, name, path, version]) => `${folder}/${path}@${version}=>/src/k8s.io/${name};`,
  )
  return `${names.join('')}${folder}/k8s.io/kubernetes@${modules.kubernetes}=>k8s.io/kubernetes;${folder}=>`
}

const newestSource = (): number =>
  Math.max(
    ...['extserver', 'overlay'].flatMap((folder) =>
      readdirSync(join(here, folder)).map((file) => statSync(join(here, folder, file)).mtimeMs),
    ),
  )

/** The package's own folder, or a copy of its testdata when that has scripts: files of the module cache are not executable. */
function runnable(name: string, directory: string): string {
  const testdata = join(directory, 'testdata')
  const files = existsSync(testdata)
    ? readdirSync(testdata, { withFileTypes: true }).filter((file) => file.isFile())
    : []
  if (!files.some((file) => file.name.endsWith('.sh'))) return directory
  const copy = join(cache, 'work', name)
  mkdirSync(join(copy, 'testdata'), { recursive: true })
  for (const file of files) {
    // client has one that is to be refused for not being executable.
    const mode = file.name.endsWith('.sh') && !file.name.includes('not-executable') ? 0o755 : 0o644
    writeFileSync(join(copy, 'testdata', file.name), readFileSync(join(testdata, file.name)), { mode })
  }
  return copy
}
