/** The target of a move: the store that gets the objects of a cluster. */
import type { DumpFile } from './dump-file.ts'

export type ImportOptions = {
  /** Whether the content of the store is replaced. Otherwise the store must be empty. */
  readonly replaces: boolean
  /**
   * How far the revision counter is set beyond that of the export, to cover later writes at the
   * source.
   */
  readonly revisionsAhead: number
  readonly onProgress: (what: string, done: number) => void
}

export interface Target {
  /** Imports an export. Resolves when everything was stored, read back and compared. */
  take(dump: DumpFile, options: ImportOptions): Promise<void>
}

export const notEmpty = (where: string): Error =>
  new Error(
    `${where} is not empty: import into an empty store, or replace its content with --replace`,
  )
