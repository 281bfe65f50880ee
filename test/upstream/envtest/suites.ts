/**
 * The suites that `npm run envtest` runs. Each suite is a test binary of
 * `test/support/tools/install`.
 */
import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { basename, join } from 'node:path'

export type SuiteToRun = {
  readonly name: string
  /** Name of a group of suites. `--only` accepts it to select all suites of the group. */
  readonly group: string
  /** Name of the binary in test/support/tools/install. */
  readonly tool: string
  /**
   * Format of the results. It is either Ginkgo's JSON report, or the `-test.v` output of Go's own
   * tests.
   */
  readonly reports: 'ginkgo' | 'go'
  /**
   * Pattern for Go's `-test.skip`. It matches tests that cannot pass in this environment on any
   * server.
   */
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

/** Returns the folder of a module in Go's module cache. The folder is read-only. */
function downloadedModule(pin: string, module: string): string {
  const cwd = join(root, 'test', 'support', 'tools', pin)
  return execFileSync('go', ['list', '-m', '-f', '{{.Dir}}', module], {
    cwd,
    encoding: 'utf8',
  }).trim()
}

/**
 * Returns the folder with the copied sources from which `test/support/tools/install` built a test
 * binary. Both names contain the same pin.
 */
function copiedModule(folder: string, tool: string): string {
  const pin = basename(realpathSync(join(tools(), tool))).slice(tool.length + 1)
  return join(tools(), `sources-${folder}-${pin}`)
}
