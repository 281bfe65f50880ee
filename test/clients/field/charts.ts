/** Installs and uninstalls the Helm charts of the packages with the real Helm. */
import { join } from 'node:path'
import type { ApiServerProcess } from '../../support/harness/api-server.ts'
import { helmFor } from '../../support/harness/helm.ts'
import { kubectlFor } from '../../support/harness/kubectl.ts'
import { fetchModule } from './fetch.ts'
import type { FieldPackage } from './packages.ts'

export type ChartsRun = {
  readonly installed: readonly string[]
  readonly faults: readonly string[]
}

/** Installs each chart without its hooks. Hooks are Jobs, and this cluster does not run Pods. */
export async function installCharts(
  server: ApiServerProcess,
  packages: readonly FieldPackage[],
): Promise<ChartsRun> {
  await using kubectl = await kubectlFor(server)
  const helm = helmFor(kubectl, 'charts')
  const installed: string[] = []
  const faults: string[] = []
  for (const source of packages) {
    if (source.chart === undefined) continue
    const release = `release-${installed.length}`
    try {
      const chart = join(await fetchModule(source), source.chart)
      await helm('install', release, chart, '--create-namespace', '--no-hooks')
      const objects = await helm('get', 'manifest', release)
      await helm('uninstall', release, '--no-hooks')
      installed.push(
        `${source.module}/${source.chart} (${objects.match(/^kind:/gm)?.length ?? 0} objects)`,
      )
    } catch (error) {
      faults.push(`chart of ${source.module}: ${String(error)}`)
    }
  }
  return { installed, faults }
}
