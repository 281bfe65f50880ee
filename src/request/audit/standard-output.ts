/**
 * Writes the audit log to standard output, for `--audit-log-path=-`. Does not use `process.stdout`,
 * whose buffer has no limit. Instead, it waits while a pipe is full.
 */
import { write } from 'node:fs'
import { promisify } from 'node:util'
import { sleep, systemTimers } from '../../lib/time/timers.ts'
import type { Lines } from './log-sink.ts'

const STANDARD_OUTPUT = 1
/** Delay before the next attempt to write to a full pipe. */
const FULL_MS = 20

const writeAsync = promisify(write)

export const standardOutput: Lines = {
  append: writeAll,
  appendLong: async (pieces) => {
    for (const piece of pieces) await writeAll(piece)
  },
  close: () => Promise.resolve(),
}

async function writeAll(bytes: Buffer): Promise<void> {
  // Read `process.stdout`, because Node makes a pipe non-blocking when this property is first read.
  // Otherwise, a full pipe would block a thread and prevent the process from exiting.
  void process.stdout
  for (let written = 0; written < bytes.length; ) {
    try {
      written += (await writeAsync(STANDARD_OUTPUT, bytes, written)).bytesWritten
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      await sleep(systemTimers, FULL_MS)
    }
  }
}
