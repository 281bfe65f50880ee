/** The real Helm, with the kubeconfig of a kubectl and all that it keeps beside it. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { toolPath } from './etcd.ts'
import type { Kubectl } from './kubectl.ts'

/** Helm itself waits five minutes for a server; a run here takes a second. */
const RUN_MAX_MS = 120_000

const run = promisify(execFile)

/** What it prints. Fails with what went wrong. */
export type Helm = (...args: readonly string[]) => Promise<string>

export function helmFor({ dir }: Kubectl, namespace: string): Helm {
  const homes = ['CACHE', 'CONFIG', 'DATA'].map((home) => [`HELM_${home}_HOME`, join(dir, home)])
  const env = { ...process.env, ...Object.fromEntries(homes) }
  const flags = ['--kubeconfig', join(dir, 'config'), '--namespace', namespace]
  return async (...args) =>
    (await run(toolPath('helm'), [...flags, ...args], { env, timeout: RUN_MAX_MS })).stdout
}
