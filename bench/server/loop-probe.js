/**
 * Records when the main thread of a measured server blocked its event loop. The probe is imported
 * with NODE_OPTIONS=--import=… and writes its records to LOOP_PROBE_FILE when the server ends. The
 * probe counts CPU time of the thread, so that other load on the machine does not affect it. This
 * file is JavaScript, because Node's type stripping takes 38 MiB of memory.
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
