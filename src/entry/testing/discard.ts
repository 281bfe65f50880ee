import type { ApiResponse } from '../../api/request.ts'

/** Releases the resources of a response that is not sent to a client. */
export function discard(response: ApiResponse): void {
  response.place?.leave()
  if ('frames' in response) response.frames.close()
}
