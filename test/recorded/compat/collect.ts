/** Collects the events of a watch in the background, until enough have arrived. */
import type { IncomingHttpHeaders } from 'node:http'
import { type Client, type HttpRequest, parseJson } from './client.ts'
import type { Json } from './json.ts'

export class CollectedWatch {
  readonly events: Json[] = []
  status = 0
  headers: IncomingHttpHeaders | undefined
  /** Whether the server has closed the watch, or the watch could not be started. */
  ended = false
  /** Resolves when the response headers have arrived, or when the request has failed. */
  readonly started: Promise<void>
  #destroy: (() => void) | undefined

  constructor(client: Client, request: HttpRequest) {
    this.started = this.#start(client, request)
  }

  stop(): void {
    this.#destroy?.()
  }

  async #start(client: Client, asked: HttpRequest): Promise<void> {
    try {
      const { response, request } = await client.open(asked)
      this.#destroy = () => request.destroy()
      this.status = response.statusCode ?? 0
      this.headers = response.headers
      response.setEncoding('utf8')
      let rest = ''
      response.on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) this.#take(line)
      })
      response.on('end', () => {
        this.#take(rest)
        this.ended = true
      })
      response.on('error', () => {
        this.ended = true
      })
    } catch {
      // Treat a watch that could not be started like a watch that has ended. Its status remains 0.
      this.ended = true
    }
  }

  #take(line: string): void {
    if (line.trim() !== '') this.events.push(parseJson(line))
  }
}
