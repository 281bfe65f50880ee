import { execFile, type ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Runs a program to its end and returns its output. `execFile` is only used inside of the function,
 * because its module is loaded when it is first used, and most servers never run a program.
 */
export const runProgram = (
  program: string,
  args: readonly string[],
  options: Omit<ExecFileOptions, 'encoding'>,
): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(program, args, { ...options, encoding: 'utf8' })
