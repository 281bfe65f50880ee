/** The target of a transfer: the store into which the objects of a cluster are imported. */
import type { DumpFile } from './dump-file.ts'

export type ImportOptions = {
  /** Whether to replace the content of the store. Otherwise the store must be empty. */
  readonly replaces: boolean
  /**
   * Number of revisions that are added to the export's revision to set the revision counter. They
   * cover writes at the source after the export.
   */
  readonly revisionsAhead: number
  readonly onProgress: (what: string, done: number) => void
}

export interface Target {
  /** Imports an export. Resolves when all data has been stored, read back and compared. */
  take(dump: DumpFile, options: ImportOptions): Promise<void>
}

export const notEmpty = (where: string): Error =>
  new Error(
    `${where} is not empty: import into an empty store, or replace its content with --replace`,
  )
