/** Yields the chunks of a response body over HTTP/1.1 as they arrive. */
import type { IncomingMessage } from 'node:http'

export async function* messageChunks(message: IncomingMessage): AsyncGenerator<readonly Buffer[]> {
  for await (const chunk of message) if (Buffer.isBuffer(chunk)) yield [chunk]
}
