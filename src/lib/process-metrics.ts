/** The usual metrics of a process, under the names that all exporters use. Read when they are scraped. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Clock } from './clock.ts'
import type { Metrics } from './metrics.ts'

export function addProcessMetrics(metrics: Metrics, clock: Clock): void {
  const startSeconds = (clock.wallMs() - process.uptime() * 1000) / 1000
  const gauge = (name: string, help: string) => metrics.gauge({ name, help })
  const cpu = metrics.counter({ name: 'process_cpu_seconds_total', help: 'Time that the process has computed.' })
  const resident = gauge('process_resident_memory_bytes', 'Memory that the process holds.')
  const virtual = gauge('process_virtual_memory_bytes', 'Address space that the process holds.')
  const start = gauge('process_start_time_seconds', 'When the process started, in seconds since 1970.')
  const open = gauge('process_open_fds', 'Files and sockets that are open.')
  const max = gauge('process_max_fds', 'How many there may be.')
  const heap = gauge('nodejs_heap_used_bytes', 'Memory that objects of the program take.')
  const external = gauge('nodejs_external_memory_bytes', 'Memory outside of the heap: buffers.')
  metrics.onPrint(() => {
    const { user, system } = process.cpuUsage()
    cpu.with().value = (user + system) / 1e6
    const memory = process.memoryUsage()
    resident.with().value = memory.rss
    heap.with().value = memory.heapUsed
    external.with().value = memory.external
    start.with().value = startSeconds
    if (process.platform !== 'linux') return
    virtual.with().value = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * 1024
    open.with().value = readdirSync('/proc/self/fd').length
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    max.with().value = Number(limit ?? 0)
  })
}
