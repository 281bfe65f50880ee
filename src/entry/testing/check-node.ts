import { nodeFault } from '../../lib/process/node-version.ts'

/** Throws an error that says what to do if this version of Node cannot be used. */
export function checkNode(): void {
  const fault = nodeFault()
  if (fault === undefined) return
  throw new Error(`keelson/testing ${fault}. Install it from https://nodejs.org`)
}
