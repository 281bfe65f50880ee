/** Where a cluster is moved to. */
import type { DumpFile } from './dump-file.ts'

export type ImportOptions = {
  /** What is there is replaced; else the store must be empty. */
  readonly replaces: boolean
  /**
   * How far the counter of revisions is set beyond that of the export, for what was written at the
   * source since.
   */
  readonly revisionsAhead: number
  readonly onProgress: (what: string, done: number) => void
}

export interface Target {
  /** Resolves when everything is stored, and was read back and compared. */
  take(dump: DumpFile, options: ImportOptions): Promise<void>
}

export const notEmpty = (where: string): Error =>
  new Error(
    `${where} is not empty: import into an empty store, or replace what is there by --replace`,
  )
