/** Runs the real Helm with the kubeconfig and the folder of a kubectl. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolPath } from './etcd.ts'
import type { Kubectl } from './kubectl.ts'

/**
 * Maximum time for a run, which usually takes a second. Helm itself waits five minutes for a
 * server.
 */
const RUN_MAX_MS = 120_000

const run = promisify(execFile)

/** Runs Helm and returns its output. If Helm fails, rejects with its error output. */
export type Helm = (...args: readonly string[]) => Promise<string>

export function helmFor({ dir }: Kubectl, namespace: string): Helm {
  const homes = ['CACHE', 'CONFIG', 'DATA'].map((home) => [`HELM_${home}_HOME`, join(dir, home)])
  const env = { ...process.env, ...Object.fromEntries(homes) }
  const flags = ['--kubeconfig', join(dir, 'config'), '--namespace', namespace]
  return async (...args) =>
    (await run(toolPath('helm'), [...flags, ...args], { env, timeout: RUN_MAX_MS })).stdout
}
