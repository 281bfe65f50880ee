/**
 * Reports the state of the server to systemd, for units with `Type=notify` (sd_notify(3)). Node has
 * no Unix datagram sockets, so the program systemd-notify sends the messages. The unit needs
 * `NotifyAccess=all`, because systemd-notify is a child process.
 */
import { messageOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/telemetry/log.ts'
import { runProgram } from '../../lib/process/run-program.ts'

/** systemd-notify waits up to 5 s until systemd has processed the message. */
const NOTIFY_MS_MAX = 10_000

export class ServiceManager {
  readonly #env: NodeJS.ProcessEnv
  readonly #log: Log
  #sending: Promise<void> = Promise.resolve()
  #state: 'starting' | 'ready' | 'stopping' = 'starting'

  constructor(env: NodeJS.ProcessEnv, log: Log) {
    this.#env = env
    this.#log = log
  }

  /** Reports that the start is complete. Has no effect if the server is already stopping. */
  ready(): void {
    if (this.#state === 'stopping') return
    this.#state = 'ready'
    this.#send('READY=1')
  }

  stopping(): void {
    this.#state = 'stopping'
    this.#send('STOPPING=1')
  }

  /**
   * Runs `reload`, which reads the files of the server again. If the server is ready, also reports
   * when the reload begins and ends.
   */
  async reloading(reload: () => Promise<void>): Promise<void> {
    if (this.#state !== 'ready') return reload()
    this.#send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
    await reload()
    this.ready()
  }

  /**
   * Sends a message when all earlier messages have been sent. Does nothing unless systemd has
   * started the process.
   */
  #send(...assignments: readonly string[]): void {
    if (this.#env['NOTIFY_SOCKET'] === undefined) return
    this.#sending = this.#sending.then(async () => {
      try {
        await runProgram('systemd-notify', assignments, { env: this.#env, timeout: NOTIFY_MS_MAX })
      } catch (error) {
        this.#log('warn', 'systemd cannot be notified; is systemd-notify on the PATH?', {
          state: assignments.join(' '),
          error: messageOf(error),
        })
      }
    })
  }
}
