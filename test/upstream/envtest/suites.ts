/**
 * The suites that `npm run envtest` runs. Each suite is a test binary of
 * `test/support/tools/install`.
 */
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { basename, join } from 'node:path'

export type SuiteToRun = {
  readonly name: string
  /** Name with which `--only` selects several suites. */
  readonly group: string
  /** Name of the binary in test/support/tools/install. */
  readonly tool: string
  /**
   * Whether the results are in Ginkgo's JSON report or in the `-test.v` output of Go's own tests.
   */
  readonly reports: 'ginkgo' | 'go'
  /** Tests that cannot pass on any server in this environment, for Go's `-test.skip`. */
  readonly skip?: string
  /** Returns the folder in which the tests look for files. */
  readonly folder: () => string
}

const root = join(import.meta.dirname, '..', '..', '..')

export function tools(): string {
  return process.env['KEELSON_TOOLS'] ?? join(root, '.cache', 'tools')
}

/** Suites of controller-runtime. pkg/leaderelection has no tests in this version. */
const ofControllerRuntime = [
  'client',
  'envtest',
  'manager',
  'webhook',
  'builder',
  'controller',
  'cache',
]

const ofClusterApi = {
  patch: 'util/patch',
  machine: 'internal/controllers/machine',
  machineset: 'internal/controllers/machineset',
  cluster: 'internal/controllers/cluster',
  webhooks: 'internal/webhooks/test',
}

export const suites: readonly SuiteToRun[] = [
  ...ofControllerRuntime.map(
    (name): SuiteToRun => ({
      name,
      group: 'controller-runtime',
      tool: `controller-runtime-${name}.test`,
      reports: 'ginkgo',
      folder: () =>
        join(downloadedModule('controller-runtime', 'sigs.k8s.io/controller-runtime'), 'pkg', name),
    }),
  ),
  {
    name: 'flux',
    group: 'flux',
    tool: 'flux-controller.test',
    reports: 'go',
    folder: () => join(copiedModule('flux', 'flux-controller.test'), 'internal', 'controller'),
  },
  ...Object.entries(ofClusterApi).map(
    ([name, path]): SuiteToRun => ({
      name: `cluster-api-${name}`,
      group: 'cluster-api',
      tool: `cluster-api-${name}.test`,
      reports: 'go',
      folder: () => join(copiedModule('cluster-api', `cluster-api-${name}.test`), path),
    }),
  ),
]

/** Returns the folder in Go's module cache, which is read-only. */
function downloadedModule(pin: string, module: string): string {
  const cwd = join(root, 'test', 'support', 'tools', pin)
  return execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], {
    cwd,
    encoding: 'utf8',
  }).trim()
}

/**
 * Returns the copy of the sources from which `test/support/tools/install` built the binary. The
 * names of both contain the pinned version.
 */
function copiedModule(folder: string, tool: string): string {
  const pin = basename(realpathSync(join(tools(), tool))).slice(tool.length + 1)
  return join(tools(), `sources-${folder}-${pin}`)
}
