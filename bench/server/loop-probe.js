/**
 * Imported into a server that is measured (NODE_OPTIONS=--import=…): notes when its main thread kept the event loop for long, in CPU time of that thread, so that a machine which does other things, too,
 * makes it no longer. JavaScript, since what strips types takes 38 MiB of memory. LOOP_PROBE_FILE names the file that has the notes when the server has ended.
 */
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 1
const NOTED_MS_MIN = 5

const file = process.env.LOOP_PROBE_FILE
if (isMainThread && file !== undefined) {
  const notes = []
  let before = process.threadCpuUsage()
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    const ms = (user + system) / 1000
    if (ms >= NOTED_MS_MIN) notes.push({ atMs: Date.now(), ms })
  }, TICK_MS).unref()
  process.on('exit', () => writeFileSync(file, JSON.stringify(notes)))
}
