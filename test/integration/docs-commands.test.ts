/**
 * Runs the commands of README.md and of chapters in docs/, so that the commands work for a new
 * user. Chapters that are not in the list contain no sequences of commands.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { freePorts, toolPath } from '../support/harness/etcd.ts'
import { goBuildVariables } from '../support/harness/go-build.ts'
import { keelsonProgram } from '../support/harness/keelson.ts'
import { type Block, readBlocks, runBlocks } from '../support/harness/markdown-commands.ts'

const root = join(import.meta.dirname, '..', '..')
/** Folder with the build results of `test/clients/field.ts`. */
const clientsCache = join(root, '.cache', 'clients')
const fabric8 = join(clientsCache, 'fabric8', 'classpath')

const pages = [
  'README.md',
  'docs/start.md',
  'docs/test-your-operator.md',
  'docs/apis-without-nodes.md',
  'docs/access.md',
  'docs/admission.md',
  'docs/field-ownership.md',
  'docs/aggregation.md',
  'docs/operate.md',
  'docs/runbooks.md',
  'docs/encryption.md',
  'docs/upgrade.md',
  'docs/from-kube-apiserver.md',
  'docs/from-envtest.md',
  'docs/dev.md',
  'docs/from-kcp.md',
]

/**
 * Cache folder of the commands. It contains the list of running servers, so that `keelson stop
 * --all` stops only the servers of this test. It also contains the compile cache.
 */
let cache: string
before(async () => {
  cache = await realpath(await mkdtemp(join(tmpdir(), 'keelson-docs-cache-')))
})
after(() => rm(cache, { recursive: true, force: true }))

for (const page of pages) {
  test(`the commands of ${page} work as written`, async (t) => {
    const blocks = readBlocks(readFileSync(join(root, page), 'utf8'))
    // Each page in the list contains commands. If none are found, the code fences of the page are
    // wrong.
    assert.ok(blocks.some(({ kind }) => kind === 'commands'))
    await runPage(blocks, t)
  })
}

test('README.md has no indented code blocks, because only the commands in fenced code blocks are tested', () => {
  assert.doesNotMatch(readFileSync(join(root, 'README.md'), 'utf8'), /^ {4}\S/m)
})

async function runPage(blocks: readonly Block[], t: TestContext): Promise<void> {
  // The commands run in this folder, which looks like a checkout. They can store data in it,
  // because data is written to the current folder.
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'keelson-docs-')))
  try {
    await mkdir(join(folder, 'bin'))
    await symlink(keelsonProgram, join(folder, 'bin', 'keelson'))
    for (const name of ['docs', 'clients', 'deploy'])
      await symlink(join(root, name), join(folder, name))
    await installPackages(join(folder, 'node_modules'))
    const [port = 0, client = 0, peer = 0] = await freePorts(3)
    await runBlocks(blocks, {
      folder,
      env: environment(folder),
      port,
      etcdPorts: [client, peer],
      lacks: (need) => lacks(need, folder),
      onSkipped: (need, why) => t.diagnostic(`skipped, needs ${need}: ${why}`),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Installs the packages that a reader would have installed: the client library and Keelson. If the
 * package is not built, the sources are used instead.
 */
async function installPackages(folder: string): Promise<void> {
  const own = join(folder, 'keelson')
  await mkdir(folder)
  await symlink(join(root, 'node_modules', '@kubernetes'), join(folder, '@kubernetes'))
  const packageFolder = join(keelsonProgram, '..', '..')
  if (packageFolder !== root) return symlink(packageFolder, own)
  await mkdir(own)
  await symlink(join(root, 'src'), join(own, 'src'))
  const manifest = {
    name: 'keelson',
    type: 'module',
    exports: { './testing': './src/entry/testing/index.ts' },
  }
  await writeFile(join(own, 'package.json'), JSON.stringify(manifest))
}

function environment(folder: string): NodeJS.ProcessEnv {
  const { KUBECONFIG: _, ...env } = process.env
  const tools = dirname(toolPath('kubectl'))
  return {
    ...env,
    PATH: [join(folder, 'bin'), tools, dirname(process.execPath), env['PATH'] ?? ''].join(':'),
    KUBECACHEDIR: join(folder, 'kubectl-cache'),
    XDG_CACHE_HOME: cache,
    ...goBuildVariables,
    // Without `go vet`, which `go test` would also run on all dependencies.
    GOFLAGS: `-mod=mod ${goBuildVariables.GOFLAGS} -vet=off`,
    // With these variables, the build results and downloads of test/clients/field.ts are reused.
    CARGO_TARGET_DIR: join(clientsCache, 'rust'),
    CARGO_NET_OFFLINE: 'true',
    CLASSPATH: existsSync(fabric8) ? readFileSync(fabric8, 'utf8').trim() : '',
    GOCACHE: env['GOCACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'go-build'),
  }
}

/** Returns the reason why a requirement of a code block is not met, or undefined if it is met. */
function lacks(need: string, folder: string): string | undefined {
  const isThere = (command: string): boolean =>
    spawnSync('sh', ['-c', command], { env: environment(folder), stdio: 'ignore' }).status === 0
  switch (need) {
    case 'npm-registry':
      return 'it needs the network; .ci/run runs it in a clean clone'
    case 'openid-issuer':
      return 'access-docs.test.ts runs it'
    case 'etcd':
      return isThere('etcd --version') ? undefined : 'no etcd on the PATH'
    case 'etcdctl':
      return lacks('etcd', folder) ?? (isThere('etcdctl version') ? undefined : 'no etcdctl')
    case 'go':
      if (!isThere('go version')) return 'no Go on the PATH'
      // Create the files of a Go module, which a reader would have.
      for (const file of ['go.mod', 'go.sum'])
        copyFileSync(join(root, 'test/support/tools/controller-runtime', file), join(folder, file))
      return undefined
    case 'java':
      if (!isThere('java --version')) return 'no Java on the PATH'
      return existsSync(fabric8)
        ? undefined
        : 'fabric8 is not installed: run node test/clients/field.ts --only fabric8'
    case 'rust':
      if (!isThere('cargo --version')) return 'no Rust on the PATH'
      if (!existsSync(join(clientsCache, 'rust')))
        return 'kube is not built: run node test/clients/field.ts --only rust'
      // Create the files of a Rust crate, which a reader would have.
      for (const file of ['Cargo.toml', 'Cargo.lock'])
        copyFileSync(join(root, 'test/clients/rust', file), join(folder, file))
      return undefined
    case 'openssl':
      return isThere('openssl version') ? undefined : 'no OpenSSL on the PATH'
    case 'python3':
      return isThere('python3 --version') ? undefined : 'no Python on the PATH'
    case 'python':
      return isThere("python3 -c 'import kubernetes'")
        ? undefined
        : 'no Python with the package kubernetes'
    default:
      assert.fail(`a page needs ${need}, which is unknown`)
  }
}
