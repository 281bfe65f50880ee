/**
 * A process with a SQLite store that is controlled by messages. It also sends its log entries as
 * messages.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from '../../../src/storage/errors.ts'
import { SqliteEngine } from '../../../src/storage/sqlite/sqlite-engine.ts'

export type WriterCommand =
  | { readonly op: 'put'; readonly key: string; readonly bytes?: number }
  | { readonly op: 'list' | 'fill' | 'free' | 'log' }

export type WriterAnswer =
  | { readonly revision: number }
  | { readonly keys: readonly string[]; readonly revision: number }
  | { readonly code: string; readonly ambiguous: boolean; readonly message: string }
  | { readonly lines: readonly string[] }
  | { readonly done: true }

const FILLER_BYTES = 64 * 1024

const [folder = '', filler = ''] = process.argv.slice(2)
const lines: string[] = []
const engine = await SqliteEngine.open({
  folder,
  log: (level, message) => lines.push(`${level} ${message}`),
})

async function answer(reported: WriterCommand): Promise<WriterAnswer> {
  if (reported.op === 'log') return { lines }
  if (reported.op === 'list') {
    const { values, revision } = await engine.range({ from: '/f/', to: '/f0' })
    return { keys: values.map(({ key }) => key), revision }
  }
  if (reported.op === 'put') {
    const put = Buffer.alloc(reported.bytes ?? 100, 'x')
    const { won, revision } = await engine.change({
      key: reported.key,
      expected: 0,
      write: { put },
    })
    if (!won) throw new Error(`${reported.key} already exists`)
    return { revision }
  }
  if (reported.op === 'free') rmSync(filler)
  else fill()
  return { done: true }
}

/** Fills the remaining space of the disk. */
function fill(): void {
  for (let length = FILLER_BYTES; length >= 1; length = Math.floor(length / 2)) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(length), { flag: 'a' })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }
}

process.on('message', (reported: WriterCommand) => {
  answer(reported).then(
    (answered) => process.send?.(answered),
    (error: unknown) => {
      if (!(error instanceof StorageError)) throw error
      const { code, ambiguous, message } = error
      process.send?.({ code, ambiguous, message })
    },
  )
})
process.send?.({ done: true, file: join(folder, 'keelson.sqlite') })
