/**
 * Builds the folder of a kustomization with the program `kustomize` or, if it is not installed,
 * with `kubectl`, which contains kustomize.
 */
import { join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { runProgram } from '../../lib/process/run-program.ts'

/** Maximum time of a build, which may download remote bases. */
const TIMEOUT_MS = 120_000
/** Maximum size of the manifests that the program prints. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

const commands = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
] as const

export type KustomizeOutput = { readonly text: string; readonly command: string }

/**
 * Returns the manifests of a kustomization. If no program can build it, throws an Error that says
 * what to do. If the signal is aborted, the program is stopped.
 */
export async function buildKustomization(
  folder: string,
  signal?: AbortSignal,
): Promise<KustomizeOutput> {
  for (const [program, verb] of commands) {
    const command = `${program} ${verb} ${folder}`
    try {
      const options = { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX, signal }
      // Make the path begin with a slash or a dot, so that it cannot be read as a flag or a URL.
      const path = folder.startsWith('/') ? folder : `./${folder}`
      const { stdout } = await runProgram(program, [verb, path], options)
      return { text: stdout, command }
    } catch (error) {
      if (isMissing(error)) continue
      throw new Error(`${command} failed: ${reasonOf(error)}`, { cause: error })
    }
  }
  throw new Error(
    `${join(folder, 'kustomization.yaml')} needs kustomize: install kustomize or kubectl, so that one of them is on the PATH`,
  )
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/**
 * Returns the error output of the program. If there is none, returns Node's error message, for
 * example that the program took too long.
 */
function reasonOf(error: unknown): string {
  const printed = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  return printed === '' ? messageOf(error) : printed
}
